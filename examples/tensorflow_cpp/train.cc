// A line fitted with ClientSession: variables, gradients and a training loop.
#include <cstdio>
#include <vector>

#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/framework/gradients.h"
#include "tensorflow/cc/ops/standard_ops.h"
#include "tensorflow/core/framework/tensor.h"

using namespace tensorflow;       // NOLINT
using namespace tensorflow::ops;  // NOLINT

int main() {
  Scope scope = Scope::NewRootScope();
  auto x = Placeholder(scope, DT_FLOAT), y = Placeholder(scope, DT_FLOAT);
  auto w = Variable(scope.WithOpName("w"), {1, 1}, DT_FLOAT), b = Variable(scope.WithOpName("b"), {1}, DT_FLOAT);
  auto init_w = Assign(scope, w, {{0.f}}), init_b = Assign(scope, b, Input::Initializer(0.f, {1}));

  auto predicted = BiasAdd(scope, MatMul(scope, x, w), b);
  auto loss = Mean(scope, Square(scope, Subtract(scope, predicted, y)), {0, 1}, Mean::KeepDims(false));
  std::vector<Output> gradients;
  TF_CHECK_OK(AddSymbolicGradients(scope, {loss}, {w, b}, &gradients));
  auto rate = Const(scope, 0.1f);
  auto step_w = ApplyGradientDescent(scope, w, rate, gradients[0]), step_b = ApplyGradientDescent(scope, b, rate, gradients[1]);

  ClientSession session(scope);
  TF_CHECK_OK(session.Run({init_w, init_b}, nullptr));
  Input::Initializer xs({{-1.f}, {0.f}, {1.f}, {2.f}}), ys({{-1.f}, {1.f}, {3.f}, {5.f}});
  for (int step = 0; step <= 100; ++step) {
    std::vector<Tensor> out;
    TF_CHECK_OK(session.Run({{x, xs}, {y, ys}}, {loss, w, b}, {step_w.operation, step_b.operation}, &out));
    if (step % 25 == 0) std::printf("step %d loss %.4f\n", step, out[0].scalar<float>()());
  }
  std::vector<Tensor> out;
  TF_CHECK_OK(session.Run({w, b}, &out));
  std::printf("y = %.2f x + %.2f\n", out[0].matrix<float>()(0, 0), out[1].vec<float>()(0));
}

// One training step by hand, eagerly: an MLP 784-128-10 with a batch of 32, gradients from a tape, plain gradient descent.
// tape_step.py runs it beside TensorFlow, which does the same.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "weft/weft.h"

namespace wf = weft;
using wf::Tensor;

namespace {

Tensor filled(std::vector<int64_t> shape, float scale, uint32_t seed) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = (float(seed >> 8) / float(1 << 24) - 0.5f) * scale;
  }
  return Tensor::of<float>(std::move(shape), std::span<const float>(v));
}

// The middle of several rounds, in microseconds for one call.
template <class F>
double measure(F f) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 20; ++i) f();
  std::vector<double> rounds;
  for (int r = 0; r < 9; ++r) {
    const auto start = Clock::now();
    for (int i = 0; i < 50; ++i) f();
    rounds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 50);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t scale = argc > 1 ? std::atoi(argv[1]) : 1;  // divides the sizes: what is left is the cost of the tape
  const int64_t in = 784 / scale, hidden = 128 / scale;
  wf::Variable w1(filled({in, hidden}, 0.1f, 1)), b1(wf::zeros({hidden})), w2(filled({hidden, 10}, 0.1f, 2)), b2(wf::zeros({10}));
  const Tensor x = filled({32, in}, 1.f, 3);
  std::vector<int32_t> labels(32);
  for (int i = 0; i < 32; ++i) labels[size_t(i)] = i % 10;
  const Tensor y = Tensor::of<int32_t>({32}, std::span<const int32_t>(labels));
  const Tensor rate(0.01f);
  const std::vector<wf::Variable> variables{w1, b1, w2, b2};
  auto loss_of = [&] {
    Tensor h = wf::relu(wf::matmul(x, w1) + b1);
    Tensor logits = wf::matmul(h, w2) + b2;
    auto xent = wf::Call("SparseSoftmaxCrossEntropyWithLogits").in(logits).in(y).run();
    return wf::reduce_mean(xent[0]);
  };
  auto step = [&] {
    wf::GradientTape tape;
    Tensor loss = loss_of();
    auto grads = tape.gradient(loss, variables);
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign_sub(rate * grads[i].dense());
    return loss;
  };
  auto traced = wf::function(step);
  const Tensor one(1.f);
  auto call_1 = wf::function([](const Tensor& a) { return a + a; });
  std::printf("forward %.1f\n", measure(loss_of));
  std::printf("tape_step %.1f\n", measure(step));
  std::printf("function_step %.1f\n", measure(traced));
  std::printf("call_1 %.3f\n", measure([&] { return call_1(one); }));
  std::printf("loss %.6f\n", step().item<float>());
}

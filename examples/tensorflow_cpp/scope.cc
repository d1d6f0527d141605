// A graph built with Scope: names, scopes, devices, shapes, and derivatives of a polynomial and of a matrix product.
#include <iostream>
#include <vector>

#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/framework/gradients.h"
#include "tensorflow/cc/ops/array_ops.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/math_ops.h"
#include "tensorflow/core/framework/tensor.h"

using namespace tensorflow;       // NOLINT
using namespace tensorflow::ops;  // NOLINT

int main() {
  Scope root = Scope::NewRootScope();
  auto x = Placeholder(root.WithOpName("x"), DT_FLOAT, Placeholder::Shape({2, 2}));
  Scope inner = root.NewSubScope("model").WithDevice("/cpu:0");
  auto a = Const(inner, {{3.f, 2.f}, {-1.f, 0.f}});
  auto product = MatMul(inner, x, a, MatMul::TransposeB(true));
  auto cube = Multiply(inner.WithOpName("cube"), Square(inner, product), product);
  auto sum = Sum(inner, cube, {0, 1});
  std::vector<Output> gradients;
  TF_CHECK_OK(AddSymbolicGradients(root, {sum}, {x, a}, &gradients));
  for (const Output& o : {Output(x), Output(a), Output(product), Output(cube), Output(sum)})
    std::cout << o.name() << " " << o.node()->type_string() << " " << DataTypeString(o.type()) << "\n";

  ClientSession session(root);
  std::vector<Tensor> values;
  TF_CHECK_OK(session.Run({{x, {{1.f, 2.f}, {3.f, 4.f}}}}, {product, sum, gradients[0], gradients[1]}, &values));
  for (const Tensor& v : values) std::cout << v.DebugString(4) << "\n";

  // A product that cannot be: the scope keeps the first error.
  MatMul(root, a, Const(root, {{1.f, 2.f, 3.f}}));
  std::cout << (root.ok() ? "no error" : "error") << " " << error::Code_Name(static_cast<error::Code>(root.status().code())) << "\n";
}

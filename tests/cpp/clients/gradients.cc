// Gradients of a program's ops in graphs: REGISTER_GRADIENT_OP adds nodes by a scope, REGISTER_NO_GRADIENT_OP says that nothing flows back.
// Prints what it prints with TensorFlow.
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tensorflow/cc/framework/grad_op_registry.h"
#include "tensorflow/cc/framework/gradients.h"
#include "tensorflow/cc/ops/array_ops.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/math_ops.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/public/session.h"

using namespace tensorflow;       // NOLINT
using namespace tensorflow::ops;  // NOLINT

// sum = a * factor + b, product = a * b
REGISTER_OP("SumAndProduct")
    .Input("a: float")
    .Input("b: float")
    .Output("sum: float")
    .Output("product: float")
    .Attr("factor: float = 1.0")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return absl::OkStatus();
    });
REGISTER_OP("RoundedDown").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("Wrong").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("WithoutGradient").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);

class SumAndProductOp : public OpKernel {
 public:
  explicit SumAndProductOp(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("factor", &factor_)); }
  void Compute(OpKernelContext* c) override {
    Tensor *sum = nullptr, *product = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &sum));
    OP_REQUIRES_OK(c, c->allocate_output(1, c->input(0).shape(), &product));
    const auto a = c->input(0).flat<float>(), b = c->input(1).flat<float>();
    for (int64_t i = 0; i < a.size(); ++i) {
      sum->flat<float>()(i) = a(i) * factor_ + b(i);
      product->flat<float>()(i) = a(i) * b(i);
    }
  }

 private:
  float factor_;
};
REGISTER_KERNEL_BUILDER(Name("SumAndProduct").Device(DEVICE_CPU), SumAndProductOp);

class Identity1Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, c->input(0)); }
};
REGISTER_KERNEL_BUILDER(Name("RoundedDown").Device(DEVICE_CPU), Identity1Op);
REGISTER_KERNEL_BUILDER(Name("Wrong").Device(DEVICE_CPU), Identity1Op);

absl::Status SumAndProductGrad(const Scope& scope, const Operation& op, const std::vector<Output>& grad_inputs, std::vector<Output>* grad_outputs) {
  float factor = 0;
  TF_RETURN_IF_ERROR(GetNodeAttr(op.node()->def(), "factor", &factor));
  std::vector<Output> da, db;
  if (grad_inputs[0].node()) {
    da.push_back(Multiply(scope.WithOpName("of_sum"), grad_inputs[0], factor));
    db.push_back(Identity(scope, grad_inputs[0]));
  }
  if (grad_inputs[1].node()) {
    da.push_back(Multiply(scope, grad_inputs[1], op.input(1)));
    db.push_back(Multiply(scope, grad_inputs[1], op.input(0)));
  }
  grad_outputs->push_back(da.size() == 1 ? da[0] : AddN(scope, da));
  grad_outputs->push_back(db.size() == 1 ? db[0] : AddN(scope, db));
  return scope.status();
}
REGISTER_GRADIENT_OP("SumAndProduct", SumAndProductGrad);
REGISTER_NO_GRADIENT_OP("RoundedDown");

// Where another thread adds a node while the gradient is made.
const Scope* elsewhere = nullptr;

absl::Status WrongGrad(const Scope& scope, const Operation& op, const std::vector<Output>& grad_inputs, std::vector<Output>*) {
  Multiply(scope, grad_inputs[0], op.input(0));
  if (elsewhere) std::thread([] { Const(elsewhere->WithOpName("kept"), 7.f); }).join();
  return errors::InvalidArgument("this gradient is not to be had");
}
REGISTER_GRADIENT_OP("Wrong", WrongGrad);

std::vector<Output> Apply(const Scope& scope, const std::string& op, const std::vector<Output>& inputs, float factor = 0) {
  Node* node = nullptr;
  NodeBuilder builder(scope.GetUniqueNameForOp(op), op);
  for (const Output& in : inputs) builder.Input(in.node(), in.index());
  if (factor != 0) builder.Attr("factor", factor);
  scope.UpdateStatus(builder.Finalize(scope.graph(), &node));
  TF_CHECK_OK(scope.status());
  TF_CHECK_OK(scope.DoShapeInference(node));
  std::vector<Output> out;
  for (int i = 0; i < node->num_outputs(); ++i) out.emplace_back(node, i);
  return out;
}

void Show(const Scope& scope, const std::vector<Output>& y, const std::vector<Output>& x) {
  std::vector<Output> dx;
  const auto s = AddSymbolicGradients(scope, y, x, &dx);
  if (!s.ok()) {
    const std::string text(s.message());
    std::printf("%d %s\n", static_cast<int>(s.code()), text.substr(0, text.find('\n')).c_str());
    return;
  }
  GraphDef def;
  TF_CHECK_OK(scope.ToGraphDef(&def));
  const std::unique_ptr<Session> session(NewSession(SessionOptions()));
  TF_CHECK_OK(session->Create(def));
  for (const Output& o : dx) {
    if (o == NoGradient()) {
      std::printf(" nothing\n");
      continue;
    }
    std::vector<Tensor> values;
    TF_CHECK_OK(session->Run({}, {o.name()}, {}, &values));
    for (int64_t i = 0; i < values[0].NumElements(); ++i) std::printf(" %g", values[0].flat<float>()(i));
    std::printf("\n");
  }
}

int main() {
  {
    Scope scope = Scope::NewRootScope();
    Output a = Const(scope, {1.f, 2.f}), b = Const(scope, {3.f, 5.f});
    const auto both = Apply(scope, "SumAndProduct", {a, b}, 4);
    Show(scope, {both[0]}, {a, b});
    Show(scope, {both[1]}, {a, b});
    Show(scope, {both[0], both[1]}, {a, b});
    const auto again = Apply(scope, "SumAndProduct", {Square(scope, both[1]), b}, 0.5f);
    Show(scope, {again[0]}, {a, b});
    Show(scope, {again[1]}, {both[1]});
  }
  {
    Scope scope = Scope::NewRootScope();
    Output x = Const(scope, {1.f, 2.f});
    const auto down = Apply(scope, "RoundedDown", {x});
    Show(scope, {Square(scope, down[0])}, {x});
    Show(scope, {Add(scope, Square(scope, x), down[0])}, {x});
  }
  for (const char* op : {"Wrong", "WithoutGradient"}) {
    Scope scope = Scope::NewRootScope();
    Output x = Const(scope, {1.f, 2.f});
    elsewhere = &scope;
    Show(scope, {Apply(scope, op, {x})[0]}, {x});
    elsewhere = nullptr;
    GraphDef def;
    TF_CHECK_OK(scope.ToGraphDef(&def));
    for (const NodeDef& node : def.node()) {
      if (node.name() == "kept") std::printf("a node of another thread is kept\n");
    }
  }
  GradFunc f = nullptr;
  std::printf("%d", static_cast<int>(GradOpRegistry::Global()->Lookup("SumAndProduct", &f).code()));
  std::printf(" %d", f == SumAndProductGrad);
  std::printf(" %d", static_cast<int>(GradOpRegistry::Global()->Lookup("RoundedDown", &f).code()));
  std::printf(" %d", f == nullptr);
  std::printf(" %d\n", static_cast<int>(GradOpRegistry::Global()->Lookup("WithoutGradient", &f).code()));
}

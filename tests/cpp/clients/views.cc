// Views of tensors in Eigen's form where the engine has rows of another tensor: results of a session, elements of queues, inputs and variables of kernels,
// which several threads see at once. Prints what it prints with TensorFlow.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/cc/framework/scope.h"
#include "tensorflow/cc/ops/array_ops.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/data_flow_ops.h"
#include "tensorflow/cc/ops/state_ops.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/public/session.h"
#include "tensorflow/core/util/work_sharder.h"

using namespace tensorflow;  // NOLINT
using namespace tensorflow::ops;  // NOLINT

// The sum of all inputs, of which many threads see each.
REGISTER_OP("SumSharded").Input("x: N * float").Output("y: float").Attr("N: int").SetShapeFn([](shape_inference::InferenceContext* c) {
  c->set_output(0, c->input(0));
  return absl::OkStatus();
});
class SumShardedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    constexpr int64_t kTimes = 64;
    Tensor sums(DT_FLOAT, TensorShape({kTimes}));
    auto all = sums.flat<float>();
    auto* workers = c->device()->tensorflow_cpu_worker_threads();
    Shard(workers->num_threads, workers->workers, kTimes, 1000000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float sum = 0;
        for (int k = 0; k < c->num_inputs(); ++k) {
          const Eigen::Tensor<float, 0, Eigen::RowMajor> part = c->input(k).flat<float>().sum();
          sum += part();
        }
        all(i) = sum;
      }
    });
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    for (int64_t i = 1; i < kTimes; ++i) OP_REQUIRES(c, all(i) == all(0), errors::Internal(all(i), " and ", all(0)));
    y->flat<float>().setConstant(all(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("SumSharded").Device(DEVICE_CPU), SumShardedOp);

// Doubles what a reference points at.
REGISTER_OP("DoubleInPlace").Input("ref: Ref(float)").Output("out: Ref(float)").SetShapeFn(shape_inference::UnchangedShape);
class DoubleInPlaceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    {
      mutex_lock lock(*c->input_ref_mutex(0));
      Tensor value = c->mutable_input(0, true);
      auto flat = value.flat<float>();
      flat = flat + flat;
    }
    c->forward_ref_input_to_ref_output(0, 0);
  }
};
REGISTER_KERNEL_BUILDER(Name("DoubleInPlace").Device(DEVICE_CPU), DoubleInPlaceOp);

void Print(const char* what, const Tensor& t) {
  std::printf("%s %d:", what, t.IsAligned());
  const auto flat = t.flat<float>();
  for (int64_t i = 0; i < flat.size(); ++i) std::printf(" %g", flat(i));
  const Eigen::Tensor<float, 0, Eigen::RowMajor> sum = flat.sum();
  std::printf(" = %g\n", sum());
}

Output Call(const Scope& scope, const char* op, NodeBuilder::NodeOut input) {
  Node* node = nullptr;
  TF_CHECK_OK(NodeBuilder(scope.GetUniqueNameForOp(op), op).Input(input).Finalize(scope.graph(), &node));
  return Output(node, 0);
}

std::vector<Tensor> Run(const Scope& scope, const std::vector<std::string>& fetches, const std::vector<std::string>& first = {}) {
  GraphDef def;
  TF_CHECK_OK(scope.ToGraphDef(&def));
  const std::unique_ptr<Session> session(NewSession(SessionOptions()));
  TF_CHECK_OK(session->Create(def));
  for (const std::string& name : first) TF_CHECK_OK(session->Run({}, {}, {name}, nullptr));
  std::vector<Tensor> out;
  TF_CHECK_OK(session->Run({}, fetches, {}, &out));
  return out;
}

int main() {
  {
    Scope scope = Scope::NewRootScope();
    auto rows = Split(scope.WithOpName("rows"), 0, Const(scope, {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}), 2);
    Slice(scope.WithOpName("slice"), Const(scope, {1.f, 2.f, 3.f, 4.f}), {1}, {2});
    const auto out = Run(scope, {"rows:0", "rows:1", "slice:0"});
    for (const Tensor& t : out) Print("row", t);
    const Tensor two = out[1].Slice(0, 1);
    Print("its own", two);
  }
  {
    Scope scope = Scope::NewRootScope();
    auto queue = FIFOQueue(scope.WithOpName("queue"), {DT_FLOAT}, FIFOQueue::Shapes({TensorShape({3})}));
    QueueEnqueueMany(scope.WithOpName("enqueue"), queue, {Output(Const(scope, {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}))});
    QueueDequeue(scope.WithOpName("first"), queue, {DT_FLOAT});
    for (const Tensor& t : Run(scope, {"first:0"}, {"enqueue", "first"})) Print("dequeued", t);
  }
  {
    Scope scope = Scope::NewRootScope();
    auto rows = Split(scope, 0, Const(scope, {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}, {7.f, 8.f, 9.f}, {1.f, 1.f, 1.f}, {2.f, 2.f, 2.f}}), 5);
    for (int n : {2, 5}) {
      std::vector<NodeBuilder::NodeOut> inputs;
      for (int i = 5 - n; i < 5; ++i) inputs.emplace_back(rows.output[static_cast<size_t>(i)].node(), i);
      Node* node = nullptr;
      TF_CHECK_OK(NodeBuilder(n == 2 ? "two" : "five", "SumSharded").Input(inputs).Finalize(scope.graph(), &node));
    }
    for (int i = 0; i < 20; ++i) {
      const auto out = Run(scope, {"two:0", "five:0"});
      if (i % 10 == 0) Print("two", out[0]), Print("five", out[1]);
    }
  }
  {
    Scope scope = Scope::NewRootScope();
    auto rows = Split(scope, 0, Const(scope, {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}), 2);
    auto variable = Variable(scope, {1, 3}, DT_FLOAT);
    Assign(scope.WithOpName("init"), variable, rows.output[1]);
    const Output twice = Call(scope, "DoubleInPlace", variable.node());
    const auto out = Run(scope, {twice.name()}, {"init"});
    Print("variable", out[0]);
  }
}

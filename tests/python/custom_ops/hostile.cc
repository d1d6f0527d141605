// Ops that do what they must not: throw, leave outputs out, take a tensor for what it is not. Each must be an error of the op.
#include <stdexcept>
#include <thread>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace tensorflow {
namespace {

// Four bytes.
class Memory : public TensorBuffer {
 public:
  Memory() : TensorBuffer(&number_) {}
  size_t size() const override { return sizeof number_; }
  TensorBuffer* root_buffer() override { return this; }
  void FillAllocationDescription(AllocationDescription*) const override {}

 private:
  float number_ = 0;
};

class Other : public ResourceBase {
 public:
  std::string DebugString() const override { return "other"; }
};

REGISTER_OP("Hostile").Input("x: float").Output("y: float").Attr("what: string").SetIsStateful().SetShapeFn(shape_inference::UnchangedShape);
class HostileOp : public OpKernel {
 public:
  explicit HostileOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("what", &what_));
    if (what_ == "constructor throws") throw std::runtime_error("from the constructor");
    if (what_ == "no such attribute") {
      int n = 0;
      OP_REQUIRES_OK(c, c->GetAttr("nothing", &n));
    }
    if (what_ == "wrong kind of attribute") {
      int n = 0;
      OP_REQUIRES_OK(c, c->GetAttr("what", &n));
    }
  }
  void Compute(OpKernelContext* c) override {
    if (what_ == "throws") throw std::runtime_error("from Compute");
    if (what_ == "throws a number") throw 5;
    if (what_ == "no output") return;
    if (what_ == "wrong element type") c->input(0).flat<int32>();
    if (what_ == "not a matrix") c->input(0).matrix<float>();
    if (what_ == "no such input") c->input(7);
    if (what_ == "check") CHECK_EQ(c->num_inputs(), 2) << "two are needed";
    if (what_ == "fatal") LOG(FATAL) << "the end";
    if (what_ == "wrong output type") c->set_output(0, Tensor(DT_INT32, TensorShape({2})));
    if (what_ == "empty output") c->set_output(0, Tensor());
    if (what_ == "no such output") c->set_output(3, c->input(0));
    if (what_ == "no such slice") c->set_output(0, c->input(0).Slice(5, 9));
    if (what_ == "negative shape") c->set_output(0, Tensor(DT_FLOAT, TensorShape({-1})));
    if (what_ == "too much memory") {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({int64{1} << 50}), &out));
    }
    if (what_ == "null reference") c->set_output_ref(0, nullptr, nullptr);
    if (what_ == "null output") OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), nullptr));
    if (what_ == "null temporary") OP_REQUIRES_OK(c, c->allocate_temp(DT_FLOAT, c->input(0).shape(), nullptr));
    if (what_ == "null input") OP_REQUIRES_OK(c, c->input("x", nullptr));
    if (what_ == "null forwarded output") OP_REQUIRES_OK(c, c->forward_input_or_allocate_output({0}, 0, c->input(0).shape(), nullptr));
    if (what_ == "null memory") c->set_output(0, Tensor(DT_FLOAT, TensorShape({2}), static_cast<TensorBuffer*>(nullptr)));
    if (what_ == "little memory") {
      core::RefCountPtr<TensorBuffer> memory(new Memory);
      c->set_output(0, Tensor(DT_FLOAT, TensorShape({1 << 20}), memory.get()));
    }
    if (what_ == "null resource") OP_REQUIRES_OK(c, c->resource_manager()->Create<Other>("here", "nothing", nullptr));
    if (what_ == "null counted resource") ResourceHandle::MakeRefCountingHandle<Other>(nullptr, "device");
    if (what_ == "empty handle") {
      Other* other = nullptr;
      OP_REQUIRES_OK(c, LookupResource(c, ResourceHandle(), &other));
    }
    if (what_ == "null place for a resource") {
      const ResourceHandle handle = ResourceHandle::MakeRefCountingHandle(new Other, "device");
      OP_REQUIRES_OK(c, LookupResource(c, handle, static_cast<Other**>(nullptr)));
    }
    if (what_ == "null attribute") {
      std::string* nowhere = nullptr;
      OP_REQUIRES_OK(c, GetNodeAttr(AttrSlice(c->node()), "what", nowhere));
    }
    if (what_ == "too many elements") TensorShape({int64{1} << 40, int64{1} << 40});
    if (what_ == "handle of a float") HandleFromInput(c, 0);
    if (what_ == "no resource") {
      Other* other = nullptr;
      OP_REQUIRES_OK(c, LookupResource(c, MakeResourceHandle<Other>(c, "", "nobody"), &other));
    }
    if (what_ == "thread throws") {
      c->device()->tensorflow_cpu_worker_threads()->workers->ParallelFor(1000, 1000000, [](int64 begin, int64) {
        if (begin >= 0) throw std::runtime_error("from a thread");
      });
    }
    if (what_ == "nothing") c->set_output(0, c->input(0));
    if (what_ == "two errors") {
      c->SetStatus(errors::Aborted("the first"));
      c->SetStatus(errors::NotFound("the second"));
    }
  }

 private:
  std::string what_;
};
REGISTER_KERNEL_BUILDER(Name("Hostile").Device(DEVICE_CPU), HostileOp);

REGISTER_OP("HostileAsync").Input("x: float").Output("y: float").Attr("what: string").SetIsStateful().SetShapeFn(shape_inference::UnchangedShape);
class HostileAsyncOp : public AsyncOpKernel {
 public:
  explicit HostileAsyncOp(OpKernelConstruction* c) : AsyncOpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("what", &what_)); }
  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    if (what_ == "throws") throw std::runtime_error("from ComputeAsync");
    if (what_ == "done and throws") {
      c->set_output(0, c->input(0));
      done();
      throw std::runtime_error("too late");
    }
    if (what_ == "done twice") {
      c->set_output(0, c->input(0));
      done();
      done();
      return;
    }
    if (what_ == "no output") return done();
    if (what_ == "never done") return;
    // Slow: the answer comes from a thread of its own.
    std::thread([c, done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      c->set_output(0, c->input(0));
      done();
    }).detach();
  }

 private:
  std::string what_;
};
REGISTER_KERNEL_BUILDER(Name("HostileAsync").Device(DEVICE_CPU), HostileAsyncOp);

REGISTER_OP("HostileShape").Input("x: float").Output("y: float").Attr("what: string").SetShapeFn([](shape_inference::InferenceContext* c) -> Status {
  std::string what;
  TF_RETURN_IF_ERROR(c->GetAttr("what", &what));
  if (what == "throws") throw std::runtime_error("from the shape function");
  if (what == "no such dimension") c->Dim(c->input(0), 9);
  if (what == "no such output") c->set_output(4, c->input(0));
  return Status::OK();
});
REGISTER_KERNEL_BUILDER(Name("HostileShape").Device(DEVICE_CPU), HostileOp);

}  // namespace
}  // namespace tensorflow

// Ops with a resource: a counter of a class of this file that lives across calls. As a library it is two functions in Python, counter() and count_up().
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_op_kernel.h"
#include "tensorflow/core/platform/mutex.h"

using namespace tensorflow;  // NOLINT

REGISTER_OP("Counter")
    .Output("counter: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);
REGISTER_OP("CountUp").Input("counter: resource").Input("by: int64").Output("count: int64").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);

class Count : public ResourceBase {
 public:
  int64_t Up(int64_t by) {
    mutex_lock lock(mu_);
    return count_ += by;
  }
  std::string DebugString() const override { return "a counter"; }

 private:
  mutex mu_;
  int64_t count_ = 0;
};

class CounterOp : public ResourceOpKernel<Count> {
 public:
  explicit CounterOp(OpKernelConstruction* context) : ResourceOpKernel(context) {}

 private:
  Status CreateResource(Count** count) override {
    *count = new Count;
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("Counter").Device(DEVICE_CPU), CounterOp);

class CountUpOp : public OpKernel {
 public:
  explicit CountUpOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    core::RefCountPtr<Count> count;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &count));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &output));
    output->scalar<int64_t>()() = count->Up(context->input(1).scalar<int64_t>()());
  }
};
REGISTER_KERNEL_BUILDER(Name("CountUp").Device(DEVICE_CPU), CountUpOp);

// Ops with a resource: a counter that lives across calls. As a library it is two functions in Python, counter() and count_up().
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_op_kernel.h"

using namespace tensorflow;  // NOLINT
using shape_inference::ScalarShape;

REGISTER_OP("Counter").Output("c: resource").Attr("container: string = ''").Attr("shared_name: string = ''").SetIsStateful().SetShapeFn(ScalarShape);
REGISTER_OP("CountUp").Input("c: resource").Input("by: int64").Output("count: int64").SetIsStateful().SetShapeFn(ScalarShape);

struct Count : ResourceBase {
  std::string DebugString() const override { return "a counter"; }
  mutex mu;
  int64_t count = 0;
};

class CounterOp : public ResourceOpKernel<Count> {
 public:
  using ResourceOpKernel::ResourceOpKernel;

 private:
  Status CreateResource(Count** count) override { return *count = new Count, OkStatus(); }
};
REGISTER_KERNEL_BUILDER(Name("Counter").Device(DEVICE_CPU), CounterOp);

class CountUpOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    core::RefCountPtr<Count> counter;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &counter));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &output));
    mutex_lock lock(counter->mu);
    output->scalar<int64_t>()() = counter->count += context->input(1).scalar<int64_t>()();
  }
};
REGISTER_KERNEL_BUILDER(Name("CountUp").Device(DEVICE_CPU), CountUpOp);

// Ops in the forms of TensorFlow 2's first versions, which TensorFlow itself no longer compiles: Status::OK(), tensorflow::string and int64, StringPiece,
// gtl::, error_message().
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/lib/gtl/array_slice.h"
#include "tensorflow/core/lib/gtl/inlined_vector.h"
#include "tensorflow/core/lib/strings/strcat.h"

using namespace tensorflow;  // NOLINT: as such sources begin

REGISTER_OP("OldZeroOut")
    .Attr("preserve_index: int = 0")
    .Attr("T: {float, int32, int64}")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .Doc(R"doc(
Sets all elements but one to zero.

to_zero: a tensor.
zeroed: with one element left.
)doc")
    .SetShapeFn([](::tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return Status::OK();
    });

namespace {

Status CheckIndex(int64 index, StringPiece what) {
  if (index < 0) return errors::InvalidArgument("Need ", what, " >= 0, got ", index);
  return Status::OK();
}

template <typename T>
class OldZeroOutOp : public OpKernel {
 public:
  explicit OldZeroOutOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("preserve_index", &preserve_index_));
    OP_REQUIRES_OK(context, CheckIndex(preserve_index_, "preserve_index"));
  }
  void Compute(OpKernelContext* context) override {
    const Tensor& input_tensor = context->input(0);
    OP_REQUIRES(context, TensorShapeUtils::IsVector(input_tensor.shape()), errors::InvalidArgument("ZeroOut expects a 1-D vector."));
    auto input = input_tensor.flat<T>();
    OP_REQUIRES(context, preserve_index_ < input.dimension(0), errors::InvalidArgument("preserve_index out of range"));
    Tensor* output_tensor = NULL;
    OP_REQUIRES_OK(context, context->allocate_output(0, input_tensor.shape(), &output_tensor));
    auto output = output_tensor->template flat<T>();
    output.setZero();
    output(preserve_index_) = input(preserve_index_);
  }

 private:
  int preserve_index_;
};

}  // namespace

#define REGISTER_KERNEL(type) REGISTER_KERNEL_BUILDER(Name("OldZeroOut").Device(DEVICE_CPU).TypeConstraint<type>("T"), OldZeroOutOp<type>)
REGISTER_KERNEL(float);
REGISTER_KERNEL(int32);
REGISTER_KERNEL(int64);

REGISTER_OP("OldForms").Output("text: string").SetShapeFn([](::tensorflow::shape_inference::InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return Status::OK();
});
class OldFormsOp : public OpKernel {
 public:
  explicit OldFormsOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    const Status s(error::NOT_FOUND, "gone");
    string text = strings::StrCat(s.error_message(), " ", s.code() == error::NOT_FOUND, " ", s.ToString(), " ", Status().ToString());
    gtl::InlinedVector<int64, 4> sizes = {2, 3};
    const gtl::ArraySlice<int64> slice(sizes);
    strings::StrAppend(&text, " ", TensorShape(slice).DebugString(), " ", TensorShape(sizes).num_elements(), " ", kint32max);
    switch (s.code()) {
      case error::NOT_FOUND: strings::StrAppend(&text, " not found"); break;
      default: break;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &out));
    out->scalar<tstring>()() = text;
  }
};
REGISTER_KERNEL_BUILDER(Name("OldForms").Device(DEVICE_CPU), OldFormsOp);

// SPDX-License-Identifier: Apache-2.0
//
// TfOpKernel<Op>: the kernel of an OpKernelShim; REGISTER_TF_OP_SHIM(kernel): its signature.
#ifndef TENSORFLOW_LITE_KERNELS_SHIM_TF_OP_SHIM_H_
#define TENSORFLOW_LITE_KERNELS_SHIM_TF_OP_SHIM_H_

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/lite/kernels/shim/op_kernel.h"

namespace tflite {
namespace shim {

namespace internal {
inline absl::StatusOr<AttrValue> AttrOf(const weft_node* node, const std::string& name) {
  const weft_attr* attr = weft_node_attr(node, {name.data(), name.size()});
  if (!attr) return absl::NotFoundError(absl::StrCat("No attr named '", name, "' in NodeDef:"));
  switch (weft_attr_kind(attr)) {
    case WEFT_ATTR_BOOL: return AttrValue(weft_attr_int(attr, 0) != 0);
    case WEFT_ATTR_INT: return AttrValue(static_cast<int64_t>(weft_attr_int(attr, 0)));
    case WEFT_ATTR_FLOAT: return AttrValue(weft_attr_float(attr, 0));
    case WEFT_ATTR_STRING: {
      const weft_text text = weft_attr_text(attr, 0);
      return AttrValue(absl::string_view(text.data, text.size));
    }
    default: return absl::InternalError(absl::StrCat("Unsupported attribute type: ", name));
  }
}
// The name of an op, by a function or, in older sources, by a constant.
template <class Op, class = void>
struct NameOf {
  static const char* Get() { return Op::kOpName; }
};
template <class Op>
struct NameOf<Op, std::void_t<decltype(Op::OpName())>> {
  static const char* Get() { return Op::OpName(); }
};
}  // namespace internal

class TfInitContext : public InitContext<TfInitContext> {
 public:
  explicit TfInitContext(const ::tensorflow::OpKernelConstruction* c) : c_(c) {}
  absl::StatusOr<AttrValue> GetAttr(const std::string& name) const { return internal::AttrOf(c_->node(), name); }

 private:
  const ::tensorflow::OpKernelConstruction* c_;
};

class TfInvokeContext : public InvokeContext<TfInvokeContext> {
 public:
  explicit TfInvokeContext(::tensorflow::OpKernelContext* c) : c_(c) {}
  ConstTensorViewOr GetInput(int i) const {
    if (i < 0 || i >= c_->num_inputs()) return absl::InternalError(absl::StrCat("Expected input ", i, " of ", c_->num_inputs()));
    return ConstTensorViewOr(std::make_unique<TensorView>(c_->input(i)));
  }
  TensorViewOr GetOutput(int i, const Shape& shape) const {
    if (!shape.FullyDefined()) return absl::InvalidArgumentError(absl::StrCat("The shape of output ", i, " is not known: ", shape.ToString()));
    ::tensorflow::TensorShape dims;
    for (const int d : *shape) dims.AddDim(d);
    ::tensorflow::Tensor* tensor = nullptr;
    const ::tensorflow::Status s = c_->allocate_output(i, dims, &tensor);
    if (!s.ok()) return TensorViewOr(static_cast<absl::Status>(s));
    return TensorViewOr(std::make_unique<TensorView>(*tensor));
  }
  int NumInputs() const { return c_->num_inputs(); }
  int NumOutputs() const { return c_->num_outputs(); }

 private:
  ::tensorflow::OpKernelContext* c_;
};

class TfShapeInferenceContext : public ShapeInferenceContext<TfShapeInferenceContext> {
 public:
  explicit TfShapeInferenceContext(::tensorflow::shape_inference::InferenceContext* c) : c_(c) {}
  ShapeOr GetInputShape(int i) const {
    const auto shape = c_->input(i);
    if (!c_->RankKnown(shape)) return Shape();
    Shape out(static_cast<size_t>(c_->Rank(shape)), Shape::kUnknownDim);
    for (int d = 0; d < out.Rank(); ++d) (*out)[static_cast<size_t>(d)] = static_cast<int>(c_->Value(c_->Dim(shape, d)));
    return out;
  }
  absl::Status SetOutputShape(int i, const Shape& shape) {
    std::vector<::tensorflow::shape_inference::DimensionHandle> dims;
    for (const int d : *shape) dims.push_back(c_->MakeDim(d));
    c_->set_output(i, shape.has_value() ? c_->MakeShape(dims) : c_->UnknownShape());
    return absl::OkStatus();
  }
  // The value of an input, if it is known while shapes are inferred.
  ConstTensorViewOr GetInputTensor(int i) const {
    const ::tensorflow::Tensor* tensor = c_->input_tensor(i);
    if (!tensor) return absl::NotFoundError(absl::StrCat("input tensor is not found: ", i));
    return ConstTensorViewOr(std::make_unique<TensorView>(*tensor));
  }
  absl::StatusOr<AttrValue> GetAttr(const std::string& name) const { return internal::AttrOf(c_->node(), name); }
  int NumInputs() const { return c_->num_inputs(); }
  int NumOutputs() const { return c_->num_outputs(); }

 private:
  ::tensorflow::shape_inference::InferenceContext* c_;
};

template <>
struct ContextTypeForRuntime<Runtime::kTf> {
  using Init = TfInitContext;
  using Invoke = TfInvokeContext;
  using ShapeInference = TfShapeInferenceContext;
};

template <template <Runtime, typename...> class Op, class... Ts>
class TfOpKernel : public ::tensorflow::OpKernel {
 public:
  using ImplType = Op<Runtime::kTf, Ts...>;
  explicit TfOpKernel(::tensorflow::OpKernelConstruction* c) : OpKernel(c), impl_(std::make_unique<ImplType>()) {
    TfInitContext context(c);
    OP_REQUIRES_OK(c, impl_->Init(&context));
  }
  void Compute(::tensorflow::OpKernelContext* c) override {
    TfInvokeContext context(c);
    OP_REQUIRES_OK(c, impl_->Invoke(&context));
  }
  static ::tensorflow::Status ShapeInference(::tensorflow::shape_inference::InferenceContext* c) {
    TfShapeInferenceContext context(c);
    return ImplType::ShapeInference(&context);
  }
  static const char* OpName() { return internal::NameOf<ImplType>::Get(); }

 protected:
  std::unique_ptr<OpKernelShim<Op, Runtime::kTf, Ts...>> impl_;
};

template <class Kernel>
::tensorflow::OpDefBuilder CreateOpDefBuilderWrapper() {
  using Op = typename Kernel::ImplType;
  ::tensorflow::OpDefBuilder builder(Kernel::OpName());
  for (const std::string& spec : Op::Inputs()) builder.Input(spec);
  for (const std::string& spec : Op::Outputs()) builder.Output(spec);
  for (const std::string& spec : Op::Attrs()) builder.Attr(spec);
  return builder.SetShapeFn(Kernel::ShapeInference).Doc(Op::kDoc);
}

}  // namespace shim
}  // namespace tflite

#define WEFT_REGISTER_OP_SHIM(counter, ...) WEFT_REGISTER_OP_SHIM_(counter, __VA_ARGS__)
#define WEFT_REGISTER_OP_SHIM_(counter, ...)                                                             \
  static const ::tensorflow::internal::RegisteredOp weft_registered_op_shim_##counter [[maybe_unused]] = \
      ::tflite::shim::CreateOpDefBuilderWrapper<__VA_ARGS__>()
#define REGISTER_TF_OP_SHIM(...) WEFT_REGISTER_OP_SHIM(__COUNTER__, __VA_ARGS__)

#endif  // TENSORFLOW_LITE_KERNELS_SHIM_TF_OP_SHIM_H_

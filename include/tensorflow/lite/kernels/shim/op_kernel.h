// SPDX-License-Identifier: Apache-2.0
//
// OpKernelShim: an op that is written once for TensorFlow and TensorFlow Lite (Runtime::kTf, Runtime::kTfLite). A class derived from it has static OpName,
// Doc, Attrs, Inputs, Outputs and ShapeInference, and Init and Invoke. Weft runs the first kind; tf_op_shim.h registers it.
#ifndef TENSORFLOW_LITE_KERNELS_SHIM_OP_KERNEL_H_
#define TENSORFLOW_LITE_KERNELS_SHIM_OP_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow/lite/kernels/shim/shape.h"
#include "tensorflow/lite/kernels/shim/status_macros.h"
#include "tensorflow/lite/kernels/shim/tensor_view.h"

namespace tflite {
namespace shim {

enum class Runtime { kTf, kTfLite };

using TensorViewOr = absl::StatusOr<std::unique_ptr<TensorView>>;
using ConstTensorViewOr = absl::StatusOr<std::unique_ptr<const TensorView>>;
using AttrValue = std::variant<bool, int64_t, float, absl::string_view>;

namespace internal {
template <class T>
absl::Status ValueOf(const std::string& name, const absl::StatusOr<AttrValue>& attr, T* value) {
  if (!attr.ok()) return attr.status();
  const T* held = std::get_if<T>(&attr.value());
  if (!held) return absl::InternalError(absl::StrCat("The attribute type does not match the provided type: attr_name: ", name));
  *value = *held;
  return absl::OkStatus();
}
}  // namespace internal

// What a runtime derives its contexts from.
template <class Of>
class InitContext {
 public:
  template <class T>
  absl::Status GetAttr(const std::string& name, T* value) const {
    return internal::ValueOf(name, static_cast<const Of&>(*this).GetAttr(name), value);
  }
};
template <class Of>
class InvokeContext {
 public:
  ConstTensorViewOr GetInput(int i) const { return static_cast<const Of&>(*this).GetInput(i); }
  TensorViewOr GetOutput(int i, const Shape& shape) const { return static_cast<const Of&>(*this).GetOutput(i, shape); }
  int NumInputs() const { return static_cast<const Of&>(*this).NumInputs(); }
  int NumOutputs() const { return static_cast<const Of&>(*this).NumOutputs(); }
};
template <class Of>
class ShapeInferenceContext {
 public:
  ShapeOr GetInputShape(int i) const { return static_cast<const Of&>(*this).GetInputShape(i); }
  absl::Status SetOutputShape(int i, const Shape& shape) { return static_cast<Of&>(*this).SetOutputShape(i, shape); }
  ConstTensorViewOr GetInputTensor(int i) const { return static_cast<const Of&>(*this).GetInputTensor(i); }
  int NumInputs() const { return static_cast<const Of&>(*this).NumInputs(); }
  int NumOutputs() const { return static_cast<const Of&>(*this).NumOutputs(); }
  template <class T>
  absl::Status GetAttr(const std::string& name, T* value) const {
    return internal::ValueOf(name, static_cast<const Of&>(*this).GetAttr(name), value);
  }
};

template <Runtime Rt>
struct ContextTypeForRuntime {};

template <template <Runtime, typename...> class Op, Runtime Rt, class... Ts>
class OpKernelShim {
 public:
  using Shape = ::tflite::shim::Shape;
  using InitContext = ::tflite::shim::InitContext<typename ContextTypeForRuntime<Rt>::Init>;
  using InvokeContext = ::tflite::shim::InvokeContext<typename ContextTypeForRuntime<Rt>::Invoke>;
  using ShapeInferenceContext = ::tflite::shim::ShapeInferenceContext<typename ContextTypeForRuntime<Rt>::ShapeInference>;

  virtual ~OpKernelShim() = default;
  absl::Status Init(InitContext* c) { return static_cast<Op<Rt, Ts...>&>(*this).Init(c); }
  absl::Status Invoke(InvokeContext* c) { return static_cast<Op<Rt, Ts...>&>(*this).Invoke(c); }
  static absl::Status ShapeInference(ShapeInferenceContext* c) { return Op<Rt, Ts...>::ShapeInference(c); }

 protected:
  OpKernelShim() = default;
  // Output i, a vector of the buffer's elements.
  template <class From, class T>
  absl::Status FillOutputTensor(const std::vector<From>& buffer, int i, InvokeContext* c) const {
    auto output = c->GetOutput(i, Shape({static_cast<int>(buffer.size())}));
    if (!output.ok()) return output.status();
    T* to = (*output)->template As<T, 1>().Ptr();
    for (const From& value : buffer) *to++ = value;
    return absl::OkStatus();
  }
};

}  // namespace shim
}  // namespace tflite

#endif  // TENSORFLOW_LITE_KERNELS_SHIM_OP_KERNEL_H_

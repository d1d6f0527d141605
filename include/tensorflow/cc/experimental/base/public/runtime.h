// SPDX-License-Identifier: Apache-2.0
//
// Status, RuntimeBuilder, Runtime, Tensor, TensorHandle: the eager context of the C API as C++ objects that own what they hold.
#ifndef TENSORFLOW_CC_EXPERIMENTAL_BASE_PUBLIC_RUNTIME_H_
#define TENSORFLOW_CC_EXPERIMENTAL_BASE_PUBLIC_RUNTIME_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace tensorflow {
namespace experimental {
namespace cc {

namespace internal {
// A handle of the C API and the function that frees it.
template <class T, void (*Delete)(T*)>
struct Deleter {
  void operator()(T* p) const { Delete(p); }
};
template <class T, void (*Delete)(T*)>
using Owned = std::unique_ptr<T, Deleter<T, Delete>>;
}  // namespace internal

class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  Status(Status&&) = default;
  Status& operator=(Status&&) = default;
  TF_Code code() const { return TF_GetCode(status_.get()); }
  std::string message() const { return TF_Message(status_.get()); }
  bool ok() const { return code() == TF_OK; }
  void SetStatus(TF_Code code, const std::string& message) { TF_SetStatus(status_.get(), code, message.c_str()); }

 private:
  friend class RuntimeBuilder;
  friend class SavedModelAPI;
  friend class ConcreteFunction;
  friend class SignatureDefFunction;
  friend class TensorHandle;
  internal::Owned<TF_Status, TF_DeleteStatus> status_;
};

class Runtime {
 public:
  Runtime(Runtime&&) = default;
  Runtime& operator=(Runtime&&) = default;

 private:
  friend class RuntimeBuilder;
  friend class SavedModelAPI;
  friend class TensorHandle;
  explicit Runtime(TFE_Context* context) : context_(context) {}
  internal::Owned<TFE_Context, TFE_DeleteContext> context_;
};

class RuntimeBuilder {
 public:
  RuntimeBuilder() : options_(TFE_NewContextOptions()) {}
  RuntimeBuilder& SetUseTFRT(bool use) {
    TFE_ContextOptionsSetTfrt(options_.get(), use);
    return *this;
  }
  // Null where the status is not OK.
  std::unique_ptr<Runtime> Build(Status* status) {
    TFE_Context* context = TFE_NewContext(options_.get(), status->status_.get());
    return status->ok() ? std::unique_ptr<Runtime>(new Runtime(context)) : nullptr;
  }

 private:
  internal::Owned<TFE_ContextOptions, TFE_DeleteContextOptions> options_;
};

class Tensor {
 public:
  using DeleterCallback = std::function<void(void*, size_t)>;

  // Memory of the caller's, which the deleter gets when nobody needs it any more.
  static Tensor FromBuffer(TF_DataType dtype, const std::vector<int64_t>& shape, void* data, size_t len, DeleterCallback deleter, Status* status) {
    auto* keep = new DeleterCallback(std::move(deleter));
    TF_Tensor* t = TF_NewTensor(dtype, shape.data(), static_cast<int>(shape.size()), data, len, &Tensor::Free, keep);
    if (!t) status->SetStatus(TF_INVALID_ARGUMENT, "Failed to create tensor for input buffer");
    return Tensor(t);
  }
  Tensor(Tensor&&) = default;
  Tensor& operator=(Tensor&&) = default;
  int dims() const { return TF_NumDims(tensor_.get()); }
  int64_t dim_size(int d) const { return TF_Dim(tensor_.get(), d); }
  void* data() const { return TF_TensorData(tensor_.get()); }
  TF_DataType dtype() const { return TF_TensorType(tensor_.get()); }
  int64_t num_elements() const { return TF_TensorElementCount(tensor_.get()); }
  size_t num_bytes() const { return TF_TensorByteSize(tensor_.get()); }

 private:
  friend class TensorHandle;
  explicit Tensor(TF_Tensor* t) : tensor_(t) {}
  static void Free(void* data, size_t length, void* deleter) {
    const std::unique_ptr<DeleterCallback> call(static_cast<DeleterCallback*>(deleter));
    if (*call) (*call)(data, length);
  }
  internal::Owned<TF_Tensor, TF_DeleteTensor> tensor_;
};

class TensorHandle {
 public:
  static TensorHandle FromTensor(const Tensor& tensor, const Runtime& runtime, Status* status) {
    (void)runtime;
    return TensorHandle(TFE_NewTensorHandle(tensor.tensor_.get(), status->status_.get()));
  }
  TensorHandle(TensorHandle&&) = default;
  TensorHandle& operator=(TensorHandle&&) = default;
  Tensor Resolve(Status* status) { return Tensor(TFE_TensorHandleResolve(handle_.get(), status->status_.get())); }

 private:
  friend class ConcreteFunction;
  friend class SignatureDefFunction;
  explicit TensorHandle(TFE_TensorHandle* handle) : handle_(handle) {}
  internal::Owned<TFE_TensorHandle, TFE_DeleteTensorHandle> handle_;
};

}  // namespace cc
}  // namespace experimental
}  // namespace tensorflow

#endif  // TENSORFLOW_CC_EXPERIMENTAL_BASE_PUBLIC_RUNTIME_H_

// SPDX-License-Identifier: Apache-2.0
//
// Owners of what TensorFlow's C functions give, for these headers.
#ifndef TENSORFLOW_CORE_GRAPH_C_HANDLES_H_
#define TENSORFLOW_CORE_GRAPH_C_HANDLES_H_

#include <string>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/platform/status.h"

namespace tensorflow {
namespace internal {

inline void Delete(TF_Status* s) { TF_DeleteStatus(s); }
inline void Delete(TF_Buffer* b) { TF_DeleteBuffer(b); }
inline void Delete(TF_Graph* g) { TF_DeleteGraph(g); }
inline void Delete(TF_SessionOptions* o) { TF_DeleteSessionOptions(o); }
inline void Delete(TF_ImportGraphDefOptions* o) { TF_DeleteImportGraphDefOptions(o); }
inline void Delete(TF_ImportGraphDefResults* r) { TF_DeleteImportGraphDefResults(r); }
inline void Delete(TF_DeviceList* l) { TF_DeleteDeviceList(l); }

// A unique_ptr with a tenth of its functions, which every program would compile.
template <class T>
class Owned {
 public:
  explicit Owned(T* p = nullptr) : p_(p) {}
  Owned(Owned&& o) noexcept : p_(o.release()) {}
  Owned& operator=(Owned&& o) noexcept {
    reset(o.release());
    return *this;
  }
  ~Owned() { reset(); }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* release() {
    T* p = p_;
    p_ = nullptr;
    return p;
  }
  void reset(T* p = nullptr) {
    T* old = p_;
    p_ = p;
    if (old) Delete(old);
  }

 private:
  T* p_;
};

// The status of one call of the C API.
class CStatus {
 public:
  CStatus() : s_(TF_NewStatus()) {}
  operator TF_Status*() const { return s_.get(); }  // NOLINT
  bool ok() const { return TF_GetCode(s_.get()) == TF_OK; }
  Status status() const { return Status(static_cast<error::Code>(TF_GetCode(s_.get())), TF_Message(s_.get())); }

 private:
  Owned<TF_Status> s_;
};

template <class Message>
Owned<TF_Buffer> Bytes(const Message& m) {
  const std::string bytes = m.SerializeAsString();
  return Owned<TF_Buffer>(TF_NewBufferFromString(bytes.data(), bytes.size()));
}

}  // namespace internal
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_C_HANDLES_H_

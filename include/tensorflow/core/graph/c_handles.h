// SPDX-License-Identifier: Apache-2.0
//
// Owners of what TensorFlow's C functions give, for these headers.
#ifndef TENSORFLOW_CORE_GRAPH_C_HANDLES_H_
#define TENSORFLOW_CORE_GRAPH_C_HANDLES_H_

#include <memory>
#include <string>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/platform/status.h"

namespace tensorflow {
namespace internal {

struct Deleter {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
  void operator()(TF_Buffer* b) const { TF_DeleteBuffer(b); }
  void operator()(TF_Graph* g) const { TF_DeleteGraph(g); }
  void operator()(TF_SessionOptions* o) const { TF_DeleteSessionOptions(o); }
  void operator()(TF_ImportGraphDefOptions* o) const { TF_DeleteImportGraphDefOptions(o); }
  void operator()(TF_DeviceList* l) const { TF_DeleteDeviceList(l); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

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

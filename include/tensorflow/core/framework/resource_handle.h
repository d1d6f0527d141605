// SPDX-License-Identifier: Apache-2.0
//
// ResourceHandle: an element of a DT_RESOURCE tensor, which names an object that lives across calls of ops.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_HANDLE_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_HANDLE_H_

#include <optional>
#include <string>
#include <vector>

#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

struct DtypeAndPartialTensorShape;
struct ManagedStackTrace {};  // where an op was made: not kept
template <class T>
class StatusOr;

class ResourceHandle {
 public:
  ResourceHandle() = default;
  ResourceHandle(const ResourceHandle& o) { weft_handle_copy(words_, o.words_); }
  ResourceHandle& operator=(const ResourceHandle& o) {
    weft_handle_copy(words_, o.words_);
    return *this;
  }
  ~ResourceHandle() { weft_handle_destroy(words_); }

  std::string device() const { return Text(WEFT_HANDLE_DEVICE); }
  std::string container() const { return Text(WEFT_HANDLE_CONTAINER); }
  std::string name() const { return Text(WEFT_HANDLE_NAME); }
  std::string maybe_type_name() const { return Text(WEFT_HANDLE_TYPE); }
  uint64 hash_code() const { return weft_handle_hash(words_); }
  void set_device(const std::string& s) { Set(WEFT_HANDLE_DEVICE, s); }
  void set_container(const std::string& s) { Set(WEFT_HANDLE_CONTAINER, s); }
  void set_name(const std::string& s) { Set(WEFT_HANDLE_NAME, s); }
  void set_maybe_type_name(const std::string& s) { Set(WEFT_HANDLE_TYPE, s); }
  void set_hash_code(uint64 hash) { weft_handle_set_hash(words_, hash); }
  std::string DebugString() const {
    return "device: " + device() + " container: " + container() + " name: " + name() + " hash_code: " + std::to_string(hash_code()) +
           " maybe_type_name " + maybe_type_name();
  }
  // A handle that owns a reference to the object, taken over from the caller: it goes with the last copy. In resource_mgr.h.
  template <class T>
  static ResourceHandle MakeRefCountingHandle(T* resource, const std::string& device_name, const std::vector<DtypeAndPartialTensorShape>& = {},
                                              const std::optional<ManagedStackTrace>& = {});
  template <class T>
  StatusOr<T*> GetResource() const;
  bool IsRefCounting() const { return weft_handle_object(words_, {nullptr, 0}) != nullptr; }

 private:
  std::string Text(int which) const { return std::string(internal::View(weft_handle_text(words_, which))); }
  void Set(int which, const std::string& s) { weft_handle_set_text(words_, which, internal::Text(s)); }
  void* words_[2] = {nullptr, nullptr};
};
static_assert(sizeof(ResourceHandle) == 16, "an element of a resource tensor has 16 bytes");

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_RESOURCE_HANDLE_H_

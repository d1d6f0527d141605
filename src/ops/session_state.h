// SessionState: tensors that a session keeps between runs (GetSessionHandle ...). A session puts one in
// its ResourceManager under kName; where there is none (eager execution) the ops fail.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "core/resource.h"
#include "core/tensor.h"

namespace weft::ops {

class SessionState final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12SessionStateE";
  static constexpr const char* kName = "session_state";
  std::string type_name() const override { return "SessionState"; }

  int64_t new_id() {
    std::lock_guard lock(mutex_);
    return next_id_++;
  }
  void add(const std::string& handle, core::Tensor t) {
    std::lock_guard lock(mutex_);
    tensors_.insert_or_assign(handle, std::move(t));
  }
  core::Result<core::Tensor> get(const std::string& handle) const {
    std::lock_guard lock(mutex_);
    auto it = tensors_.find(handle);
    if (it == tensors_.end()) return missing(handle);
    return it->second;
  }
  core::Status remove(const std::string& handle) {
    std::lock_guard lock(mutex_);
    return tensors_.erase(handle) ? core::Status() : missing(handle);
  }

 private:
  static core::Status missing(const std::string& handle) {
    return core::invalid_argument("The tensor with handle '", handle, "' is not in the session store.");
  }
  mutable std::mutex mutex_;
  int64_t next_id_ = 0;
  std::map<std::string, core::Tensor> tensors_;
};

}  // namespace weft::ops

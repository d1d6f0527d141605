// SessionState: tensors that a session keeps between runs (GetSessionHandle ...). A session puts one in its ResourceManager under
// kContainer and kName; where there is none (eager execution) the ops fail.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/resource.h"
#include "core/tensor.h"

namespace weft_engine::op {

class SessionState final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12SessionStateE";
  static constexpr const char* kContainer = "session";  // also that of the handles that GetSessionHandleV2 gives
  static constexpr const char* kName = "session_state";
  static constexpr const char* kTensorType = "N10tensorflow6TensorE";  // of such a handle
  std::string type_name() const override { return "SessionState"; }

  int64_t new_id() {
    std::lock_guard lock(mutex_);
    return next_id_++;
  }
  // Kept when the step ends, if what `node` gave was fetched.
  void add(int64_t step, std::string node, std::string handle, core::Tensor t) {
    std::lock_guard lock(mutex_);
    pending_.emplace(step, Pending{std::move(node), std::move(handle), std::move(t)});
    has_pending_.store(true, std::memory_order_relaxed);
  }
  bool has_pending() const { return has_pending_.load(std::memory_order_relaxed); }
  void end_step(int64_t step, std::span<const std::string> fetched) {
    std::lock_guard lock(mutex_);
    auto [begin, end] = pending_.equal_range(step);
    for (auto it = begin; it != end; ++it) {
      if (std::find(fetched.begin(), fetched.end(), it->second.node) != fetched.end())
        tensors_.insert_or_assign(it->second.handle, std::move(it->second.tensor));
    }
    pending_.erase(begin, end);
    has_pending_.store(!pending_.empty(), std::memory_order_relaxed);
  }
  core::Result<core::Tensor> get(const std::string& handle) const {
    std::lock_guard lock(mutex_);
    auto it = tensors_.find(handle);
    if (it == tensors_.end()) return core::invalid_argument("The tensor with handle '", handle, "' is not in the session store.");
    return it->second;
  }
  core::Status remove(const std::string& handle) {
    std::lock_guard lock(mutex_);
    if (tensors_.erase(handle)) return {};
    return core::invalid_argument("Failed to delete a tensor with handle '", handle, "' in the session store.");
  }

 private:
  struct Pending {
    std::string node, handle;
    core::Tensor tensor;
  };
  mutable std::mutex mutex_;
  int64_t next_id_ = 0;
  std::map<std::string, core::Tensor> tensors_;
  std::multimap<int64_t, Pending> pending_;  // by step
  std::atomic<bool> has_pending_{false};
};

}  // namespace weft_engine::op

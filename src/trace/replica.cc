#include "trace/replica.h"

#include <utility>

namespace weft_engine::trace {

Replica*& current_replica() {
  thread_local Replica* current = nullptr;
  return current;
}

Status Meeting::meet(int replica, Value value, const std::function<Status(std::span<const Value>)>& f) {
  std::unique_lock lock(mutex_);
  values_[size_t(replica)] = std::move(value);
  const int64_t mine = round_;
  if (++here_ + gone_ == int(values_.size())) {
    if (gone_ > 0) {
      outcome_ = failed_precondition(
          "a replica writes a variable that all replicas must write together, but another one has ended: every replica must run the same code");
    } else {
      Replica* me = std::exchange(current_replica(), nullptr);
      outcome_ = f(values_);
      current_replica() = me;
    }
    values_.assign(values_.size(), Value());
    here_ = 0;
    ++round_;
    changed_.notify_all();
    return outcome_;
  }
  changed_.wait(lock, [&] { return round_ != mine; });
  return outcome_;
}

void Meeting::leave() {
  std::lock_guard lock(mutex_);
  ++gone_;
  if (here_ == 0 || here_ + gone_ < int(values_.size())) return;
  outcome_ = failed_precondition(
      "a replica writes a variable that all replicas must write together, but another one has ended: every replica must run the same code");
  values_.assign(values_.size(), Value());
  here_ = 0;
  ++round_;
  changed_.notify_all();
}

}  // namespace weft_engine::trace

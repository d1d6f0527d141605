#include "trace/replica.h"

#include <utility>

namespace weft_engine::trace {

Replica*& current_replica() {
  thread_local Replica* current = nullptr;
  return current;
}

namespace {
Status one_has_ended() {
  return failed_precondition(
      "a replica writes a variable that all replicas must write together, but another one has ended: every replica must run the same code");
}
}  // namespace

Status ReplicaBarrier::wait(int replica, Value value, const std::function<Status(std::span<const Value>)>& f) {
  std::unique_lock lock(mutex_);
  values_[size_t(replica)] = std::move(value);
  const int64_t mine = round_;
  if (++here_ + gone_ < int(values_.size())) {
    changed_.wait(lock, [&] { return round_ != mine; });
  } else if (gone_ > 0) {
    end_round(one_has_ended());
  } else {
    Replica* me = std::exchange(current_replica(), nullptr);
    Status outcome = f(values_);
    current_replica() = me;
    end_round(std::move(outcome));
  }
  if (one_missing_ && current_replica()) current_replica()->left_waiting = true;
  return outcome_;
}

void ReplicaBarrier::leave() {
  std::lock_guard lock(mutex_);
  ++gone_;
  if (here_ > 0 && here_ + gone_ == int(values_.size())) end_round(one_has_ended());
}

void ReplicaBarrier::end_round(Status outcome) {
  outcome_ = std::move(outcome);
  one_missing_ = gone_ > 0;
  values_.assign(values_.size(), Value());
  here_ = 0;
  ++round_;
  changed_.notify_all();
}

}  // namespace weft_engine::trace

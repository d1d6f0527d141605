#include "trace/polymorphic_function.h"

#include <algorithm>
#include <utility>

namespace weft_engine::trace {

// Gives what had to leave, for the caller to free outside of the lock: it may run code of the program.
PolymorphicFunction::Ptr PolymorphicFunction::bind_locked(std::string key, Ptr binding) {
  Ptr dead;
  if (keys_.size() >= kMostKeys) {
    const Keys::value_type* oldest = order_.front();
    order_.pop_front();
    if (last_ == oldest) last_ = nullptr;
    dead = oldest->second;
    auto [from, to] = keys_.equal_range(oldest->first);
    keys_.erase(std::find_if(from, to, [&](const auto& entry) { return &entry == oldest; }));
    if (std::none_of(keys_.begin(), keys_.end(), [&](const auto& entry) { return entry.second == dead; })) std::erase(traces_, dead);
  }
  order_.push_back(&*keys_.emplace(std::move(key), std::move(binding)));
  size_.store(keys_.size(), std::memory_order_relaxed);
  return dead;
}

void PolymorphicFunction::bind(std::string key, Ptr binding) {
  Ptr dead;
  std::lock_guard lock(mutex_);
  dead = bind_locked(std::move(key), std::move(binding));
}

void PolymorphicFunction::add(std::string key, Ptr traced) {
  Ptr dead;
  std::lock_guard lock(mutex_);
  dead = bind_locked(std::move(key), traced);
  traces_.push_back(std::move(traced));
}

void PolymorphicFunction::forget_keys() {
  Keys dead;
  std::lock_guard lock(mutex_);
  std::swap(dead, keys_);
  order_.clear();
  last_ = nullptr;
  size_.store(0, std::memory_order_relaxed);
}

std::vector<PolymorphicFunction::Ptr> PolymorphicFunction::traces() const {
  std::lock_guard lock(mutex_);
  return traces_;
}

int64_t PolymorphicFunction::take_calls() {
  std::lock_guard lock(mutex_);
  return std::exchange(calls_, 0);
}

}  // namespace weft_engine::trace

// PolymorphicFunction: the concrete functions of one function of the program, by what its calls are told apart by. weft::function and tf.function stand on it:
// they compute keys, convert values and run the program's code when a call has to be traced; look-up, bounds and locking are here.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/concrete_function.h"

namespace weft_engine::trace {

// Whether calls of functions run the program's code directly, op by op: for debugging.
inline std::atomic<bool> functions_run_eagerly{false};

class PolymorphicFunction {
 public:
  // How a call runs a concrete function. Front ends derive what else they need for it: how arguments are laid out, how results are put together.
  struct Binding {
    std::shared_ptr<ConcreteFunction> function;
    uint64_t graph = 0;  // the id of the trace around it whose tensors it captures: usable only there; 0: everywhere
    virtual ~Binding() = default;
  };
  using Ptr = std::shared_ptr<const Binding>;
  static constexpr size_t kMostKeys = 4096;  // the oldest are forgotten: such calls are bound, or traced, again

  // What calls with this key run, if `usable(binding)` agrees; else null. Counted as a call.
  template <class Usable>
  Ptr find(std::string_view key, Usable usable) {
    std::lock_guard lock(mutex_);
    const Keys::value_type* found = look_up(key, usable);
    if (!found) return nullptr;
    last_ = found;
    ++calls_;
    return found->second;
  }
  template <class Usable>
  bool contains(std::string_view key, Usable usable) const {
    std::lock_guard lock(mutex_);
    return look_up(key, usable) != nullptr;
  }
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }
  // Calls with this key run the binding from now on.
  void bind(std::string key, Ptr binding);
  // The same for a graph that was traced now: one of traces(), as long as it has a key.
  void add(std::string key, Ptr traced);
  void forget_keys();

  std::vector<Ptr> traces() const;  // in the order of tracing
  // How many calls were found since this was asked last.
  int64_t take_calls();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  using Keys = std::unordered_multimap<std::string, Ptr, Hash, std::equal_to<>>;
  template <class Usable>
  const Keys::value_type* look_up(std::string_view key, Usable& usable) const {
    if (last_ && last_->first == key && usable(*last_->second)) return last_;
    auto [from, to] = keys_.equal_range(key);
    for (auto it = from; it != to; ++it) {
      if (usable(*it->second)) return &*it;
    }
    return nullptr;
  }
  Ptr bind_locked(std::string key, Ptr binding);

  mutable std::mutex mutex_;
  Keys keys_;
  std::deque<const Keys::value_type*> order_;  // of keys_, by age
  const Keys::value_type* last_ = nullptr;  // found last: most programs call with the same types again and again
  std::vector<Ptr> traces_;
  int64_t calls_ = 0;
  std::atomic<size_t> size_{0};
};

}  // namespace weft_engine::trace

// SPDX-License-Identifier: Apache-2.0
//
// mutex, its locks and condition_variable, over the standard library's.
#ifndef TENSORFLOW_CORE_PLATFORM_MUTEX_H_
#define TENSORFLOW_CORE_PLATFORM_MUTEX_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "tensorflow/core/platform/macros.h"

namespace tensorflow {

enum LinkerInitialized { LINKER_INITIALIZED };
enum ConditionResult { kCond_Timeout, kCond_MaybeNotified };

// What a thread waits for: a function of an object, a member function, a flag, or an object that is called.
class Condition {
 public:
  Condition(bool (*f)(void*), void* argument) : holds_([=] { return f(argument); }) {}
  template <class T>
  Condition(bool (*f)(T*), T* argument) : holds_([=] { return f(argument); }) {}
  template <class T>
  Condition(T* object, bool (T::*method)()) : holds_([=] { return (object->*method)(); }) {}
  template <class T>
  Condition(const T* object, bool (T::*method)() const) : holds_([=] { return (object->*method)(); }) {}
  explicit Condition(const bool* flag) : holds_([=] { return *flag; }) {}
  template <class F, class = decltype(static_cast<bool (F::*)() const>(&F::operator()))>
  explicit Condition(const F* f) : holds_([=] { return (*f)(); }) {}
  bool Eval() const { return holds_(); }

 private:
  std::function<bool()> holds_;
};

class mutex {
 public:
  mutex() = default;
  explicit mutex(LinkerInitialized) {}
  void lock() { m_.lock(); }
  bool try_lock() { return m_.try_lock(); }
  void unlock() { m_.unlock(); }
  void lock_shared() { m_.lock_shared(); }
  bool try_lock_shared() { return m_.try_lock_shared(); }
  void unlock_shared() { m_.unlock_shared(); }
  void assert_held() const {}
  void assert_held_shared() const {}
  // Held before and after. There is no room for a list of who waits (the engine's locks are seen as these), so it looks again and again, at first often.
  void Await(const Condition& c) { AwaitUntil(c, std::chrono::system_clock::time_point::max()); }
  // In nanoseconds since 1970; true if the condition holds then.
  bool AwaitWithDeadline(const Condition& c, std::uint64_t until_ns) {
    using std::chrono::system_clock;
    return AwaitUntil(c, system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(until_ns))));
  }

 private:
  bool AwaitUntil(const Condition& c, std::chrono::system_clock::time_point until) {
    for (auto pause = std::chrono::microseconds(10); !c.Eval(); pause = std::min(2 * pause, std::chrono::microseconds(1000))) {
      if (std::chrono::system_clock::now() >= until) return false;
      m_.unlock();
      std::this_thread::sleep_for(pause);
      m_.lock();
    }
    return true;
  }
  std::shared_mutex m_;
};
// The engine's locks are seen as these.
static_assert(sizeof(mutex) == sizeof(std::shared_mutex), "a mutex is a std::shared_mutex and nothing else");

class mutex_lock {
 public:
  explicit mutex_lock(mutex& m) : lock_(m) {}
  mutex_lock(mutex& m, std::try_to_lock_t t) : lock_(m, t) {}
  mutex_lock(mutex_lock&& o) noexcept = default;
  explicit operator bool() const { return lock_.owns_lock(); }
  mutex* mu() { return lock_.mutex(); }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  std::unique_lock<mutex> lock_;
};

class tf_shared_lock {
 public:
  explicit tf_shared_lock(mutex& m) : lock_(m) {}
  tf_shared_lock(mutex& m, std::try_to_lock_t t) : lock_(m, t) {}
  tf_shared_lock(tf_shared_lock&& o) noexcept = default;
  explicit operator bool() const { return lock_.owns_lock(); }

 private:
  std::shared_lock<mutex> lock_;
};

class condition_variable {
 public:
  void wait(mutex_lock& lock) { c_.wait(lock); }
  template <class Predicate>
  void wait(mutex_lock& lock, Predicate done) {
    c_.wait(lock, done);
  }
  template <class Rep, class Period>
  std::cv_status wait_for(mutex_lock& lock, std::chrono::duration<Rep, Period> time) {
    return c_.wait_for(lock, time);
  }
  void notify_one() { c_.notify_one(); }
  void notify_all() { c_.notify_all(); }

 private:
  std::condition_variable_any c_;
};

inline ConditionResult WaitForMilliseconds(mutex_lock* lock, condition_variable* c, long ms) {  // NOLINT
  return c->wait_for(*lock, std::chrono::milliseconds(ms)) == std::cv_status::timeout ? kCond_Timeout : kCond_MaybeNotified;
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_MUTEX_H_

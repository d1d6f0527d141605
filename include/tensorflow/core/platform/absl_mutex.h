// SPDX-License-Identifier: Apache-2.0
//
// absl::Mutex, its locks and conditions, for those who have no abseil (absl_forms.h).
#ifndef TENSORFLOW_CORE_PLATFORM_ABSL_MUTEX_H_
#define TENSORFLOW_CORE_PLATFORM_ABSL_MUTEX_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <utility>

#include "tensorflow/core/platform/absl_time.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {
namespace absl_forms {

using ::tensorflow::Condition;

// Who waits for a condition looks at it again whenever another thread gives the lock back.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  void operator=(const Mutex&) = delete;
  void Lock() { m_.lock(); }
  void Unlock() {
    if (waiters_.load(std::memory_order_relaxed) > 0) changed_.notify_all();
    m_.unlock();  // last: whoever has the lock next may delete this
  }
  bool TryLock() { return m_.try_lock(); }
  void ReaderLock() { m_.lock_shared(); }
  void ReaderUnlock() { m_.unlock_shared(); }
  bool ReaderTryLock() { return m_.try_lock_shared(); }
  void WriterLock() { Lock(); }
  void WriterUnlock() { Unlock(); }
  bool WriterTryLock() { return TryLock(); }
  void lock() { Lock(); }
  void unlock() { Unlock(); }
  bool try_lock() { return TryLock(); }
  void lock_shared() { ReaderLock(); }
  void unlock_shared() { ReaderUnlock(); }
  bool try_lock_shared() { return ReaderTryLock(); }
  void AssertHeld() const {}
  void AssertReaderHeld() const {}
  void AssertNotHeld() const {}

  // The lock is held before and after; true if the condition holds then.
  void Await(const Condition& c) { Wait(m_, c, InfiniteFuture()); }
  bool AwaitWithTimeout(const Condition& c, Duration time) { return Wait(m_, c, Now() + time); }
  bool AwaitWithDeadline(const Condition& c, Time until) { return Wait(m_, c, until); }
  void LockWhen(const Condition& c) { Lock(), Await(c); }
  bool LockWhenWithTimeout(const Condition& c, Duration time) { return Lock(), AwaitWithTimeout(c, time); }
  bool LockWhenWithDeadline(const Condition& c, Time until) { return Lock(), AwaitWithDeadline(c, until); }
  void WriterLockWhen(const Condition& c) { LockWhen(c); }
  void ReaderLockWhen(const Condition& c) { ReaderLockWhenWithDeadline(c, InfiniteFuture()); }
  bool ReaderLockWhenWithTimeout(const Condition& c, Duration time) { return ReaderLockWhenWithDeadline(c, Now() + time); }
  bool ReaderLockWhenWithDeadline(const Condition& c, Time until) {
    struct Shared {
      mutex& m;
      void lock() { m.lock_shared(); }
      void unlock() { m.unlock_shared(); }
    } shared{m_};
    shared.lock();
    return Wait(shared, c, until);
  }

 private:
  friend class CondVar;
  template <class Lock>
  bool Wait(Lock& lock, const Condition& c, Time until) {
    if (c.Eval()) return true;
    if (waiters_++ > 0) changed_.notify_all();  // the caller may have changed what others wait for
    bool holds = false;
    for (bool late = false; !(holds = c.Eval()) && !late;) {
      if (until == InfiniteFuture()) changed_.wait(lock);
      else late = changed_.wait_until(lock, ToChronoTime(until)) == std::cv_status::timeout;
    }
    --waiters_;
    return holds;
  }
  mutex m_;
  std::atomic<int> waiters_{0};
  std::condition_variable_any changed_;
};
class MutexLock {
 public:
  explicit MutexLock(Mutex* m) : m_(m) { m_->Lock(); }
  explicit MutexLock(Mutex& m) : MutexLock(&m) {}
  MutexLock(Mutex* m, const Condition& c) : m_(m) { m_->LockWhen(c); }
  MutexLock(Mutex& m, const Condition& c) : MutexLock(&m, c) {}
  ~MutexLock() { m_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  void operator=(const MutexLock&) = delete;

 private:
  Mutex* m_;
};
using WriterMutexLock = MutexLock;
class ReaderMutexLock {
 public:
  explicit ReaderMutexLock(Mutex* m) : m_(m) { m_->ReaderLock(); }
  explicit ReaderMutexLock(Mutex& m) : ReaderMutexLock(&m) {}
  ReaderMutexLock(Mutex* m, const Condition& c) : m_(m) { m_->ReaderLockWhen(c); }
  ~ReaderMutexLock() { m_->ReaderUnlock(); }
  ReaderMutexLock(const ReaderMutexLock&) = delete;
  void operator=(const ReaderMutexLock&) = delete;

 private:
  Mutex* m_;
};
// May give the lock back before its end; or have none.
class ReleasableMutexLock {
 public:
  explicit ReleasableMutexLock(Mutex* m) : m_(m) { m_->Lock(); }
  explicit ReleasableMutexLock(Mutex& m) : ReleasableMutexLock(&m) {}
  ReleasableMutexLock(Mutex* m, const Condition& c) : m_(m) { m_->LockWhen(c); }
  ~ReleasableMutexLock() { Release(); }
  ReleasableMutexLock(const ReleasableMutexLock&) = delete;
  void operator=(const ReleasableMutexLock&) = delete;
  void Release() {
    if (Mutex* held = std::exchange(m_, nullptr)) held->Unlock();
  }

 private:
  Mutex* m_;
};
class MutexLockMaybe {
 public:
  explicit MutexLockMaybe(Mutex* m) : m_(m) {
    if (m_) m_->Lock();
  }
  ~MutexLockMaybe() {
    if (m_) m_->Unlock();
  }
  MutexLockMaybe(const MutexLockMaybe&) = delete;
  void operator=(const MutexLockMaybe&) = delete;

 private:
  Mutex* const m_;
};
class CondVar {
 public:
  void Wait(Mutex* m) {
    Given given{m};
    c_.wait(given);
  }
  // True: the time is over.
  bool WaitWithTimeout(Mutex* m, Duration time) { return WaitWithDeadline(m, Now() + time); }
  bool WaitWithDeadline(Mutex* m, Time until) {
    if (until == InfiniteFuture()) return Wait(m), false;
    Given given{m};
    return c_.wait_until(given, ToChronoTime(until)) == std::cv_status::timeout;
  }
  void Signal() { c_.notify_one(); }
  void SignalAll() { c_.notify_all(); }

 private:
  struct Given {
    Mutex* m;
    void lock() { m->Lock(); }
    void unlock() { m->Unlock(); }
  };
  std::condition_variable_any c_;
};

}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_ABSL_MUTEX_H_

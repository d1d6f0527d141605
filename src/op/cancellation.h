// CancellationManager: how a step is told to stop. What waits (a queue, a message) registers what to do
// then; what computes asks now and again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/interrupt.h"

namespace weft_engine::op {

// Shared where calls may outlast who made it (eager/cancellable.h); most are on the stack of a call.
class CancellationManager : public std::enable_shared_from_this<CancellationManager> {
 public:
  using Token = int64_t;
  // Cancelled when `parent` is; the parent must live longer.
  explicit CancellationManager(CancellationManager* parent = nullptr);
  ~CancellationManager();
  CancellationManager(const CancellationManager&) = delete;

  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // For loops, with no lock held: looks whether the caller of this thread has interrupted it (core/interrupt.h), and cancels then.
  bool asked_to_stop() { return cancelled() || (core::time_to_look.load(std::memory_order_relaxed) && interrupted()); }
  // Calls every registered callback, once; later calls do nothing.
  void start_cancel();
  Token get_token() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // False, and nothing kept, when already cancelled: the caller then fails at once.
  bool register_callback(Token token, std::function<void()> callback);
  // After true the callback will not be called. Waits for a callback that is being called (and gives false), unless it is this thread
  // that calls it.
  bool deregister_callback(Token token);
  // As deregister_callback without the wait; for use inside what a callback may wait for.
  bool try_deregister_callback(Token token);

  // changed.wait(lock, done) for the thread of a caller, who may interrupt it: that cancels `what`, which is to make `done` true. Null: it waits.
  template <class Done>
  static void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, CancellationManager* what, Done done) {
    core::Interrupt* const call = what && core::interruptible_calls.load(std::memory_order_relaxed) ? core::Interrupt::current() : nullptr;
    while (call && !call->wanted() && !changed.wait_for(lock, core::kInterruptPollInterval, done)) {
      lock.unlock();
      if (call->look()) what->start_cancel();
      lock.lock();
    }
    changed.wait(lock, done);
  }

 private:
  bool interrupted();
  std::atomic<bool> cancelled_{false};
  std::atomic<Token> next_{0};
  std::mutex mutex_;
  std::condition_variable call_ended_;
  std::map<Token, std::function<void()>> callbacks_;
  std::optional<Token> running_;  // whose callback is being called; any number can be a token
  std::thread::id caller_;  // by whom
  bool* destroyed_ = nullptr;  // tells start_cancel that a callback destroyed the manager
  CancellationManager* parent_;
  Token parent_token_ = 0;
};

}  // namespace weft_engine::op

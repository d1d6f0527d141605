// CancellationManager: how a step is told to stop. What waits (a queue, a message) registers what to do
// then; what computes asks now and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace weft::op {

class CancellationManager {
 public:
  using Token = int64_t;
  // Cancelled when `parent` is; the parent must live longer.
  explicit CancellationManager(CancellationManager* parent = nullptr);
  ~CancellationManager();
  CancellationManager(const CancellationManager&) = delete;

  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // Calls every registered callback, once; later calls do nothing.
  void start_cancel();
  Token get_token() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // False, and nothing kept, when already cancelled: the caller then fails at once.
  bool register_callback(Token token, std::function<void()> callback);
  // After true the callback will not be called. Waits for a callback that is being called (and gives false).
  bool deregister_callback(Token token);
  // As deregister_callback without the wait; for use inside what a callback may wait for.
  bool try_deregister_callback(Token token);

 private:
  struct Running;
  std::atomic<bool> cancelled_{false};
  std::atomic<Token> next_{0};
  std::mutex mutex_;
  bool calling_ = false;
  std::map<Token, std::function<void()>> callbacks_;
  CancellationManager* parent_;
  Token parent_token_ = 0;
};

}  // namespace weft::op

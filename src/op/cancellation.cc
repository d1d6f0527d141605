#include "op/cancellation.h"

namespace weft_engine::op {

CancellationManager::CancellationManager(CancellationManager* parent) : parent_(parent) {
  if (!parent_) return;
  parent_token_ = parent_->get_token();
  if (!parent_->register_callback(parent_token_, [this] { start_cancel(); })) cancelled_.store(true);
}

CancellationManager::~CancellationManager() {
  if (parent_) parent_->deregister_callback(parent_token_);
  if (destroyed_) *destroyed_ = true;
}

bool CancellationManager::interrupted() {
  if (!core::poll_interrupt()) return false;
  start_cancel();
  return true;
}

void CancellationManager::start_cancel() {
  bool destroyed = false;
  std::unique_lock lock(mutex_);
  if (cancelled_.load()) return;
  cancelled_.store(true);
  caller_ = std::this_thread::get_id();
  destroyed_ = &destroyed;
  // One after the other, so that a callback may still take another one back.
  while (!callbacks_.empty()) {
    auto next = callbacks_.extract(callbacks_.begin());
    running_ = next.key();
    lock.unlock();
    next.mapped()();
    if (destroyed) return;
    lock.lock();
    running_.reset();
    call_ended_.notify_all();
  }
  destroyed_ = nullptr;
}

bool CancellationManager::register_callback(Token token, std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  if (cancelled_.load()) return false;
  callbacks_.emplace(token, std::move(callback));
  return true;
}

bool CancellationManager::try_deregister_callback(Token token) {
  std::lock_guard lock(mutex_);
  return callbacks_.erase(token) > 0;
}

bool CancellationManager::deregister_callback(Token token) {
  std::unique_lock lock(mutex_);
  if (callbacks_.erase(token)) return true;
  if (running_ != token || caller_ == std::this_thread::get_id()) return false;
  call_ended_.wait(lock, [&] { return running_ != token; });
  return false;
}

}  // namespace weft_engine::op

#include "op/cancellation.h"

#include <condition_variable>

namespace weft::op {
namespace {

// Few wait for a callback to end, and seldom: one for all managers.
std::condition_variable& calls_ended() {
  static auto* c = new std::condition_variable();
  return *c;
}

}  // namespace

CancellationManager::CancellationManager(CancellationManager* parent) : parent_(parent) {
  if (!parent_) return;
  parent_token_ = parent_->get_token();
  if (!parent_->register_callback(parent_token_, [this] { start_cancel(); })) cancelled_.store(true);
}

CancellationManager::~CancellationManager() {
  if (parent_) parent_->deregister_callback(parent_token_);
}

void CancellationManager::start_cancel() {
  std::map<Token, std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (cancelled_.load()) return;
    cancelled_.store(true);
    calling_ = true;
    callbacks.swap(callbacks_);
  }
  for (auto& [token, callback] : callbacks) callback();
  {
    std::lock_guard lock(mutex_);
    calling_ = false;
    calls_ended().notify_all();
  }
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
  calls_ended().wait(lock, [this] { return !calling_; });
  return false;
}

}  // namespace weft::op

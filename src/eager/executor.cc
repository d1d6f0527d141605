#include "eager/executor.h"

namespace weft::eager {

using core::Status;

Executor::~Executor() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Executor::add(Task task) {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  queue_.push_back(std::move(task));
  wake_.notify_one();
}

void Executor::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    running_ = true;
    const Status before = error_;
    lock.unlock();
    Status status;
    if (before.ok()) {
      status = task.run();
      if (!status.ok()) {  // known here before anyone can learn it from a handle, so that the next op meets it
        std::lock_guard relock(mutex_);
        error_ = status;
      }
    } else {
      status = before;
    }
    if (!status.ok()) task.abort(status);
    task = {};  // its handles go before anyone is told that it is done
    lock.lock();
    running_ = false;
    if (queue_.empty()) idle_.notify_all();
  }
}

Status Executor::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return queue_.empty() && !running_; });
  return error_;
}

Status Executor::status() const {
  std::lock_guard lock(mutex_);
  return error_;
}

void Executor::clear_error() {
  std::lock_guard lock(mutex_);
  error_ = Status();
}

}  // namespace weft::eager

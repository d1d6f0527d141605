#include "eager/executor.h"

#include <system_error>

#include "core/interrupt.h"
#include "core/threads.h"

namespace weft::eager {

using core::Status;

// Runs what was added, unless the process ends.
Executor::~Executor() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  std::deque<Task> dropped;
  if (core::process_ending.load()) dropped.swap(queue_);
  wake_.notify_all();
  const bool idle = core::wait_for_others(lock, idle_, [this] { return queue_.empty() && !running_; });
  lock.unlock();
  if (!thread_.joinable()) return;
  if (idle) thread_.join();
  else thread_.detach();  // it stands still in an interpreter that ends
}

// Fails the task where there is no thread to run it.
void Executor::add(Task task) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error& e) {
      error_ = core::resource_exhausted("no thread for ops that run later: ", e.what());
      lock.unlock();
      return task.abort(error_);
    }
  }
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
      status = core::without_exceptions([&] { return task.run(); });
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
  while (!idle_.wait_for(lock, core::kLookEvery, [this] { return queue_.empty() && !running_; })) {
    if (core::process_ending.load(std::memory_order_relaxed)) return core::cancelled("the process ends");
    core::Interrupt* const call = core::Interrupt::current();
    if (!call) continue;
    lock.unlock();
    if (call->look()) return core::interrupted_call();
    lock.lock();
  }
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

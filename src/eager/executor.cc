#include "eager/executor.h"

#include <pthread.h>

#include <list>
#include <new>
#include <system_error>

#include "core/interrupt.h"
#include "core/threads.h"

namespace weft_engine::eager {

using core::Status;

namespace {

// The threads of all executors, for the child of a fork, which has none of them.
struct Running {
  Executor* executor;
  Executor::Task* task = nullptr;  // that runs
};
struct AllRunning {
  std::mutex mutex;
  std::list<Running> all;
  static AllRunning& get() {
    static auto* made = new AllRunning;
    return *made;
  }
};

thread_local Running* t_me = nullptr;

}  // namespace

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
  else thread_.detach();  // it blocks in an interpreter that ends
}

// Fails the task where there is no thread to run it.
void Executor::add(Task task) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) {
    // In a child the executor starts again; what it had to do fails.
    [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
      std::list<Running> left;
      left.swap(AllRunning::get().all);
      for (Running& r : left) {
        Executor& e = *r.executor;
        new (&e.thread_) std::thread;  // the destructor of one that is not there would end the process
        e.running_ = false;
        std::deque<Task> dropped;
        dropped.swap(e.queue_);
        const Status status = core::failed_precondition("the op was to run on a thread that is not in this process, the child of a fork");
        if (r.task) r.task->abort(status);
        for (Task& t : dropped) t.abort(status);
      }
    });
    auto& running = AllRunning::get();
    std::unique_lock registering(running.mutex);
    const auto me = running.all.insert(running.all.begin(), Running{this});  // before it starts: a fork may come first
    registering.unlock();
    try {
      thread_ = std::thread([this, me] {
        t_me = &*me;
        work();
        std::lock_guard erasing(AllRunning::get().mutex);
        AllRunning::get().all.erase(me);
      });
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
    if (queue_.empty()) break;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    running_ = true;
    t_me->task = &task;
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
    t_me->task = nullptr;
    task = {};  // its handles go before anyone is told that it is done
    lock.lock();
    running_ = false;
    if (queue_.empty()) idle_.notify_all();
  }
}

Status Executor::wait() {
  std::unique_lock lock(mutex_);
  while (!idle_.wait_for(lock, core::kInterruptPollInterval, [this] { return queue_.empty() && !running_; })) {
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

}  // namespace weft_engine::eager

#include "runtime/blocking_threads.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <new>

#include <pthread.h>

#include "core/threads.h"

namespace weft_engine::runtime {
namespace {

constexpr auto kIdle = std::chrono::seconds(5);

class BlockingThreads {
 public:
  bool start(std::function<void()>& task) {
    {
      std::lock_guard lock(mutex_);
      if (queue_.size() < size_t(idle_)) {
        queue_.push_back(std::move(task));
        wake_.notify_one();
        return true;
      }
    }
    const auto first = std::make_shared<std::function<void()>>(std::move(task));
    const auto body = [this, first] {
      (*first)();
      *first = nullptr;
      work();
    };
    if (core::start_thread(body).ok()) return true;
    task = std::move(*first);
    return false;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      const bool more = wake_.wait_for(lock, kIdle, [this] { return !queue_.empty(); });
      --idle_;
      if (!more) return;
      auto task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  int idle_ = 0;
};

BlockingThreads& blocking_threads() {
  // Kept for ever: a thread may be idle in it when the process ends. The child of a fork has none of the threads.
  static auto* threads = [] {
    static auto* made = new BlockingThreads();
    pthread_atfork(nullptr, nullptr, [] { new (made) BlockingThreads(); });
    return made;
  }();
  return *threads;
}

}  // namespace

bool try_run_on_blocking_thread(std::function<void()>& task) { return blocking_threads().start(task); }

void run_on_blocking_thread(std::function<void()> task) {
  if (!blocking_threads().start(task)) task();
}

}  // namespace weft_engine::runtime

#include "runtime/blocking_threads.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>

#include <pthread.h>

#include "core/threads.h"

namespace weft_engine::runtime {
namespace {

constexpr auto kIdle = std::chrono::seconds(5);

class BlockingThreads {
 public:
  void run(std::function<void()> task) {
    bool fresh;
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(task));
      fresh = queue_.size() > size_t(idle_);
      if (!fresh) wake_.notify_one();
    }
    if (!fresh) return;
    if (core::start_thread([this] { work(); }).ok()) return;
    std::unique_lock lock(mutex_);
    if (queue_.empty()) return;
    auto mine = std::move(queue_.back());
    queue_.pop_back();
    lock.unlock();
    mine();
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

}  // namespace

void run_on_blocking_thread(std::function<void()> task) {
  // Kept for ever: a thread may be idle in it when the process ends. The child of a fork has none of the threads.
  static auto* threads = [] {
    static auto* made = new BlockingThreads();
    pthread_atfork(nullptr, nullptr, [] { new (made) BlockingThreads(); });
    return made;
  }();
  threads->run(std::move(task));
}

}  // namespace weft_engine::runtime

#include "core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::core {
namespace {

// Work below this many nanoseconds is not worth waking another thread.
constexpr double kGrain = 20'000;

thread_local bool inside_pool = false;

}  // namespace

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> queue;
  std::vector<std::thread> workers;
  bool stop = false;
  bool started = false;

  void start(int count) {
    if (started) return;
    started = true;
    for (int i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
  }

  void work() {
    inside_pool = true;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return stop || !queue.empty(); });
      if (queue.empty()) return;
      auto task = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()), threads_(std::max(threads, 1)) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
  }
  impl_->wake.notify_all();
  for (auto& w : impl_->workers) w.join();
}

void ThreadPool::schedule(std::function<void()> task) {
  if (threads_ == 1) {
    task();
    return;
  }
  {
    std::lock_guard lock(impl_->mutex);
    impl_->start(threads_ - 1);
    impl_->queue.push_back(std::move(task));
  }
  impl_->wake.notify_one();
}

void ThreadPool::parallel_chunks(int64_t n, FunctionRef<void(int64_t)> body) {
  if (n <= 0) return;
  if (n == 1 || threads_ == 1 || inside_pool) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  // Shared with helpers that may start after the work is done: they find no chunk and touch only this.
  struct Work {
    std::atomic<int64_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable finished;
  };
  auto work = std::make_shared<Work>();
  auto run = [n, body](Work& w) {
    int64_t ran = 0;
    for (int64_t i; (i = w.next.fetch_add(1, std::memory_order_relaxed)) < n; ++ran) body(i);
    if (ran && w.done.fetch_add(ran, std::memory_order_acq_rel) + ran == n) {
      std::lock_guard lock(w.mutex);
      w.finished.notify_one();
    }
  };
  const int64_t helpers = std::min<int64_t>(threads_ - 1, n - 1);
  {
    std::lock_guard lock(impl_->mutex);
    impl_->start(threads_ - 1);
    for (int64_t i = 0; i < helpers; ++i) impl_->queue.push_back([work, run] { run(*work); });
  }
  if (helpers > 1) impl_->wake.notify_all();
  else impl_->wake.notify_one();
  inside_pool = true;
  run(*work);
  inside_pool = false;
  std::unique_lock lock(work->mutex);
  work->finished.wait(lock, [&] { return work->done.load(std::memory_order_acquire) == n; });
}

void ThreadPool::parallel_for(int64_t n, double cost, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  const double total = cost * double(n);
  if (threads_ == 1 || inside_pool || total < 2 * kGrain) {
    body(0, n);
    return;
  }
  // A few parts per thread even out uneven progress.
  const int64_t parts = std::clamp<int64_t>(int64_t(total / kGrain), 2, std::min<int64_t>(n, 4 * threads_));
  const int64_t size = (n + parts - 1) / parts;
  parallel_chunks((n + size - 1) / size, [&](int64_t i) { body(i * size, std::min(n, (i + 1) * size)); });
}

}  // namespace weft::core

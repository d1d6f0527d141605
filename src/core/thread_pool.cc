#include "core/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "core/interrupt.h"
#include "core/threads.h"

namespace weft_engine::core {
namespace {

// Work below this many nanoseconds is not worth waking another thread.
constexpr double kGrain = 20'000;

thread_local bool inside_pool = false;

}  // namespace

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable wake, ended;
  std::deque<std::function<void()>> queue;
  int workers = 0;
  bool stop = false;
  Impl *previous = nullptr, *next = nullptr;  // in the list of all pools

  // With the mutex held. True: there are workers, if fewer than wanted where the system gives no more.
  bool start(int count) {
    if (workers) return true;
    while (workers < count && start_thread([this] { work(); }).ok()) ++workers;
    return workers > 0;
  }

  void work() {
    inside_pool = true;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return stop || !queue.empty(); });
      if (queue.empty()) break;
      auto task = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
    --workers;
    ended.notify_all();
  }

  // In the child of a fork, where no worker is. What is overwritten is lost on purpose.
  void begin_anew() {
    new (&wake) std::condition_variable;
    new (&ended) std::condition_variable;
    new (&queue) std::deque<std::function<void()>>;
    workers = 0;
  }
};

namespace {

// All pools, for the child of a fork.
template <class Impl>
struct Pools {
  std::mutex mutex;
  Impl* first = nullptr;

  Pools() {
    pthread_atfork(nullptr, nullptr, [] {
      for (Impl* p = get().first; p; p = p->next) p->begin_anew();
      inside_pool = false;
    });
  }
  static Pools& get() {
    static Pools* pools = new Pools;
    return *pools;
  }
  void add(Impl* p) {
    std::lock_guard lock(mutex);
    p->next = first;
    if (first) first->previous = p;
    first = p;
  }
  void remove(Impl* p) {
    std::lock_guard lock(mutex);
    (p->previous ? p->previous->next : first) = p->next;
    if (p->next) p->next->previous = p->previous;
  }
};

}  // namespace

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()), threads_(std::max(threads, 1)) { Pools<Impl>::get().add(impl_.get()); }

ThreadPool::~ThreadPool() {
  Pools<Impl>::get().remove(impl_.get());
  std::unique_lock lock(impl_->mutex);
  impl_->stop = true;
  impl_->wake.notify_all();
  const bool over = wait_for_others(lock, impl_->ended, [this] { return impl_->workers == 0; });
  lock.unlock();
  if (!over) (void)impl_.release();  // the process ends; a worker that does not keeps it
}

void ThreadPool::schedule(std::function<void()> task) {
  if (threads_ > 1) {
    std::lock_guard lock(impl_->mutex);
    if (impl_->start(threads_ - 1)) {
      impl_->queue.push_back(std::move(task));
      impl_->wake.notify_one();
      return;
    }
  }
  task();
}

namespace {

// Shared with helpers that may start after the work is done: they find no chunk and touch only this.
struct Work {
  const int64_t n;
  const FunctionRef<void(int64_t)> body;
  std::atomic<int64_t> next{0}, done{0};
  std::mutex mutex;
  std::condition_variable finished;
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // the first that a chunk threw; the chunks after it are not run

  Work(int64_t count, FunctionRef<void(int64_t)> f) : n(count), body(f) {}
  void run() noexcept {
    int64_t ran = 0;
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n; ++ran) {
      if (failed.load(std::memory_order_relaxed)) [[unlikely]]
        continue;
      try {
        if (interrupt_wanted()) [[unlikely]]
          throw Interrupted();
        body(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
    if (ran && done.fetch_add(ran, std::memory_order_acq_rel) + ran == n) {
      std::lock_guard lock(mutex);
      finished.notify_one();
    }
  }
};

}  // namespace

void ThreadPool::parallel_chunks(int64_t n, FunctionRef<void(int64_t)> body) {
  if (n <= 0) return;
  if (n == 1 || threads_ == 1 || inside_pool) {
    for (int64_t i = 0; i < n; ++i) {
      if (interrupt_wanted()) [[unlikely]]
        throw Interrupted();
      body(i);
    }
    return;
  }
  auto work = std::make_shared<Work>(n, body);
  int64_t helpers = 0;
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->start(threads_ - 1)) {
      try {
        for (; helpers < std::min<int64_t>(impl_->workers, n - 1); ++helpers) impl_->queue.push_back([work] { work->run(); });
      } catch (const std::bad_alloc&) {
        // fewer will do
      }
    }
  }
  if (helpers > 1) impl_->wake.notify_all();
  else if (helpers) impl_->wake.notify_one();
  inside_pool = true;
  work->run();
  inside_pool = false;
  std::unique_lock lock(work->mutex);
  work->finished.wait(lock, [&] { return work->done.load(std::memory_order_acquire) == n; });
  if (work->error) std::rethrow_exception(std::exchange(work->error, nullptr));
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

}  // namespace weft_engine::core

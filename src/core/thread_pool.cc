#include "core/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "core/interrupt.h"
#include "core/loop_record.h"
#include "core/threads.h"

namespace weft_engine::core {
namespace {

// A part of a loop takes at least this many nanoseconds: a worker that is awake begins one within a microsecond.
constexpr double kGrain = 4'000;
// A loop below this is not worth waking workers that sleep, which takes tens of microseconds.
constexpr double kWorthWaking = 40'000;
// How long a worker without work looks for some before it sleeps. The loops of a training step follow each other faster than this,
// and its end, where small variables are updated, is followed by the next in this time.
constexpr auto kSpin = std::chrono::microseconds(250);

thread_local bool inside_pool = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until done() holds, for kSpin at most. False: it did not.
template <class Done>
bool spin(Done done) {
  for (int i = 0; i < 32; ++i) {  // without the clock first
    if (done()) return true;
    pause();
  }
  for (const auto end = std::chrono::steady_clock::now() + kSpin; std::chrono::steady_clock::now() < end;) {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause();
    }
  }
  return false;
}

// Which of the pool's threads this is: 0 for callers.
thread_local int thread_number = 0;

// A parallel loop, on its caller's stack.
struct Work {
  static constexpr int64_t kMarked = 64;
  const int64_t n;
  const FunctionRef<void(int64_t)> body;
  const int threads;
  alignas(64) std::atomic<int64_t> next{0};  // of more than kMarked chunks
  std::atomic<uint64_t> left;                // of fewer: a bit for each that nobody took
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // the first that a chunk threw; the chunks after it are not run

  Work(int64_t count, FunctionRef<void(int64_t)> f, int t)
      : n(count), body(f), threads(t), left(count < kMarked ? (uint64_t(1) << count) - 1 : ~uint64_t(0)) {}

  // A chunk for the calling thread, n or more: none is left. A thread begins with the same part of the range in every loop, since loops that follow each other
  // tend to read there what the last one wrote, and goes on with what comes behind it.
  int64_t take(int64_t first) {
    if (n > kMarked) return next.fetch_add(1, std::memory_order_relaxed);
    for (uint64_t seen = left.load(std::memory_order_relaxed); seen;) {
      const uint64_t behind = seen >> first << first, bit = uint64_t(1) << std::countr_zero(behind ? behind : seen);
      seen = left.fetch_and(~bit, std::memory_order_relaxed);
      if (seen & bit) return std::countr_zero(bit);
    }
    return n;
  }

  void run() noexcept {
    const int64_t first = n > kMarked ? 0 : n * std::min(thread_number, threads - 1) / threads;
    for (int64_t i; (i = take(first)) < n;) {
      if (failed.load(std::memory_order_relaxed)) [[unlikely]]
        continue;
      try {
        if (interrupt_wanted()) [[unlikely]]
          throw Interrupted();
        body(i);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
};

}  // namespace

// Workers look at a few places for loops, and at a queue for tasks. `news` counts what was put there: a worker that found nothing watches it for
// a while, then sleeps until it changes.
struct ThreadPool::Impl {
  // Workers enter a place as long as it has tickets, of which a loop puts out no more than it has chunks for others: one of two chunks is no concern of
  // fourteen further threads. `state` is kNone and the tickets that are left, and kInside for each worker that is inside. To enter is one addition, which takes a
  // ticket and counts the worker; who took one that was not there (less than kNone is left) leaves at once.
  static constexpr uint32_t kInside = 1 << 16, kTickets = kInside - 1, kNone = 1 << 14, kMostTickets = 1 << 14;
  struct alignas(64) Place {
    std::atomic<uint32_t> state{kNone};
    std::atomic<Work*> work{nullptr};  // to be read inside
    std::atomic<bool> taken{false};  // by the caller of a loop

    bool open() const { return (state.load(std::memory_order_relaxed) & kTickets) > kNone; }
    bool enter() {
      if ((state.fetch_add(kInside - 1, std::memory_order_acquire) & kTickets) > kNone) return true;
      leave();
      return false;
    }
    void leave() {
      if (state.fetch_sub(kInside, std::memory_order_acq_rel) < 2 * kInside) state.notify_one();
    }
    // By the caller; 0: nobody enters any more. Not a plain store: one may just be finding that it came too late.
    void put_out(uint32_t tickets) {
      uint32_t seen = state.load(std::memory_order_relaxed);
      while (!state.compare_exchange_weak(seen, (seen & ~kTickets) | (kNone + tickets), std::memory_order_acq_rel, std::memory_order_relaxed)) {
      }
    }
    bool empty() const { return state.load(std::memory_order_acquire) < kInside; }
  };
  std::array<Place, 8> places;  // a ninth loop at the same time runs on its caller alone
  alignas(64) std::atomic<uint32_t> news{0};
  std::atomic<int> sleepers{0}, queued{0};
  std::atomic<bool> stop{false};
  alignas(64) std::mutex mutex;  // guards the queue, the number of workers, and going to sleep
  std::condition_variable wake, ended;
  std::deque<std::function<void()>> queue;
  int workers = 0, all = 0;  // `all`: that were started
  bool may_spin = true;  // both set before `started`
  std::atomic<bool> started{false};
  Impl *previous = nullptr, *next = nullptr;  // in the list of all pools

  // With the mutex held. True: there are workers, if fewer than wanted where the system gives no more.
  bool start(int count) {
    if (workers) return true;
    may_spin = count < available_cpus();  // more threads than processors would only keep each other from work
    while (workers < count && start_thread([this, number = workers + 1] { work(number); }).ok()) ++workers;
    all = workers;
    started.store(workers > 0, std::memory_order_release);
    return workers > 0;
  }

  bool started_with(int count) {
    if (started.load(std::memory_order_acquire)) return true;
    std::lock_guard lock(mutex);
    return start(count);
  }

  void work(int number) {
    inside_pool = true;
    thread_number = number;
    for (;;) {
      const uint32_t seen = news.load(std::memory_order_acquire);
      if (run_task() || run_loops()) continue;
      if (may_spin && spin([&] { return news.load(std::memory_order_acquire) != seen; }) && !stop.load(std::memory_order_relaxed)) continue;
      std::unique_lock lock(mutex);
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      wake.wait(lock, [&] { return stop.load(std::memory_order_relaxed) || news.load(std::memory_order_seq_cst) != seen; });
      sleepers.fetch_sub(1, std::memory_order_relaxed);
      if (stop.load(std::memory_order_relaxed) && queue.empty()) {
        --workers;
        ended.notify_all();
        return;
      }
      lock.unlock();
      wake_more();  // a caller that woke all of them would begin late
    }
  }

  bool run_task() {
    if (queued.load(std::memory_order_acquire) == 0) return false;
    std::function<void()> task;
    {
      std::lock_guard lock(mutex);
      if (queue.empty()) return false;
      task = std::move(queue.front());
      queue.pop_front();
      queued.fetch_sub(1, std::memory_order_relaxed);
    }
    task();
    return true;
  }

  bool run_loops() {
    bool ran = false;
    for (Place& p : places) {
      if (!p.open() || !p.enter()) continue;
      p.work.load(std::memory_order_relaxed)->run();
      ran = true;
      p.leave();
    }
    return ran;
  }

  bool work_left() const {
    if (queued.load(std::memory_order_relaxed)) return true;
    return std::any_of(places.begin(), places.end(), [](const Place& p) { return p.open(); });
  }

  void wake_more() {
    for (int i = 0; i < 2 && sleepers.load(std::memory_order_relaxed) > 0 && work_left(); ++i) wake.notify_one();
  }

  // After a loop was put where workers look. Sleepers are left alone where enough others look for work.
  void tell(const Place& place, int64_t wanted) {
    news.fetch_add(1, std::memory_order_seq_cst);
    const int asleep = wanted > 0 ? sleepers.load(std::memory_order_seq_cst) : 0;
    if (asleep == 0) return;
    const bool alone =
        std::all_of(places.begin(), places.end(), [&](const Place& p) { return &p == &place || !p.taken.load(std::memory_order_relaxed); });
    if (may_spin && alone && all - asleep >= wanted && queued.load(std::memory_order_relaxed) == 0) return;
    {
      std::lock_guard lock(mutex);
    }  // one that is about to sleep has seen the news, or waits
    wake.notify_one();
    if (wanted > 1) wake.notify_one();
  }

  // In the child of a fork, where no worker is. What is overwritten is lost on purpose.
  void begin_anew() {
    new (&wake) std::condition_variable;
    new (&ended) std::condition_variable;
    new (&queue) std::deque<std::function<void()>>;
    for (Place& p : places) {
      p.work = nullptr;
      p.state = kNone;
      p.taken = false;
    }
    sleepers = queued = 0;
    started = false;
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

bool ThreadPool::inside() { return inside_pool; }

ThreadPool::~ThreadPool() {
  Pools<Impl>::get().remove(impl_.get());
  std::unique_lock lock(impl_->mutex);
  impl_->stop = true;
  impl_->news.fetch_add(1, std::memory_order_seq_cst);
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
      impl_->queued.fetch_add(1, std::memory_order_relaxed);
      impl_->news.fetch_add(1, std::memory_order_seq_cst);
      impl_->wake.notify_one();
      return;
    }
  }
  task();
}

void ThreadPool::parallel_chunks(int64_t n, FunctionRef<void(int64_t)> body) {
  if (LoopRecord* r = LoopRecord::of_loops()) [[unlikely]]
    return r->loop(n, 0, __builtin_return_address(0), body);
  run_chunks(n, body, true);
}

void ThreadPool::run_chunks(int64_t n, FunctionRef<void(int64_t)> body, bool wake) {
  if (n <= 0) return;
  Impl::Place* place = nullptr;
  if (n > 1 && threads_ > 1 && !inside_pool && impl_->started_with(threads_ - 1)) {
    for (Impl::Place& p : impl_->places) {
      if (!p.taken.load(std::memory_order_relaxed) && !p.taken.exchange(true, std::memory_order_acquire)) {
        place = &p;
        break;
      }
    }
  }
  if (!place) {
    for (int64_t i = 0; i < n; ++i) {
      if (interrupt_wanted()) [[unlikely]]
        throw Interrupted();
      body(i);
    }
    return;
  }
  Work work(n, body, threads_);
  const int64_t helpers = std::min<int64_t>(n, threads_) - 1;
  place->work.store(&work, std::memory_order_relaxed);
  place->put_out(uint32_t(std::min<int64_t>(helpers, Impl::kMostTickets)));
  impl_->tell(*place, wake ? helpers : 0);
  const int number = std::exchange(thread_number, 0);
  inside_pool = true;
  work.run();
  inside_pool = false;
  thread_number = number;
  place->put_out(0);
  if (!place->empty() && !(impl_->may_spin && spin([&] { return place->empty(); }))) {
    for (uint32_t state; (state = place->state.load(std::memory_order_acquire)) >= Impl::kInside;) place->state.wait(state);
  }
  place->taken.store(false, std::memory_order_release);
  if (work.error) std::rethrow_exception(std::exchange(work.error, nullptr));
}

void ThreadPool::parallel_for(int64_t n, double cost, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  const double total = cost * double(n);
  if (n == 1 || threads_ == 1 || inside_pool || total < 2 * kGrain) {
    body(0, n);
    return;
  }
  // A few parts per thread even out uneven progress; as many for each, or some would wait for the others.
  int64_t parts = std::clamp<int64_t>(int64_t(std::min(total / kGrain, 1e6)), 2, std::min<int64_t>(n, 4 * threads_));
  if (parts > threads_) parts -= parts % threads_;
  const int64_t size = (n + parts - 1) / parts;
  if (LoopRecord* r = LoopRecord::of_loops()) [[unlikely]]
    return r->loop((n + size - 1) / size, total, __builtin_return_address(0), [&](int64_t i) { body(i * size, std::min(n, (i + 1) * size)); });
  run_chunks((n + size - 1) / size, [&](int64_t i) { body(i * size, std::min(n, (i + 1) * size)); }, total >= kWorthWaking);
}

}  // namespace weft_engine::core

#include "ops/data/prefetch_buffer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/call_depth.h"
#include "core/fork.h"
#include "core/threads.h"
#include "op/cancellation.h"
#include "op/held.h"

namespace weft_engine::ops::data {

namespace {

std::atomic<int> most_calls{0};

}  // namespace

int parallel_calls(int64_t wanted) {
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency()), most = most_calls.load(std::memory_order_relaxed);
  return int(wanted < 1 ? (most ? std::min(most, cores) : cores) : std::min(wanted, most ? most : 2 * cores));
}
void limit_parallel_calls(int threads) { most_calls.store(std::max(threads, 0), std::memory_order_relaxed); }

class PrefetchBuffer::State : public std::enable_shared_from_this<State> {
 public:
  State(IteratorPtr input, int threads, int64_t limit, Work work)
      : num_threads_(threads), limit_(std::max<int64_t>(limit, 1)), work_(std::move(work)), input_(std::move(input)) {}

  Status next(IteratorContext& c, Element& out, bool& end);
  // Tells the threads to end and waits for it; at the end of the process, for a moment.
  void stop() noexcept;

 private:
  struct Slot {
    Element element;
    Status status;
    bool end = false, done = false;
  };
  void start(IteratorContext& c);
  void run() noexcept;
  bool make_one(IteratorContext& c);

  const int num_threads_;
  const int64_t limit_;
  Work work_;
  std::shared_ptr<const void> caller_;  // of env_
  std::mutex input_mutex_;  // held while an element is drawn; taken before mutex_
  IteratorPtr input_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the order of the input
  Status failed_;                            // what a thread had no slot for
  bool started_ = false, ended_ = false, stop_ = false;
  int threads_ = 0;
  const int generation_ = core::fork_generation();
  CancellationManager cancellation_;
  KernelEnv env_;
  std::shared_ptr<const StatsSink> stats_;
};

PrefetchBuffer::PrefetchBuffer(IteratorPtr input, int threads, int64_t limit, Work work)
    : state_(std::make_shared<State>(std::move(input), threads, limit, std::move(work))) {}
PrefetchBuffer::~PrefetchBuffer() { state_->stop(); }
Status PrefetchBuffer::next(IteratorContext& c, Element& out, bool& end) { return state_->next(c, out, end); }

void PrefetchBuffer::State::stop() noexcept {
  if (generation_ != core::fork_generation()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  cancellation_.start_cancel();
  changed_.notify_all();
  std::unique_lock lock(mutex_);
  if (!core::wait_for_others(lock, changed_, [this] { return threads_ == 0; })) return;
  lock.unlock();
  // Here, and not on a thread that has yet to release this object.
  slots_.clear();
  input_ = nullptr;
  work_ = nullptr;
  caller_ = nullptr;
}

// With mutex_ held. Where the system gives no thread at all, the caller does the work.
void PrefetchBuffer::State::start(IteratorContext& c) {
  started_ = true;
  env_ = c.env;
  if (c.env.functions) caller_ = op::hold(*c.env.functions);
  env_.cancellation = &cancellation_;
  env_.rendezvous = nullptr;
  env_.trace = nullptr;
  stats_ = c.stats;
  for (int i = 0; i < num_threads_; ++i) {
    if (!core::start_thread([self = shared_from_this(), depth = core::call_depth()] {
           const core::AdoptCallDepth adopt(depth);
           self->run();
         }).ok())
      break;
    ++threads_;
  }
}

Status PrefetchBuffer::State::next(IteratorContext& c, Element& out, bool& end) {
  if (generation_ != core::fork_generation())
    return failed_precondition("this iterator was made before the process was forked, and its threads are not in the child; make a new one there");
  std::unique_lock lock(mutex_);
  if (!started_) start(c);
  CancellationManager* step = c.env.cancellation;
  CancellationManager::Token token = 0;
  bool watched = false;
  Status status;
  while (slots_.empty() || !slots_.front()->done) {
    if (!failed_.ok()) {
      status = std::exchange(failed_, Status());
      break;
    }
    if (slots_.empty() && ended_) {
      end = true;
      break;
    }
    if (threads_ == 0) {
      lock.unlock();
      make_one(c);
      lock.lock();
      continue;
    }
    if (step && !watched) {
      // The step may be told to stop while we wait; its call must not find our mutex held.
      lock.unlock();
      token = step->get_token();
      watched = step->register_callback(token, [this] {
        std::lock_guard l(mutex_);
        changed_.notify_all();
      });
      lock.lock();
      if (!watched) {
        status = cancelled("Iterator was cancelled");
        break;
      }
      continue;
    }
    if (step && step->cancelled()) {
      status = cancelled("Iterator was cancelled");
      break;
    }
    if (step && core::interruptible_calls.load(std::memory_order_relaxed) && core::Interrupt::current()) {
      CancellationManager::wait(lock, changed_, step, [&] {
        return (!slots_.empty() && slots_.front()->done) || (slots_.empty() && ended_) || !failed_.ok() || step->cancelled();
      });
      continue;
    }
    const bool ours = core::wait_for_others(lock, changed_, [&] {
      return (!slots_.empty() && slots_.front()->done) || (slots_.empty() && ended_) || !failed_.ok() || (step && step->cancelled());
    });
    if (!ours) {
      status = cancelled("Iterator was cancelled: the process ends");
      break;
    }
  }
  if (status.ok() && !end) {
    std::shared_ptr<Slot> slot = slots_.front();
    end = slot->end;
    // The end stays for who asks again.
    if (!end) slots_.pop_front();
    out = std::move(slot->element);
    status = slot->status;
  }
  lock.unlock();
  changed_.notify_all();
  if (watched) step->deregister_callback(token);
  return status;
}

void PrefetchBuffer::State::run() noexcept {
  {
    IteratorContext c(env_);
    c.stats = stats_;
    for (bool more = true; more;) {
      const Status s = core::without_exceptions([&]() -> Status {
        more = make_one(c);
        return {};
      });
      if (s.ok()) continue;
      std::unique_lock lock(mutex_);
      failed_ = s;
      changed_.notify_all();
      // What failed so would do so again at once: not before the error was returned.
      changed_.wait(lock, [this] { return stop_ || failed_.ok(); });
      more = !stop_;
    }
  }
  std::lock_guard lock(mutex_);
  --threads_;
  changed_.notify_all();
}

// Draws one element and works on it. False: there is nothing more to do.
bool PrefetchBuffer::State::make_one(IteratorContext& c) {
  auto slot = std::make_shared<Slot>();
  {
    std::lock_guard drawing(input_mutex_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || ended_ || int64_t(slots_.size()) < limit_; });
      if (stop_ || ended_) return false;
      slots_.push_back(slot);
    }
    slot->status = core::without_exceptions([&] { return input_->next(c, slot->element, slot->end); });
    if (slot->end) {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
  }
  if (slot->status.ok() && !slot->end && work_) slot->status = core::without_exceptions([&] { return work_(c, slot->element, slot->end); });
  {
    std::lock_guard lock(mutex_);
    slot->done = true;
    if (slot->end) ended_ = true;
  }
  changed_.notify_all();
  return true;
}

}  // namespace weft_engine::ops::data

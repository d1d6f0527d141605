#include "ops/dataset/ahead.h"

#include <algorithm>
#include <atomic>
#include <system_error>

#include "core/call_depth.h"
#include "op/held.h"

namespace weft::ops::data {

namespace {

std::atomic<int> most_calls{0};

}  // namespace

int parallel_calls(int64_t wanted) {
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency()), most = most_calls.load(std::memory_order_relaxed);
  return int(wanted < 1 ? (most ? std::min(most, cores) : cores) : std::min(wanted, most ? most : 2 * cores));
}
void limit_parallel_calls(int threads) { most_calls.store(std::max(threads, 0), std::memory_order_relaxed); }

Ahead::Ahead(IteratorPtr input, int threads, int64_t limit, Work work)
    : num_threads_(threads), limit_(std::max<int64_t>(limit, 1)), work_(std::move(work)), input_(std::move(input)) {}

Ahead::~Ahead() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  cancellation_.start_cancel();
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

bool Ahead::start(IteratorContext& c) {
  started_ = true;
  env_ = c.env;
  if (c.env.functions) caller_ = op::hold(*c.env.functions);
  env_.cancellation = &cancellation_;
  env_.rendezvous = nullptr;
  env_.trace = nullptr;
  stats_ = c.stats;
  try {
    for (int i = 0; i < num_threads_; ++i) threads_.emplace_back([this, depth = core::call_depth()] {
        const core::AdoptCallDepth adopt(depth);
        run();
      });
  } catch (const std::system_error&) {
    // The system gives no more threads: one is enough, and without any the caller does the work.
  }
  return !threads_.empty();
}

Status Ahead::next(IteratorContext& c, Element& out, bool& end) {
  std::unique_lock lock(mutex_);
  if (!started_) start(c);
  CancellationManager* step = c.env.cancellation;
  CancellationManager::Token token = 0;
  bool watched = false;
  Status status;
  while (slots_.empty() || !slots_.front()->done) {
    if (slots_.empty() && ended_) {
      end = true;
      break;
    }
    if (threads_.empty()) {
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
    changed_.wait(lock);
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

void Ahead::run() {
  IteratorContext c(env_);
  c.stats = stats_;
  while (make_one(c)) {
  }
}

// Draws one element and works on it. False: there is nothing more to do.
bool Ahead::make_one(IteratorContext& c) {
  auto slot = std::make_shared<Slot>();
  {
    std::lock_guard drawing(input_mutex_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || ended_ || int64_t(slots_.size()) < limit_; });
      if (stop_ || ended_) return false;
      slots_.push_back(slot);
    }
    slot->status = input_->next(c, slot->element, slot->end);
    if (slot->end) {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
  }
  if (slot->status.ok() && !slot->end && work_) slot->status = work_(c, slot->element, slot->end);
  {
    std::lock_guard lock(mutex_);
    slot->done = true;
    if (slot->end) ended_ = true;
  }
  changed_.notify_all();
  return true;
}

}  // namespace weft::ops::data

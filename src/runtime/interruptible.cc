#include "runtime/interruptible.h"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <limits>
#include <utility>
#include <mutex>

#include "core/call_depth.h"
#include "core/threads.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::runtime {

using core::Status;
using core::Tensor;

namespace {

// What takes longer than this, as far as one can tell, is not run on the caller's thread.
constexpr double kLong = 75e6;  // nanoseconds
// How long an interrupted caller waits for what was cancelled.
constexpr auto kGrace = std::chrono::milliseconds(150);

// Nanoseconds by key; 0: not known. Keys that share a place share their cost: a wrong guess costs a wake-up or an interrupt that comes late.
std::atomic<float> costs[4096];
std::atomic<float>& cost_of(const void* key) { return costs[(reinterpret_cast<uintptr_t>(key) >> 4) * 0x9E3779B97F4A7C15u >> 52]; }

int64_t now(bool exact) {
  if (!exact) return int64_t(core::ticks.load(std::memory_order_relaxed)) * std::chrono::nanoseconds(core::kInterruptPollInterval).count();
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

thread_local bool t_uninterruptible = false;
std::atomic<bool> any_uninterruptible{false};

struct Call {
  std::vector<Tensor> in, out;
  op::CancellationManager cancellation;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, uninterruptible = false, stop = false;
  Status status;
};

// What ends a call before its work is done; Ok: nothing did, it is done. With the lock.
Status wait_for(Call& call, std::unique_lock<std::mutex>& lock, const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  core::Interrupt* const caller = core::Interrupt::current();
  const Clock::time_point end = limits.timeout_ms > 0 ? Clock::now() + std::chrono::milliseconds(limits.timeout_ms) : Clock::time_point::max();
  for (;;) {
    const Clock::time_point next = caller ? std::min(end, Clock::now() + core::kInterruptPollInterval) : end;
    const auto changed = [&] { return call.done || call.stop; };
    if (next == Clock::time_point::max()) call.changed.wait(lock, changed);
    else call.changed.wait_until(lock, next, changed);
    if (call.done) return {};
    if (call.stop) return core::cancelled("the call was cancelled");
    if (Clock::now() >= end) return core::deadline_exceeded("Timed out waiting for notification");
    if (!caller) continue;
    lock.unlock();
    const bool wanted = caller->look();
    lock.lock();
    if (wanted) return core::interrupted_call();
  }
}

}  // namespace

Expected::Expected(const void* key, double units, bool exact) noexcept : cost_(cost_of(key)), units_(units), exact_(exact), start_(now(exact)) {
  const float known = cost_.load(std::memory_order_relaxed);
  long_ = known == 0 || known * units > kLong;
}

Expected::~Expected() {
  if (any_uninterruptible.load(std::memory_order_relaxed) && std::exchange(t_uninterruptible, false)) {
    cost_.store(std::numeric_limits<float>::max(), std::memory_order_relaxed);
    return;
  }
  const auto took = float(double(now(exact_) - start_ + 1) / units_);
  const float known = cost_.load(std::memory_order_relaxed);
  const float learned = std::max(took, known * 0.75f + took * 0.25f);
  if (learned != known) cost_.store(learned, std::memory_order_relaxed);
}

void note_uninterruptible_call() noexcept {
  any_uninterruptible.store(true, std::memory_order_relaxed);
  t_uninterruptible = true;
}

struct DetachedCalls::Run::State {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;
  bool gone = false;
};

bool DetachedCalls::Run::orphaned() const {
  std::lock_guard lock(of_->mutex);
  return of_->gone;
}

void DetachedCalls::Run::add(int n) {
  std::lock_guard lock(of_->mutex);
  of_->running += n;
  if (!of_->running) of_->changed.notify_all();
}

DetachedCalls::DetachedCalls() : state_(std::make_shared<Run::State>()) {}

bool DetachedCalls::wait() {
  std::unique_lock lock(state_->mutex);
  if (core::wait_for_others(lock, state_->changed, [this] { return state_->running == 0; })) return true;
  state_->gone = true;
  return false;
}

Status run_detached(std::span<const Tensor* const> in, std::span<Tensor> out, Work work, const Limits& limits) {
  auto call = std::make_shared<Call>();
  call->in.reserve(in.size());
  for (const Tensor* t : in) {
    if (core::interrupt_wanted()) [[unlikely]] {
      run_on_blocking_thread([call] { call->in.clear(); });  // there may be millions, for which the caller does not wait
      return core::interrupted_call();
    }
    call->in.push_back(*t);
  }
  op::CancellationManager* const outer = limits.cancellation;
  const auto token = outer ? outer->get_token() : 0;
  if (outer && !outer->register_callback(token, [call] {
        std::lock_guard lock(call->mutex);
        call->stop = true;
        call->changed.notify_all();
      }))
    return core::cancelled("the call was cancelled");
  run_on_blocking_thread([call, work = std::move(work), depth = core::call_depth(), n = out.size()] {
    const core::AdoptCallDepth adopt(depth);
    Status s = core::without_exceptions([&] {
      call->out.resize(n);  // not by the caller: room for millions takes its time
      return work(call->cancellation, call->in, call->out);
    });
    call->in.clear();
    std::lock_guard lock(call->mutex);
    call->status = std::move(s);
    call->uninterruptible = std::exchange(t_uninterruptible, false);
    call->done = true;
    call->changed.notify_all();
  });
  std::unique_lock lock(call->mutex);
  const Status ended = wait_for(*call, lock, limits);
  if (!ended.ok()) {
    lock.unlock();
    call->cancellation.start_cancel();
    lock.lock();
    const auto done = [&] { return call->done; };
    if (limits.may_abandon) call->changed.wait_for(lock, kGrace, done);
    else call->changed.wait(lock, done);
  }
  const bool done = call->done, stop = call->stop;
  lock.unlock();
  if (outer) outer->deregister_callback(token);
  // What was cancelled by its manager may say so in words of its own, or have been done before.
  if (!ended.ok() && !(done && stop)) return ended;
  t_uninterruptible |= call->uninterruptible;
  for (size_t i = 0; i < call->out.size(); ++i) out[i] = std::move(call->out[i]);  // none where there was no memory for them
  return call->status;
}

}  // namespace weft_engine::runtime

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

namespace weft::runtime {

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
  if (!exact) return int64_t(core::ticks.load(std::memory_order_relaxed)) * std::chrono::nanoseconds(core::kLookEvery).count();
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

thread_local bool t_blind = false;
std::atomic<bool> any_blind{false};

struct Call {
  std::vector<Tensor> in, out;
  op::CancellationManager cancellation;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, blind = false;
  Status status;
};

}  // namespace

Expected::Expected(const void* key, double units, bool exact) noexcept : cost_(cost_of(key)), units_(units), exact_(exact), start_(now(exact)) {
  const float known = cost_.load(std::memory_order_relaxed);
  long_ = known == 0 || known * units > kLong;
}

Expected::~Expected() {
  if (any_blind.load(std::memory_order_relaxed) && std::exchange(t_blind, false)) {
    cost_.store(std::numeric_limits<float>::max(), std::memory_order_relaxed);
    return;
  }
  const auto took = float(double(now(exact_) - start_ + 1) / units_);
  const float known = cost_.load(std::memory_order_relaxed);
  const float learned = std::max(took, known * 0.75f + took * 0.25f);
  if (learned != known) cost_.store(learned, std::memory_order_relaxed);
}

void note_blind_call() noexcept {
  any_blind.store(true, std::memory_order_relaxed);
  t_blind = true;
}

Status run_elsewhere(std::span<const Tensor* const> in, std::span<Tensor> out, Work work) {
  auto call = std::make_shared<Call>();
  for (const Tensor* t : in) call->in.push_back(*t);
  call->out.resize(out.size());
  run_on_blocking_thread([call, work = std::move(work), depth = core::call_depth()] {
    const core::AdoptCallDepth adopt(depth);
    Status s = core::without_exceptions([&] { return work(call->cancellation, call->in, call->out); });
    call->in.clear();
    std::lock_guard lock(call->mutex);
    call->status = std::move(s);
    call->blind = std::exchange(t_blind, false);
    call->done = true;
    call->changed.notify_all();
  });
  core::Interrupt& caller = *core::Interrupt::current();
  std::unique_lock lock(call->mutex);
  while (!call->changed.wait_for(lock, core::kLookEvery, [&] { return call->done; })) {
    lock.unlock();
    const bool wanted = caller.look();
    if (wanted) call->cancellation.start_cancel();
    lock.lock();
    if (!wanted) continue;
    call->changed.wait_for(lock, kGrace, [&] { return call->done; });
    return core::interrupted_call();
  }
  t_blind |= call->blind;
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::move(call->out[i]);
  return call->status;
}

}  // namespace weft::runtime

#include "core/interrupt.h"

#include <thread>
#include <utility>

#include "core/fork.h"
#include "core/threads.h"

namespace weft_engine::core {
namespace {

thread_local Interrupt* t_current = nullptr;

std::atomic<int> ticking{-1};  // in which generation of forks a thread ticks

// Ticks faster while there are calls, since somebody waits for them then.
void tick() {
  for (;;) {
    const bool busy = interruptible_calls.load(std::memory_order_relaxed);
    if (busy) time_to_look.store(true, std::memory_order_relaxed);
    ticks.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::sleep_for(busy ? kInterruptPollInterval : 4 * kInterruptPollInterval);
  }
}

}  // namespace

Interrupt::Interrupt(bool (*look)(void*), void* with) : look_(look), with_(with), outer_(t_current) {
  t_current = this;
  if (outer_) return;
  interruptible_calls.store(true, std::memory_order_relaxed);
  const int generation = fork_generation();
  if (int known = ticking.load(std::memory_order_relaxed); known != generation && ticking.compare_exchange_strong(known, generation)) {
    if (!start_thread(tick).ok()) ticking.store(-1);
  }
}

Interrupt::~Interrupt() {
  if (!outer_) interruptible_calls.store(false, std::memory_order_relaxed);
  if (wanted_) time_to_look.store(false, std::memory_order_relaxed);
  t_current = outer_;
}

Interrupt* Interrupt::current() noexcept { return t_current; }

Uninterruptible::Uninterruptible() noexcept : outer_(std::exchange(t_current, nullptr)) {}
Uninterruptible::~Uninterruptible() {
  t_current = outer_;
  if (outer_) interruptible_calls.store(true, std::memory_order_relaxed);
}

bool poll_interrupt() noexcept {
  Interrupt* const call = t_current;
  if (!call) return false;
  time_to_look.store(false, std::memory_order_relaxed);
  if (!call->look()) return false;
  time_to_look.store(true, std::memory_order_relaxed);  // all that follows is to end, too
  return true;
}

}  // namespace weft_engine::core

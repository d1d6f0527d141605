// Interrupts: how a thread that works for a caller outside of the engine (Python's main thread) learns that the caller wants it back, because a
// signal came. Loops ask `interrupt_wanted()`, which is a load as long as nobody has to look; waits look now and again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace weft_engine::core {

// One call from outside, on the thread that makes it: always the same thread of a program. Calls may be nested: the last one counts.
class Interrupt {
 public:
  // `look` runs on this thread and says whether the call shall end.
  Interrupt(bool (*look)(void*), void* with);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // Of the calling thread; null: it cannot be interrupted.
  static Interrupt* current() noexcept;
  // Looks, now. Once true, always true.
  bool look() {
    if (!wanted_) wanted_ = look_(with_);
    return wanted_;
  }
  bool wanted() const { return wanted_; }

 private:
  bool (*const look_)(void*);
  void* const with_;
  Interrupt* const outer_;
  bool wanted_ = false;
};

// While it lives, nobody interrupts this thread: it runs the caller's own code.
class Uninterruptible {
 public:
  Uninterruptible() noexcept;
  ~Uninterruptible();
  Uninterruptible(const Uninterruptible&) = delete;

 private:
  Interrupt* const outer_;
};

// Whether the program's main thread is in a call that can be interrupted, and whether it is time to look: set by a thread that ticks as long as it is.
inline std::atomic<bool> interruptible_calls{false};
inline std::atomic<bool> time_to_look{false};
inline std::atomic<uint32_t> ticks{0};
// How often a call looks.
inline constexpr auto kInterruptPollInterval = std::chrono::milliseconds(50);

bool poll_interrupt() noexcept;
// True where the call that this thread works for shall end.
inline bool interrupt_wanted() noexcept { return time_to_look.load(std::memory_order_relaxed) && poll_interrupt(); }

// Thrown out of a loop over chunks; whoever runs kernels makes it a status.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace weft_engine::core

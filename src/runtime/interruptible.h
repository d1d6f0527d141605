// Calls whose caller may interrupt them (core/interrupt.h). Loops of the runtime and waits see an interrupt as a cancellation. A kernel that computes for long
// does not, so what is expected to take long runs on another thread: the caller waits, and when it is interrupted leaves that thread to itself.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/interrupt.h"
#include "op/cancellation.h"
#include "op/kernel.h"

namespace weft_engine::runtime {

// Whether this thread's caller may interrupt it.
inline bool may_be_interrupted() { return core::interruptible_calls.load(std::memory_order_relaxed) != 0 && core::Interrupt::current() != nullptr; }

// What calls of one kind (a kernel, a function: `key`) cost, for each of `units`: measured while this object lives.
class Expected {
 public:
  // `exact`: by the clock, and not by the ticks of interrupts, which cost nothing.
  Expected(const void* key, double units, bool exact) noexcept;
  ~Expected();
  Expected(const Expected&) = delete;
  // Not known, or so long that the call should run on another thread.
  bool long_call() const { return long_; }

 private:
  std::atomic<float>& cost_;
  const double units_;
  const bool exact_;
  bool long_;
  int64_t start_;
};

// In a call: it has run code that may go on for ever and does not look for interrupts (loops in machine code). Such calls never run on the caller's thread, after the
// first time.
void note_uninterruptible_call() noexcept;

// Runs work on copies of `in` on another thread, and puts what it gives into `out`. Cancelled after an interrupt or by `limits`; work goes on then, and should end
// soon. It owns what it uses.
using Work = std::function<core::Status(op::CancellationManager& cancellation, std::span<core::Tensor> in, std::span<core::Tensor> out)>;
struct Limits {
  op::CancellationManager* cancellation = nullptr;  // ends the call, beside the caller's interrupt
  int64_t timeout_ms = 0;  // DeadlineExceeded after it; 0: none
  bool may_abandon = true;  // false: a call that was cancelled is waited for all the same
};
core::Status run_detached(std::span<const core::Tensor* const> in, std::span<core::Tensor> out, Work work, const Limits& limits = {});

// Calls on other threads of one owner, who must outlive them: of those that were abandoned some may still run.
class DetachedCalls {
 public:
  // One of them, from when its work is put together until the work is destroyed.
  class Run {
   public:
    explicit Run(const DetachedCalls& of) : of_(of.state_) { add(1); }
    Run(const Run& o) : of_(o.of_) { add(1); }
    ~Run() { add(-1); }
    Run& operator=(const Run&) = delete;
    // The owner has gone all the same, since the process ends.
    bool orphaned() const;

   private:
    void add(int n);
    struct State;
    friend class DetachedCalls;
    std::shared_ptr<State> of_;
  };

  DetachedCalls();
  // Waits until there are none. False: the process ends, and they go on.
  bool wait();

 private:
  std::shared_ptr<Run::State> state_;
};

}  // namespace weft_engine::runtime

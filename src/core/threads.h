// Threads of the engine beside the pool, and what becomes of exceptions and waits in them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "core/status.h"

namespace weft_engine::core {

// ResourceExhausted; made once, so that no memory is needed when it is short (the Engine asks for it first).
const Status& out_of_memory();

// Cancelled: the caller interrupted the call (core/interrupt.h).
Status interrupted_call();

// Inside a catch block: the status that the exception comes to, ResourceExhausted for std::bad_alloc. Needs no memory where there is none.
Status status_of_exception() noexcept;

// f(), which gives a Status, with its exceptions as one.
template <class F>
Status without_exceptions(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return status_of_exception();
  }
}

// Starts a thread that nobody joins; ResourceExhausted where the system gives none. `body` must own all that it uses, since
// a process may end, or its interpreter, before the thread does.
Status start_thread(std::function<void()> body) noexcept;

// Processors that this process may use: those of its affinity mask, and no more than the quota of its control group allows.
int available_cpus();
// How many threads a pool has that nobody gave a number for: TF_NUM_INTRAOP_THREADS or TF_NUM_INTEROP_THREADS (`inter`), else available_cpus().
int default_threads(bool inter);

// Set when the process is about to end while threads of the engine may stand still for ever (an interpreter that ends lets no
// other thread in): from then on nobody waits for another thread for long.
inline std::atomic<bool> process_ending{false};

// Waits for what another thread does. False: the process ends, and it was not done in time.
template <class Done>
bool wait_for_others(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Done done) {
  constexpr auto kSlice = std::chrono::milliseconds(100);
  while (!process_ending.load(std::memory_order_relaxed)) {
    if (changed.wait_for(lock, kSlice, done)) return true;
  }
  return changed.wait_for(lock, kSlice, done);
}

}  // namespace weft_engine::core

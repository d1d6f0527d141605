// Recursion that users' programs ask for: functions that call functions. How deep one run is in calls, across the threads that it hands work to,
// and room on the stack for the next call. Endless recursion ends with an error; what ends by itself runs, also on threads with small stacks.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/function_ref.h"
#include "core/status.h"

namespace weft_engine::core {

inline constexpr int kMostCallDepth = 10'000;  // calls of functions inside each other

// How deep the calling thread is.
int call_depth();
// For its lifetime the calling thread is as deep as the one that handed it the work.
class AdoptCallDepth {
 public:
  explicit AdoptCallDepth(int depth);
  ~AdoptCallDepth();
  AdoptCallDepth(const AdoptCallDepth&) = delete;

 private:
  int outer_;
};

// Bytes of stack below the caller; SIZE_MAX where the thread's bounds are not known.
size_t stack_left();
// Does the work: here, or, where the stack is nearly used up, on a thread with a stack of its own while this one waits.
// ResourceExhausted if the system gives no thread.
Status with_stack(FunctionRef<Status()> work);
// Always on such a thread: for compilers, whose walks are as deep as the program's branches and loops.
Status with_large_stack(FunctionRef<Status()> work);
// with_stack, one call deeper. InvalidArgument beyond kMostCallDepth.
Status call_deeper(std::string_view function, FunctionRef<Status()> call);

}  // namespace weft_engine::core

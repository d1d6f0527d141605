#include "core/call_depth.h"

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace weft_engine::core {
namespace {

constexpr size_t kReserve = 512 << 10;      // for what runs between two looks: kernels, passes
constexpr size_t kLargeStack = 64 << 20;    // address space; memory is used as far as it is touched
#ifdef __SANITIZE_THREAD__
constexpr size_t kMostUsed = 2 << 20;       // of one stack: the thread sanitizer records at most 65,536 frames, and dies of one more
#else
constexpr size_t kMostUsed = SIZE_MAX;
#endif
constexpr size_t kFreshStack = kMostUsed < kLargeStack ? 2 * kMostUsed : kLargeStack;
constexpr size_t kLeastStack = 4 << 20;     // where the system does not give as much

struct Here {
  int depth = 0;
  bool known = false;
  uintptr_t low = 0, high = 0;  // of this thread's stack
};
constinit thread_local Here here;

void find_bounds(Here& h) {
  h.known = true;
  pthread_attr_t attr;
  if (pthread_getattr_np(pthread_self(), &attr) != 0) return;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attr, &low, &size) == 0) {
    h.low = reinterpret_cast<uintptr_t>(low);
    h.high = h.low + size;
  }
  pthread_attr_destroy(&attr);
}

size_t left_of(Here& h) {
  if (!h.known) [[unlikely]]
    find_bounds(h);
  const auto at = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (at <= h.low || at > h.high) return SIZE_MAX;
  const size_t used = h.high - at;
  return used < kMostUsed ? std::min(at - h.low, kMostUsed - used) : 0;
}

// A quarter of a small stack is all that one can keep free.
bool enough(Here& h) {
  const size_t left = left_of(h);
  return left >= kReserve || (left != SIZE_MAX && left >= (h.high - h.low) / 4);
}

struct Task {
  FunctionRef<Status()> work;
  int depth;
  Status status;
  std::exception_ptr thrown;
};

void* run_task(void* p) {
  Task& t = *static_cast<Task*>(p);
  const AdoptCallDepth adopt(t.depth);
  try {
    t.status = t.work();
  } catch (...) {
    t.thrown = std::current_exception();
  }
  return nullptr;
}

Status on_fresh_stack(FunctionRef<Status()> work, size_t most = kFreshStack) {
  Task task{work, here.depth, {}, nullptr};
  for (size_t size = most; size >= kLeastStack; size /= 4) {
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) break;
    pthread_t thread;
    const bool started = pthread_attr_setstacksize(&attr, size) == 0 && pthread_create(&thread, &attr, run_task, &task) == 0;
    pthread_attr_destroy(&attr);
    if (!started) continue;
    pthread_join(thread, nullptr);
    if (task.thrown) std::rethrow_exception(task.thrown);
    return std::move(task.status);
  }
  return resource_exhausted("calls nest too deeply for the stack of this thread, and the system gives no further one (call depth ", here.depth, ")");
}

}  // namespace

int call_depth() { return here.depth; }

AdoptCallDepth::AdoptCallDepth(int depth) : outer_(here.depth) { here.depth = depth; }
AdoptCallDepth::~AdoptCallDepth() { here.depth = outer_; }

size_t stack_left() { return left_of(here); }

Status with_stack(FunctionRef<Status()> work) {
  if (enough(here)) [[likely]]
    return work();
  return on_fresh_stack(work);
}

Status with_large_stack(FunctionRef<Status()> work) { return on_fresh_stack(work, kLargeStack); }

Status call_deeper(std::string_view function, FunctionRef<Status()> call) {
  Here& h = here;  // looked up once: a call of a small function notices more
  if (h.depth >= kMostCallDepth)
    return invalid_argument("Function calls nest more than ", kMostCallDepth, " deep at function '", function,
                            "'. Does a function call itself without end?");
  ++h.depth;
  const struct Back {
    Here& h;
    ~Back() { --h.depth; }
  } back{h};
  return enough(h) ? call() : on_fresh_stack(call);
}

}  // namespace weft_engine::core

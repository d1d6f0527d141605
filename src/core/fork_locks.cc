// Every lock of the engine takes part in a fork, whoever declares it: the linker gives calls of pthread's locks from the engine's own files to the
// functions at the end of this file (`--wrap`, src/CMakeLists.txt), which note in a thread's slot what it holds. A fork then
//   - closes a gate: a thread that holds none of these locks does not get its first one,
//   - waits for the others to give theirs back, for kForkWaitLimit at most: one of them may need Python's lock, which the forking thread has,
//   - holds the mutexes that threads in condition variables will come back to.
// In the child all locks are free, and what they guard is whole, but for the locks of threads that were too slow: those are made new there. So are
// condition variables with waiters, which would wait for these in their destructors.
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

// Weak, since a program that may be linked without `--wrap`, and then has no gate.
#define WEFT_REAL(result, name, ...)                          \
  extern "C" [[gnu::weak]] result __real_##name(__VA_ARGS__); \
  extern "C" [[gnu::visibility("hidden")]] result __wrap_##name(__VA_ARGS__)
#define WEFT_CV_WAIT _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
#define WEFT_REAL_NAME(name) WEFT_REAL_NAME_2(name)
#define WEFT_REAL_NAME_2(name) __real_##name
#define WEFT_WRAP_NAME(name) WEFT_WRAP_NAME_2(name)
#define WEFT_WRAP_NAME_2(name) __wrap_##name

WEFT_REAL(int, pthread_mutex_lock, pthread_mutex_t*);
WEFT_REAL(int, pthread_mutex_trylock, pthread_mutex_t*);
WEFT_REAL(int, pthread_mutex_unlock, pthread_mutex_t*);
WEFT_REAL(int, pthread_rwlock_rdlock, pthread_rwlock_t*);
WEFT_REAL(int, pthread_rwlock_tryrdlock, pthread_rwlock_t*);
WEFT_REAL(int, pthread_rwlock_wrlock, pthread_rwlock_t*);
WEFT_REAL(int, pthread_rwlock_trywrlock, pthread_rwlock_t*);
WEFT_REAL(int, pthread_rwlock_unlock, pthread_rwlock_t*);
WEFT_REAL(int, pthread_cond_timedwait, pthread_cond_t*, pthread_mutex_t*, const timespec*);
WEFT_REAL(int, pthread_cond_clockwait, pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
WEFT_REAL(int, __cxa_guard_acquire, int64_t*);
WEFT_REAL(void, __cxa_guard_release, int64_t*);
WEFT_REAL(void, __cxa_guard_abort, int64_t*);
extern "C" [[gnu::weak]] void WEFT_REAL_NAME(WEFT_CV_WAIT)(std::condition_variable*, std::unique_lock<std::mutex>*);
extern "C" [[gnu::visibility("hidden")]] void WEFT_WRAP_NAME(WEFT_CV_WAIT)(std::condition_variable*, std::unique_lock<std::mutex>*);

namespace weft_engine::core {
namespace {

constexpr auto kForkWaitLimit = std::chrono::milliseconds(250);
constexpr auto kPoll = std::chrono::microseconds(100);
constexpr int kPolls = 20'000;  // at the gate: for ever, unless other handlers of the fork wait for this thread
constexpr int kNoted = 30;      // locks of one thread at one time; those beyond are counted only

enum Kind : uintptr_t { kMutex, kReadWrite, kGuard };  // in the low bits of a lock's address

struct Slot {
  std::atomic<int> depth{0};  // locks that the thread holds or, as its first, waits for
  std::atomic<uintptr_t> held[kNoted] = {};  // those that it holds; 0 at the one that it waits for
  // Of a thread in a condition variable.
  std::atomic<pthread_mutex_t*> mutex{nullptr};
  std::atomic<pthread_cond_t*> condition{nullptr};
  std::atomic<bool> used{true};
  Slot* next = nullptr;
};

std::atomic<Slot*> slots{nullptr};  // of all threads; they are used again and never freed
std::atomic<int> closed{0};
std::atomic<Slot*> forking{nullptr};  // of the thread that closed the gate
pthread_key_t at_thread_end;

constinit thread_local Slot* own_slot = nullptr;

void before_fork();
void after_fork(bool child);

void prepare_once() {
  static std::atomic<int> state{0};  // not a guarded static: those come here
  int expected = 0;
  if (state.compare_exchange_strong(expected, 1)) {
    pthread_key_create(&at_thread_end, [](void* slot) {
      own_slot = nullptr;
      static_cast<Slot*>(slot)->used.store(false, std::memory_order_release);
    });
    pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
    state.store(2);
  }
  while (state.load() != 2) std::this_thread::yield();
}

[[gnu::noinline, gnu::cold]] Slot* make_slot() {
  prepare_once();
  Slot* slot = slots.load();
  for (bool unused = false; slot; slot = slot->next, unused = false) {
    if (!slot->used.load(std::memory_order_relaxed) && slot->used.compare_exchange_strong(unused, true)) break;
  }
  if (!slot) {
    slot = new (std::nothrow) Slot;
    if (!slot) return nullptr;  // the thread's locks are not noted
    slot->next = slots.load();
    while (!slots.compare_exchange_weak(slot->next, slot)) {
    }
  }
  pthread_setspecific(at_thread_end, slot);
  return own_slot = slot;
}

inline Slot* slot_of_thread() {
  Slot* slot = own_slot;
  return slot ? slot : make_slot();
}

[[gnu::noinline, gnu::cold]] void wait_for_gate(Slot* slot) {
  do {
    slot->depth.store(0, std::memory_order_release);
    for (int i = 0; closed.load() && i < kPolls; ++i) std::this_thread::sleep_for(kPoll);
    if (closed.load()) return slot->depth.store(1, std::memory_order_relaxed);
    slot->depth.exchange(1);
  } while (closed.load());
}

// In front of a lock. The forking thread's membarrier is the other half of the fence.
inline Slot* enter() {
  Slot* slot = slot_of_thread();
  if (!slot) [[unlikely]]
    return nullptr;
  const int depth = slot->depth.load(std::memory_order_relaxed);
  slot->depth.store(depth + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (depth == 0 && closed.load(std::memory_order_relaxed) && slot != forking.load()) [[unlikely]]
    wait_for_gate(slot);
  return slot;
}

inline void note(Slot* slot, void* lock, Kind kind) {
  if (!slot) [[unlikely]]
    return;
  const int i = slot->depth.load(std::memory_order_relaxed) - 1;
  if (i < kNoted) slot->held[i].store(reinterpret_cast<uintptr_t>(lock) | kind, std::memory_order_relaxed);
}

inline void leave(Slot* slot) {
  if (slot) slot->depth.store(slot->depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

[[gnu::noinline]] void forget_below(Slot* slot, uintptr_t word, int depth) {
  const int noted = std::min(depth, kNoted);
  int i = noted - 1;
  while (i >= 0 && slot->held[i].load(std::memory_order_relaxed) != word) --i;
  if (i < 0 && depth <= kNoted) return;  // locked while there was no memory for a slot
  if (i >= 0) {
    for (; i + 1 < noted; ++i) slot->held[i].store(slot->held[i + 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
    slot->held[i].store(0, std::memory_order_relaxed);
  }
  leave(slot);
}

// Behind an unlock. Locks are mostly given back in the reverse order.
inline void forget(Slot* slot, void* lock, Kind kind) {
  if (!slot) [[unlikely]]
    return;
  const uintptr_t word = reinterpret_cast<uintptr_t>(lock) | kind;
  const int depth = slot->depth.load(std::memory_order_relaxed), i = depth - 1;
  if (unsigned(i) < unsigned(kNoted) && slot->held[i].load(std::memory_order_relaxed) == word) [[likely]] {
    slot->held[i].store(0, std::memory_order_relaxed);
    slot->depth.store(i, std::memory_order_release);
  } else {
    forget_below(slot, word, depth);
  }
}

inline int entered(int result, Slot* slot, void* lock, Kind kind) {
  if (result == 0) note(slot, lock, kind);
  else leave(slot);
  return result;
}

// Around a wait, which gives the mutex back and takes it again.
template <class Wait>
auto wait_in(pthread_cond_t* condition, pthread_mutex_t* mutex, Wait wait) {
  Slot* slot = slot_of_thread();
  if (!slot) [[unlikely]]
    return wait();
  slot->condition.store(condition, std::memory_order_relaxed);
  slot->mutex.store(mutex, std::memory_order_relaxed);
  forget(slot, mutex, kMutex);
  struct Back {
    Slot* slot;
    pthread_mutex_t* mutex;
    ~Back() {
      const int depth = slot->depth.load(std::memory_order_relaxed);
      slot->depth.store(depth + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (depth == 0 && closed.load(std::memory_order_relaxed) && slot != forking.load()) [[unlikely]] {
        // The fork takes this mutex itself; a wait may return early, so that coming back later changes nothing.
        slot->depth.store(0, std::memory_order_release);
        __real_pthread_mutex_unlock(mutex);
        wait_for_gate(slot);
        __real_pthread_mutex_lock(mutex);
      }
      slot->mutex.store(nullptr, std::memory_order_relaxed);
      slot->condition.store(nullptr, std::memory_order_relaxed);
      note(slot, mutex, kMutex);
    }
  } back{slot, mutex};
  return wait();
}

// What the forking thread took of threads in condition variables.
struct Taken {
  pthread_mutex_t* all[256];
  int count = 0;
  bool has(pthread_mutex_t* m) const { return std::find(all, all + count, m) != all + count; }
  bool take(pthread_mutex_t* m) {
    if (has(m)) return true;
    if (count == 256 || __real_pthread_mutex_trylock(m) != 0) return false;
    all[count++] = m;
    return true;
  }
};
Taken taken;
std::atomic<bool> fork_running{false};  // one at a time

bool settled(Slot& slot) {
  if (&slot == forking.load()) return true;
  if (slot.depth.load(std::memory_order_acquire) != 0) return false;
  pthread_mutex_t* const mutex = slot.mutex.load(std::memory_order_acquire);
  return !mutex || taken.take(mutex);
}

bool forking_holds(const void* lock, Kind kind) {
  Slot* const slot = forking.load();
  const uintptr_t word = reinterpret_cast<uintptr_t>(lock) | kind;
  return slot && std::any_of(slot->held, slot->held + kNoted, [&](const auto& h) { return h.load(std::memory_order_relaxed) == word; });
}

void before_fork() {
  while (fork_running.exchange(true)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  forking.store(slot_of_thread());
  taken.count = 0;
  closed.store(1);
#ifdef SYS_membarrier
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
#endif
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // no store waits that long to be seen
  const auto until = std::chrono::steady_clock::now() + kForkWaitLimit;
  for (;;) {
    bool all = true;
    for (Slot* s = slots.load(); s; s = s->next) all &= settled(*s);
    if (all || std::chrono::steady_clock::now() > until) return;
    std::this_thread::sleep_for(kPoll);
  }
}

// In the child: frees what the slot's thread, which is not there, holds.
void free_locks_of(Slot& slot) {
  for (int i = kNoted; i-- > 0;) {
    const uintptr_t word = slot.held[i].exchange(0);
    const Kind kind = Kind(word & 3);
    void* const lock = reinterpret_cast<void*>(word & ~uintptr_t(3));
    if (!lock || forking_holds(lock, kind)) continue;
    if (kind == kMutex) {
      auto* m = static_cast<pthread_mutex_t*>(lock);
      const int recursive = m->__data.__kind;
      *m = PTHREAD_MUTEX_INITIALIZER;
      m->__data.__kind = recursive;
    } else if (kind == kReadWrite) {
      *static_cast<pthread_rwlock_t*>(lock) = PTHREAD_RWLOCK_INITIALIZER;
    } else {
      __real___cxa_guard_abort(static_cast<int64_t*>(lock));  // the static is made again
    }
  }
  if (pthread_cond_t* c = slot.condition.load(std::memory_order_relaxed)) *c = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t* const mutex = slot.mutex.load(std::memory_order_relaxed);
  if (mutex && !taken.has(mutex) && !forking_holds(mutex, kMutex)) *mutex = PTHREAD_MUTEX_INITIALIZER;
  slot.mutex.store(nullptr, std::memory_order_relaxed);
  slot.condition.store(nullptr, std::memory_order_relaxed);
  slot.depth.store(0, std::memory_order_relaxed);
  slot.used.store(false, std::memory_order_relaxed);
}

void after_fork(bool child) {
  if (child) {
    for (Slot* s = slots.load(); s; s = s->next) {
      if (s != forking.load()) free_locks_of(*s);
    }
  }
  for (int i = 0; i < taken.count; ++i) __real_pthread_mutex_unlock(taken.all[i]);
  taken.count = 0;
  forking.store(nullptr);
  closed.store(0);
  fork_running.store(false);
}

}  // namespace
}  // namespace weft_engine::core

namespace core = weft_engine::core;

int __wrap_pthread_mutex_lock(pthread_mutex_t* m) {
  core::Slot* slot = core::enter();
  return core::entered(__real_pthread_mutex_lock(m), slot, m, core::kMutex);
}
int __wrap_pthread_mutex_trylock(pthread_mutex_t* m) {
  core::Slot* slot = core::enter();
  return core::entered(__real_pthread_mutex_trylock(m), slot, m, core::kMutex);
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t* m) {
  const int result = __real_pthread_mutex_unlock(m);
  core::forget(core::own_slot, m, core::kMutex);
  return result;
}
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t* m) {
  core::Slot* slot = core::enter();
  return core::entered(__real_pthread_rwlock_rdlock(m), slot, m, core::kReadWrite);
}
int __wrap_pthread_rwlock_tryrdlock(pthread_rwlock_t* m) {
  core::Slot* slot = core::enter();
  return core::entered(__real_pthread_rwlock_tryrdlock(m), slot, m, core::kReadWrite);
}
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t* m) {
  core::Slot* slot = core::enter();
  return core::entered(__real_pthread_rwlock_wrlock(m), slot, m, core::kReadWrite);
}
int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t* m) {
  core::Slot* slot = core::enter();
  return core::entered(__real_pthread_rwlock_trywrlock(m), slot, m, core::kReadWrite);
}
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t* m) {
  const int result = __real_pthread_rwlock_unlock(m);
  core::forget(core::own_slot, m, core::kReadWrite);
  return result;
}
int __wrap_pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return core::wait_in(c, m, [&] { return __real_pthread_cond_timedwait(c, m, until); });
}
int __wrap_pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  return core::wait_in(c, m, [&] { return __real_pthread_cond_clockwait(c, m, clock, until); });
}
void WEFT_WRAP_NAME(WEFT_CV_WAIT)(std::condition_variable* c, std::unique_lock<std::mutex>* lock) {
  core::wait_in(c->native_handle(), lock->mutex()->native_handle(), [&] { WEFT_REAL_NAME(WEFT_CV_WAIT)(c, lock); });
}
int __wrap___cxa_guard_acquire(int64_t* guard) {
  core::Slot* slot = core::enter();
  const int mine = __real___cxa_guard_acquire(guard);
  core::entered(mine ? 0 : 1, slot, guard, core::kGuard);
  return mine;
}
void __wrap___cxa_guard_release(int64_t* guard) {
  __real___cxa_guard_release(guard);
  core::forget(core::own_slot, guard, core::kGuard);
}
void __wrap___cxa_guard_abort(int64_t* guard) {
  __real___cxa_guard_abort(guard);
  core::forget(core::own_slot, guard, core::kGuard);
}

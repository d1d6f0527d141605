#include "core/fork.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <new>
#include <thread>

namespace weft::core {
namespace {

std::atomic<int> generation{0};

struct Locks {
  std::mutex mutex;
  std::mutex* all[16] = {};
  bool held[16] = {};
  int count = 0;
};
Locks& locks() {
  alignas(Locks) static std::byte place[sizeof(Locks)];
  static Locks* made = new (place) Locks;
  return *made;
}

// A thread that waits for another of these locks, with one of them in hand, would wait for us: so each is tried for a while only.
bool lock_for_a_while(std::mutex& m) {
  for (int i = 0; i < 1000; ++i) {
    if (m.try_lock()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return false;
}

void before() {
  Locks& l = locks();
  l.mutex.lock();
  for (int i = 0; i < l.count; ++i) l.held[i] = lock_for_a_while(*l.all[i]);
}

void after(bool child) {
  Locks& l = locks();
  for (int i = 0; i < l.count; ++i) {
    if (l.held[i]) l.all[i]->unlock();
    else if (child) new (l.all[i]) std::mutex;  // of a thread that is not here
  }
  l.mutex.unlock();
}

}  // namespace

int fork_generation() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  return generation.load(std::memory_order_relaxed);
}

void hold_while_forking(std::mutex& mutex) {
  [[maybe_unused]] static const int registered = pthread_atfork(before, [] { after(false); }, [] { after(true); });
  Locks& l = locks();
  std::lock_guard lock(l.mutex);
  if (l.count < int(std::size(l.all))) l.all[l.count++] = &mutex;
}

}  // namespace weft::core

#include "core/fork.h"

#include <pthread.h>

#include <atomic>

namespace weft_engine::core {

int fork_generation() {
  static std::atomic<int> generation{0};
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  return generation.load(std::memory_order_relaxed);
}

}  // namespace weft_engine::core

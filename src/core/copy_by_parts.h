// Copies that are worth several threads: one moves a few bytes a nanosecond, and finds pages that were never used on its way.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/thread_pool.h"

namespace weft_engine::core {

inline void copy_by_parts(ThreadPool& pool, void* to, const void* from, size_t bytes) {
  constexpr size_t kPart = size_t(64) << 10;
  constexpr double kNanoseconds = 8000;  // of a part
  if (bytes < 2 * kPart) {
    if (bytes) std::memcpy(to, from, bytes);
    return;
  }
  pool.parallel_for(int64_t((bytes + kPart - 1) / kPart), kNanoseconds, [&](int64_t begin, int64_t end) {
    const size_t first = size_t(begin) * kPart;
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, std::min(size_t(end) * kPart, bytes) - first);
  });
}

}  // namespace weft_engine::core

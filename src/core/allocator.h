// Host memory for tensors: 64-byte aligned, counted, and limited so that a request beyond the machine's
// memory is refused instead of killing the process later. Small blocks are kept in per-thread lists.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft_engine::core {

inline constexpr size_t kAlignment = 64;

struct AllocatorStats {
  int64_t num_allocs = 0;
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = 0;
  int64_t largest_alloc_size = 0;
  int64_t bytes_limit = 0;
};

// nullptr when the limit or the system refuses. Blocks of up to kSmallBlock bytes come from a
// per-thread list and count in the statistics when the list takes them from the system.
void* host_allocate(size_t bytes) noexcept;
void host_free(void* p, size_t bytes) noexcept;

AllocatorStats host_stats();
void reset_peak_stats();
// By default the memory of the machine (or of its control group).
void set_host_limit(int64_t bytes);

}  // namespace weft_engine::core

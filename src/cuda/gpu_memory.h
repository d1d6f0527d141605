// The memory of a GPU: the driver's stream-ordered pool, in front of it lists of blocks that were freed. All work of a GPU is on one stream, so
// a block that was freed may be given out again at once.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/allocator.h"
#include "cuda/gpu.h"

namespace weft_engine::cuda {

class GpuMemory {
 public:
  GpuMemory(Gpu& gpu, void* pool, int64_t limit) : gpu_(gpu), pool_(pool), limit_(limit) {}

  core::Result<DevicePtr> allocate(size_t bytes);
  void free(DevicePtr at);
  core::AllocatorStats stats() const;
  void reset_peak();
  core::Status trim();
  std::string holders() const;

 private:
  struct Block {
    size_t bytes;
    const char* op;
  };
  // In bytes: rounded up so that few sizes are kept.
  static size_t rounded(size_t bytes);
  void drop_spare();  // back to the driver; with the lock held

  Gpu& gpu_;
  void* const pool_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<DevicePtr, Block> live_;
  std::map<size_t, std::vector<DevicePtr>> spare_;  // by size
  size_t spare_bytes_ = 0;
  core::AllocatorStats stats_;
};

}  // namespace weft_engine::cuda

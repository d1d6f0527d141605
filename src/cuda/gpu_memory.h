// The memory of a GPU: the driver's stream-ordered pool, in front of it lists of blocks that were freed. All work of a GPU is on one stream, so
// a block that was freed may be given out again at once.
#pragma once

#include <deque>
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
  // A block for a copy on another stream than the one of all work. That stream must wait for the event, which is the block's for as long as it lives: blocks that were freed rest here,
  // so that what the stream waits for is long over.
  core::Result<std::pair<DevicePtr, void*>> allocate_for_copy(size_t bytes);
  void free(DevicePtr at);
  core::AllocatorStats stats() const;
  void reset_peak();
  core::Status trim();
  std::string holders() const;

 private:
  struct Block {
    size_t bytes;
    const char* op;
    void* event;  // of a block for copies
  };
  struct Resting {
    DevicePtr at;
    void* event;  // since when nobody uses it
  };
  // In bytes: rounded up so that few sizes are kept.
  static size_t rounded(size_t bytes);
  void count(size_t size);
  core::Result<DevicePtr> take(size_t size);  // these with the lock held
  void drop_spare();  // back to the driver

  Gpu& gpu_;
  void* const pool_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<DevicePtr, Block> live_;
  std::map<size_t, std::vector<DevicePtr>> spare_;  // by size
  std::map<size_t, std::deque<Resting>> resting_;  // likewise, the first freed in front
  size_t spare_bytes_ = 0;
  core::AllocatorStats stats_;
};

}  // namespace weft_engine::cuda

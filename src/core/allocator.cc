#include "core/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/thread_local.h"

namespace weft_engine::core {
namespace {

constexpr size_t kSmallBlock = 1024;
constexpr size_t kClassSize = 64;
constexpr size_t kClasses = kSmallBlock / kClassSize;
// Blocks of one class that a thread holds back: enough for the values of a wide graph of scalars.
#if defined(__SANITIZE_ADDRESS__)
constexpr int keep(size_t) { return 0; }  // reuse would hide what the sanitizer looks for
#else
constexpr int keep(size_t block) { return std::max(64, int((192 << 10) / block)); }
#endif

std::atomic<int64_t> num_allocs{0}, in_use{0}, peak{0}, largest{0}, limit{0};

int64_t machine_memory() {
  int64_t bytes = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (FILE* f = std::fopen(path, "r")) {
      long long v = 0;
      if (std::fscanf(f, "%lld", &v) == 1 && v > 0 && v < bytes) bytes = v;
      std::fclose(f);
    }
  }
  return bytes;
}

int64_t current_limit() {
  int64_t v = limit.load(std::memory_order_relaxed);
  if (v == 0) {
    v = machine_memory();
    limit.store(v, std::memory_order_relaxed);
  }
  return v;
}

// Large blocks are kept for the next request of about their size: the system hands out such memory as fresh
// pages, and faulting them in costs more than most kernels spend on them.
class LargeBlocks {
 public:
  void* take(size_t bytes) {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < count_; ++i) {
      if (blocks_[i].bytes < bytes || blocks_[i].bytes > bytes + bytes / 4) continue;
      void* p = blocks_[i].p;
      held_ -= blocks_[i].bytes;
      blocks_[i] = blocks_[--count_];
      return p;
    }
    return nullptr;
  }
  // False: no room, the caller frees it.
  bool keep(void* p, size_t bytes) {
    std::lock_guard lock(mutex_);
    if (count_ == kMost || held_ + bytes > kMostBytes) return false;
    blocks_[count_++] = {p, bytes};
    held_ += bytes;
    return true;
  }

 private:
  static constexpr size_t kMost = 48, kMostBytes = size_t(512) << 20;  // a training step of a few hundred images and their gradients
  struct Block {
    void* p;
    size_t bytes;
  };
  std::mutex mutex_;
  Block blocks_[kMost] = {};
  size_t count_ = 0, held_ = 0;
};

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kLargeBlock = SIZE_MAX;  // no reuse, as above
#else
constexpr size_t kLargeBlock = size_t(4) << 20;
#endif

// Blocks between the small and the large ones, in four classes for each power of two. The system's allocator gives
// freed memory back and faults it in again; a step that runs over and over would pay for that each time.
class MediumBlocks {
 public:
  static constexpr size_t kMostBytes = size_t(192) << 20;
  // The size of the class that `bytes` falls into.
  static size_t round(size_t bytes) {
    const size_t quarter = std::bit_floor(bytes) / 4;
    return (bytes + quarter - 1) / quarter * quarter;
  }
  void* take(size_t rounded) {
    std::lock_guard lock(mutex_);
    Block*& head = heads_[index(rounded)];
    Block* b = head;
    if (!b) return nullptr;
    head = b->next;
    held_ -= rounded;
    return b;
  }
  bool keep(void* p, size_t rounded) {
    std::lock_guard lock(mutex_);
    if (held_ + rounded > kMostBytes) return false;
    Block*& head = heads_[index(rounded)];
    head = new (p) Block{head};
    held_ += rounded;
    return true;
  }

 private:
  struct Block {
    Block* next;
  };
  static size_t index(size_t rounded) {
    const size_t log = size_t(std::bit_width(rounded)) - 1;
    return (log - 10) * 4 + (rounded >> (log - 2) & 3);
  }
  std::mutex mutex_;
  Block* heads_[64] = {};  // from 1 kB to beyond the largest
  size_t held_ = 0;
};

MediumBlocks& medium_blocks() {
  alignas(MediumBlocks) static std::byte place[sizeof(MediumBlocks)];  // asked for where memory is short, too
  static MediumBlocks* blocks = new (place) MediumBlocks;
  return *blocks;
}

bool is_medium(size_t bytes) { return bytes > kSmallBlock && bytes < kLargeBlock && kLargeBlock != SIZE_MAX; }

LargeBlocks& large_blocks() {
  alignas(LargeBlocks) static std::byte place[sizeof(LargeBlocks)];
  static LargeBlocks* blocks = new (place) LargeBlocks;  // tensors may outlive static destructors
  return *blocks;
}

// Arrays that are larger than the reach of the address caches are walked a good deal faster on large pages.
void* allocate_large(size_t bytes) noexcept {
  constexpr size_t kLargePage = size_t(2) << 20;
  void* p = nullptr;
  if (posix_memalign(&p, kLargePage, bytes) != 0) return nullptr;  // unlike aligned_alloc, takes any size
  madvise(p, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // a hint that the kernel may ignore
  return p;
}

void* system_allocate(size_t bytes) noexcept {
  const int64_t size = int64_t(bytes);
  if (size < 0) return nullptr;
  const int64_t before = in_use.fetch_add(size, std::memory_order_relaxed);
  if (before > current_limit() - size) {
    in_use.fetch_sub(size, std::memory_order_relaxed);
    return nullptr;
  }
  void* p = nullptr;
  if (is_medium(bytes)) {
    const size_t rounded = MediumBlocks::round(bytes);
    p = medium_blocks().take(rounded);
    if (!p) p = std::aligned_alloc(kAlignment, rounded);
  } else {
    if (bytes >= kLargeBlock) p = large_blocks().take(bytes);
    if (!p) p = bytes >= kLargeBlock ? allocate_large(bytes) : std::aligned_alloc(kAlignment, bytes);
  }
  if (!p) {
    in_use.fetch_sub(size, std::memory_order_relaxed);
    return nullptr;
  }
  num_allocs.fetch_add(1, std::memory_order_relaxed);
  int64_t now = before + size, old = peak.load(std::memory_order_relaxed);
  while (now > old && !peak.compare_exchange_weak(old, now, std::memory_order_relaxed)) {
  }
  old = largest.load(std::memory_order_relaxed);
  while (size > old && !largest.compare_exchange_weak(old, size, std::memory_order_relaxed)) {
  }
  return p;
}

void system_free(void* p, size_t bytes) noexcept {
  in_use.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
  if (is_medium(bytes) && medium_blocks().keep(p, MediumBlocks::round(bytes))) return;
  if (bytes >= kLargeBlock && large_blocks().keep(p, bytes)) return;
  std::free(p);
}

// A block freed on another thread than the one that made it simply joins that thread's list.
struct ThreadLists {
  struct Block {
    Block* next;
  };
  Block* head[kClasses] = {};
  int room[kClasses];  // how many more blocks may wait
  ThreadLists() {
    for (size_t c = 0; c < kClasses; ++c) room[c] = keep((c + 1) * kClassSize);
  }
  ~ThreadLists() {
    for (size_t c = 0; c < kClasses; ++c) {
      while (Block* b = head[c]) {
        head[c] = b->next;
        system_free(b, (c + 1) * kClassSize);
      }
    }
  }
};

}  // namespace

void* host_allocate(size_t bytes) noexcept {
  if (bytes == 0) bytes = 1;
  if (bytes > size_t(1) << 60) return nullptr;
  const size_t rounded = (bytes + kClassSize - 1) & ~(kClassSize - 1);
  if (rounded <= kSmallBlock) {
    const size_t c = rounded / kClassSize - 1;
    ThreadLists* mine = ThreadLocal<ThreadLists>::get();
    if (ThreadLists::Block* b = mine ? mine->head[c] : nullptr) {
      mine->head[c] = b->next;
      ++mine->room[c];
      return b;
    }
  }
  return system_allocate(rounded);
}

void host_free(void* p, size_t bytes) noexcept {
  if (!p) return;
  if (bytes == 0) bytes = 1;
  const size_t rounded = (bytes + kClassSize - 1) & ~(kClassSize - 1);
  if (rounded <= kSmallBlock) {
    const size_t c = rounded / kClassSize - 1;
    if (ThreadLists* mine = ThreadLocal<ThreadLists>::get(); mine && mine->room[c] > 0) {
      --mine->room[c];
      mine->head[c] = new (p) ThreadLists::Block{mine->head[c]};
      return;
    }
  }
  system_free(p, rounded);
}

AllocatorStats host_stats() { return {num_allocs.load(), in_use.load(), peak.load(), largest.load(), current_limit()}; }

void reset_peak_stats() { peak.store(in_use.load()); }
void set_host_limit(int64_t bytes) { limit.store(std::max<int64_t>(bytes, 1)); }

}  // namespace weft_engine::core

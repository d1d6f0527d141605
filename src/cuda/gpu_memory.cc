#include "cuda/gpu_memory.h"

#include <algorithm>
#include <cstdio>

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::Result;
using core::Status;

constexpr size_t kSmallest = 256;
constexpr size_t kSmall = size_t(1) << 20;        // larger blocks are rounded less
constexpr size_t kMostKept = size_t(256) << 20;  // of one block
constexpr int64_t kSparePart = 8;                // at most this part of the limit is kept
constexpr size_t kMostResting = 2;                // of a size: the copy beside a step goes to the block of the step before it
constexpr size_t kMostHolders = 8;               // named in an error

thread_local const char* allocating_for = nullptr;

std::string in_units(int64_t bytes) {
  const char* units[] = {" bytes", "KiB", "MiB", "GiB"};
  double n = double(bytes);
  int u = 0;
  for (; n >= 1024 && u < 3; ++u) n /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, u ? "%.1f%s" : "%.0f%s", n, units[u]);
  return text;
}

}  // namespace

AllocatingFor::AllocatingFor(const char* op) : outer_(allocating_for) { allocating_for = op; }
AllocatingFor::~AllocatingFor() { allocating_for = outer_; }

// Four steps between powers of two; 64 where that is much.
size_t GpuMemory::rounded(size_t bytes) {
  if (bytes <= kSmallest) return kSmallest;
  size_t power = kSmallest;
  while (power * 2 < bytes) power *= 2;
  const size_t step = std::max<size_t>(power / (bytes <= kSmall ? 4 : 64), kSmallest);
  return (bytes + step - 1) / step * step;
}

void GpuMemory::drop_spare() {
  for (const auto& [bytes, blocks] : spare_) {
    for (DevicePtr at : blocks) gpu_.driver().free(at, gpu_.stream());
  }
  for (const auto& [bytes, blocks] : resting_) {
    for (const Resting& r : blocks) {
      gpu_.driver().free(r.at, gpu_.stream());
      gpu_.driver().destroy_event(r.event);
    }
  }
  spare_.clear();
  resting_.clear();
  spare_bytes_ = 0;
}

Result<DevicePtr> GpuMemory::allocate(size_t bytes) {
  const size_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const DevicePtr at, take(size));
  live_[at] = {size, allocating_for, nullptr};
  return at;
}

Result<std::pair<DevicePtr, void*>> GpuMemory::allocate_for_copy(size_t bytes) {
  const size_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  std::deque<Resting>& resting = resting_[size];
  if (resting.size() >= kMostResting) {
    const Resting r = resting.front();
    resting.pop_front();
    spare_bytes_ -= size;
    count(size);
    live_[r.at] = {size, allocating_for, r.event};
    return std::pair(r.at, r.event);
  }
  WEFT_RETURN_IF_ERROR(gpu_.use());
  void* event = nullptr;
  WEFT_CUDA_RETURN(gpu_.driver(), create_event(&event, kNoTiming), "making an event");
  auto at = take(size);
  if (!at.ok()) {
    gpu_.driver().destroy_event(event);
    return at.status();
  }
  live_[*at] = {size, allocating_for, event};
  WEFT_CUDA_RETURN(gpu_.driver(), record_event(event, gpu_.stream()), "recording an event");
  return std::pair(*at, event);
}

// It is in use from here on.
void GpuMemory::count(size_t size) {
  ++stats_.num_allocs;
  stats_.bytes_in_use += int64_t(size);
  stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_alloc_size = std::max(stats_.largest_alloc_size, int64_t(size));
}

Result<DevicePtr> GpuMemory::take(size_t size) {
  DevicePtr at = 0;
  if (const auto it = spare_.find(size); it != spare_.end() && !it->second.empty()) {
    at = it->second.back();
    it->second.pop_back();
    spare_bytes_ -= size;
  } else {
    WEFT_RETURN_IF_ERROR(gpu_.use());
    Error error = kOutOfMemory;
    if (stats_.bytes_in_use + int64_t(size) <= limit_) {
      if (stats_.bytes_in_use + int64_t(size + spare_bytes_) > limit_) drop_spare();
      error = gpu_.driver().allocate(&at, size, pool_, gpu_.stream());
      if (error == kOutOfMemory) {  // perhaps what was freed is in pieces, or still in use
        drop_spare();
        if (!gpu_.driver().wait_for_stream(gpu_.stream())) {
          gpu_.driver().trim_pool(pool_, 0);
          error = gpu_.driver().allocate(&at, size, pool_, gpu_.stream());
        }
      }
    }
    if (error) return gpu_.driver().status(error, "taking memory of the GPU");
  }
  count(size);
  return at;
}

void GpuMemory::free(DevicePtr at) {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(at);
  if (it == live_.end()) return;
  const size_t size = it->second.bytes;
  void* const event = it->second.event;
  live_.erase(it);
  stats_.bytes_in_use -= int64_t(size);
  if (event) {
    std::deque<Resting>& resting = resting_[size];
    if (resting.size() < kMostResting && spare_bytes_ + size <= size_t(limit_ / kSparePart) && gpu_.use().ok() &&
        gpu_.driver().record_event(event, gpu_.stream()) == 0) {
      resting.push_back({at, event});
      spare_bytes_ += size;
      return;
    }
    if (gpu_.use().ok()) gpu_.driver().destroy_event(event);
  }
  if (size <= kMostKept && spare_bytes_ + size <= size_t(limit_ / kSparePart)) {
    spare_[size].push_back(at);
    spare_bytes_ += size;
  } else if (gpu_.use().ok()) {
    gpu_.driver().free(at, gpu_.stream());  // at the end of the process the driver may be gone before
  }
}

core::AllocatorStats GpuMemory::stats() const {
  const std::lock_guard lock(mutex_);
  core::AllocatorStats s = stats_;
  s.bytes_limit = limit_;
  return s;
}

void GpuMemory::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak_bytes_in_use = stats_.bytes_in_use;
}

Status GpuMemory::trim() {
  const std::lock_guard lock(mutex_);
  drop_spare();
  WEFT_CUDA_RETURN(gpu_.driver(), wait_for_stream(gpu_.stream()), "waiting for the GPU");
  WEFT_CUDA_RETURN(gpu_.driver(), trim_pool(pool_, 0), "giving memory back");
  return {};
}

std::string GpuMemory::holders() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::pair<int64_t, int>> by_op;
  for (const auto& [at, block] : live_) {
    auto& [bytes, count] = by_op[block.op ? block.op : "copies from the host"];
    bytes += int64_t(block.bytes);
    ++count;
  }
  std::vector<std::pair<std::string, std::pair<int64_t, int>>> rows(by_op.begin(), by_op.end());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::string out = cat(in_units(stats_.bytes_in_use), " of ", in_units(limit_), " in use");
  for (size_t i = 0; i < rows.size() && i < kMostHolders; ++i)
    out += cat(i ? ", " : ": ", in_units(rows[i].second.first), " in ", rows[i].second.second, " of ", rows[i].first);
  if (rows.size() > kMostHolders) out += cat(", and ", rows.size() - kMostHolders, " more");
  return out;
}

}  // namespace weft_engine::cuda

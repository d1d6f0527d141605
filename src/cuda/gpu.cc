#include "cuda/gpu.h"

#include <algorithm>
#include <cstring>

#include "cuda/gpu_memory.h"

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::Result;
using core::Status;

constexpr size_t kPieceBytes = size_t(4) << 20;
constexpr size_t kPieces = 4;
constexpr size_t kDriverStages = size_t(64) << 10;  // the driver takes what is smaller out of pageable memory before it returns
constexpr size_t kErrorWords = 1024;
constexpr int64_t kReserve = int64_t(512) << 20;  // for libraries and the driver
constexpr unsigned kNonBlocking = 1, kNoTiming = 2, kPortable = 1;  // CU_STREAM_NON_BLOCKING, CU_EVENT_DISABLE_TIMING, CU_MEMHOSTALLOC_PORTABLE

}  // namespace

Gpu::Gpu(const Driver& driver, int number) : driver_(driver), number_(number) {}
Gpu::~Gpu() = default;

Result<std::vector<Gpu*>> Gpu::all() {
  static std::mutex mutex;
  static auto* gpus = new std::vector<Gpu*>();
  static bool asked = false;
  const std::lock_guard lock(mutex);
  if (asked) return *gpus;
  auto d = cuda::driver();
  if (!d.ok()) {
    asked = true;
    if (d.status().code() == core::Code::kNotFound) return *gpus;
    return d.status();
  }
  int count = 0;
  const Error error = (*d)->device_count(&count);
  if (error == kNoDevice) count = 0;
  else if (error) return (*d)->status(error, "counting GPUs");
  std::vector<Gpu*> made;
  for (int i = 0; i < count; ++i) {
    std::unique_ptr<Gpu> gpu(new Gpu(**d, i));
    WEFT_RETURN_IF_ERROR(gpu->read_facts());
    made.push_back(gpu.release());
  }
  asked = true;
  *gpus = std::move(made);
  return *gpus;
}

Status Gpu::read_facts() {
  char text[256] = {};
  WEFT_CUDA_RETURN(driver_, device(&device_, number_), "finding a GPU");
  WEFT_CUDA_RETURN(driver_, device_name(text, sizeof text - 1, device_), "asking for a GPU's name");
  name_ = text;
  WEFT_CUDA_RETURN(driver_, pci_bus_id(text, sizeof text - 1, device_), "asking for a GPU's bus");
  pci_bus_id_ = text;
  std::transform(pci_bus_id_.begin(), pci_bus_id_.end(), pci_bus_id_.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  WEFT_CUDA_RETURN(driver_, device_attribute(&major_, Attribute::kMajor, device_), "asking for a GPU's capability");
  WEFT_CUDA_RETURN(driver_, device_attribute(&minor_, Attribute::kMinor, device_), "asking for a GPU's capability");
  WEFT_CUDA_RETURN(driver_, device_attribute(&multiprocessors_, Attribute::kMultiprocessors, device_), "asking for a GPU's processors");
  size_t bytes = 0;
  WEFT_CUDA_RETURN(driver_, device_memory(&bytes, device_), "asking for a GPU's memory");
  memory_bytes_ = int64_t(bytes);
  return {};
}

std::string Gpu::description() const {
  return cat("device: ", number_, ", name: ", name_, ", pci bus id: ", pci_bus_id_, ", compute capability: ", major_, ".", minor_);
}

int64_t Gpu::memory_limit() const {
  if (options_.limit > 0) return std::min(options_.limit, memory_bytes_);
  if (options_.fraction > 0) return std::min(int64_t(options_.fraction * double(memory_bytes_)), memory_bytes_);
  return std::max(memory_bytes_ - kReserve, memory_bytes_ / 2);
}

Status Gpu::set_memory_options(const MemoryOptions& options) {
  const std::lock_guard lock(start_mutex_);
  if (started_) return core::failed_precondition("Physical devices cannot be modified after being initialized");
  options_ = options;
  return {};
}

Status Gpu::start() {
  const std::lock_guard lock(start_mutex_);
  if (started_) return {};
  WEFT_RETURN_IF_ERROR(start_status_);
  const auto try_start = [&]() -> Status {
    int pools = 0;
    WEFT_CUDA_RETURN(driver_, device_attribute(&pools, Attribute::kMemoryPools, device_), "asking for memory pools");
    if (!pools) return core::unimplemented("GPU ", number_, " (", name_, ") has no memory pools, which weft needs: its driver is too old");
    WEFT_CUDA_RETURN(driver_, retain_context(&context_, device_), "starting a GPU");
    WEFT_CUDA_RETURN(driver_, set_context(context_), "starting a GPU");
    WEFT_CUDA_RETURN(driver_, create_stream(&stream_, kNonBlocking), "making a stream");
    PoolProperties properties;
    properties.device = device_;
    void* pool = nullptr;
    WEFT_CUDA_RETURN(driver_, create_pool(&pool, &properties), "making a memory pool");
    uint64_t keep_all = UINT64_MAX;
    WEFT_CUDA_RETURN(driver_, set_pool_attribute(pool, PoolAttribute::kReleaseThreshold, &keep_all), "setting up a memory pool");
    pool_ = std::make_unique<GpuMemory>(*this, pool, memory_limit());
    if (!options_.growth) {
      size_t free_bytes = 0, total = 0;
      WEFT_CUDA_RETURN(driver_, memory_info(&free_bytes, &total), "asking for free memory");
      const size_t wanted = std::min(size_t(memory_limit()), free_bytes > size_t(kReserve) ? free_bytes - size_t(kReserve) : free_bytes);
      DevicePtr all = 0;
      WEFT_CUDA_RETURN(driver_, allocate(&all, wanted, pool, stream_), "taking all memory of a GPU");
      WEFT_CUDA_RETURN(driver_, free(all, stream_), "taking all memory of a GPU");
    }
    WEFT_CUDA_RETURN(driver_, allocate(&error_words_, kErrorWords * sizeof(int32_t), pool, stream_), "taking memory of the GPU");
    WEFT_CUDA_RETURN(driver_, fill(error_words_, 0, kErrorWords * sizeof(int32_t), stream_), "setting memory of the GPU");
    return {};
  };
  start_status_ = try_start();
  WEFT_RETURN_IF_ERROR(start_status_);
  started_.store(true, std::memory_order_release);
  return {};
}

Status Gpu::use() {
  if (!started_.load(std::memory_order_acquire)) [[unlikely]] {
    WEFT_RETURN_IF_ERROR(start());
  }
  WEFT_CUDA_RETURN(driver_, set_context(context_), "choosing a GPU");
  return {};
}

Result<DevicePtr> Gpu::allocate(size_t bytes) {
  WEFT_RETURN_IF_ERROR(use());
  return pool_->allocate(bytes);
}

void Gpu::free(DevicePtr at) {
  if (use().ok()) pool_->free(at);
}

core::AllocatorStats Gpu::stats() const {
  if (!started_.load(std::memory_order_acquire)) return {0, 0, 0, 0, memory_limit()};
  return pool_->stats();
}

void Gpu::reset_peak() {
  if (started_.load(std::memory_order_acquire)) pool_->reset_peak();
}

Status Gpu::trim() {
  WEFT_RETURN_IF_ERROR(use());
  return pool_->trim();
}

std::string Gpu::holders() const { return started_.load(std::memory_order_acquire) ? pool_->holders() : std::string(); }

Status Gpu::make_pieces() {
  if (!pieces_.empty()) return {};
  std::vector<Piece> made(kPieces);
  for (Piece& p : made) {
    WEFT_CUDA_RETURN(driver_, allocate_pinned(&p.memory, kPieceBytes, kPortable), "taking pinned memory");
    WEFT_CUDA_RETURN(driver_, create_event(&p.event, kNoTiming), "making an event");
  }
  pieces_ = std::move(made);
  return {};
}

Status Gpu::copy_to_device(DevicePtr to, const void* from, size_t bytes) {
  if (!bytes) return {};
  WEFT_RETURN_IF_ERROR(use());
  if (bytes <= kDriverStages) {
    WEFT_CUDA_RETURN(driver_, copy_to_device(to, from, bytes, stream_), "copying to the GPU");
    return {};
  }
  const std::lock_guard lock(staging_mutex_);
  WEFT_RETURN_IF_ERROR(make_pieces());
  for (size_t at = 0; at < bytes; at += kPieceBytes) {
    const size_t n = std::min(kPieceBytes, bytes - at);
    Piece& p = pieces_[next_piece_++ % kPieces];
    if (p.used) WEFT_CUDA_RETURN(driver_, wait_for_event(p.event), "waiting for a copy");
    std::memcpy(p.memory, static_cast<const char*>(from) + at, n);
    WEFT_CUDA_RETURN(driver_, copy_to_device(to + at, p.memory, n, stream_), "copying to the GPU");
    WEFT_CUDA_RETURN(driver_, record_event(p.event, stream_), "recording an event");
    p.used = true;
  }
  return {};
}

Status Gpu::copy_to_host(void* to, DevicePtr from, size_t bytes) {
  WEFT_RETURN_IF_ERROR(use());
  if (bytes) {
    const std::lock_guard lock(staging_mutex_);
    WEFT_RETURN_IF_ERROR(make_pieces());
    struct Under {
      Piece* piece;
      size_t at, bytes;
    };
    std::vector<Under> under;  // way, oldest first
    size_t done = 0;
    const auto finish_one = [&]() -> Status {
      const Under& u = under[done++];
      WEFT_CUDA_RETURN(driver_, wait_for_event(u.piece->event), "waiting for a copy from the GPU");
      std::memcpy(static_cast<char*>(to) + u.at, u.piece->memory, u.bytes);
      return {};
    };
    for (size_t at = 0; at < bytes; at += kPieceBytes) {
      if (under.size() - done == kPieces) WEFT_RETURN_IF_ERROR(finish_one());
      Piece& p = pieces_[next_piece_++ % kPieces];
      if (p.used) WEFT_CUDA_RETURN(driver_, wait_for_event(p.event), "waiting for a copy");
      const size_t n = std::min(kPieceBytes, bytes - at);
      WEFT_CUDA_RETURN(driver_, copy_to_host(p.memory, from + at, n, stream_), "copying from the GPU");
      WEFT_CUDA_RETURN(driver_, record_event(p.event, stream_), "recording an event");
      p.used = true;
      under.push_back({&p, at, n});
    }
    while (done < under.size()) WEFT_RETURN_IF_ERROR(finish_one());
  }
  std::unique_lock lock(errors_mutex_);
  return check_errors(lock);
}

Status Gpu::copy(DevicePtr to, DevicePtr from, size_t bytes) {
  if (!bytes || to == from) return {};
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, copy_on_device(to, from, bytes, stream_), "copying on the GPU");
  return {};
}

Status Gpu::fill_zero(DevicePtr at, size_t bytes) {
  if (!bytes) return {};
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, fill(at, 0, bytes, stream_), "setting memory of the GPU");
  return {};
}

Status Gpu::wait() {
  if (!started_.load(std::memory_order_acquire)) return {};
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, wait_for_stream(stream_), "waiting for the GPU");
  std::unique_lock lock(errors_mutex_);
  return check_errors(lock);
}

// Words are left 0 by those who find no error, so they need not be set again.
Status Gpu::check_errors(std::unique_lock<std::mutex>&) {
  if (error_owners_.empty()) return {};
  std::vector<int32_t> words(error_owners_.size());
  WEFT_CUDA_RETURN(driver_, copy_to_host(words.data(), error_words_, words.size() * sizeof(int32_t), stream_), "reading errors of kernels");
  WEFT_CUDA_RETURN(driver_, wait_for_stream(stream_), "waiting for the GPU");
  Status first;
  bool any = false;
  for (size_t i = 0; i < words.size(); ++i) {
    any = any || words[i] != 0;
    if (!first.ok() || words[i] <= 0 || size_t(words[i]) > error_owners_[i]->size()) continue;
    first = core::invalid_argument((*error_owners_[i])[size_t(words[i] - 1)]);
  }
  if (queuing_ == 0) error_owners_.clear();  // kernels that are still to be launched have their words
  if (any) WEFT_CUDA_RETURN(driver_, fill(error_words_, 0, words.size() * sizeof(int32_t), stream_), "setting memory of the GPU");
  return first;
}

Result<DevicePtr> Gpu::error_word(std::shared_ptr<const std::vector<std::string>> messages) {
  WEFT_RETURN_IF_ERROR(use());
  std::unique_lock lock(errors_mutex_);
  while (error_owners_.size() == kErrorWords) {
    all_queued_.wait(lock, [this] { return queuing_ == 0; });
    WEFT_RETURN_IF_ERROR(check_errors(lock));
  }
  error_owners_.push_back(std::move(messages));
  ++queuing_;
  return error_words_ + (error_owners_.size() - 1) * sizeof(int32_t);
}

void Gpu::queued() {
  const std::lock_guard lock(errors_mutex_);
  if (--queuing_ == 0) all_queued_.notify_all();
}

}  // namespace weft_engine::cuda

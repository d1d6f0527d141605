#include "cuda/gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "core/copy_by_parts.h"
#include "core/fork.h"
#include "cuda/gpu_memory.h"

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::Result;
using core::Status;

constexpr size_t kPieceBytes = size_t(4) << 20;
constexpr size_t kPieces = 4;
constexpr int kCopyThreads = 4;  // into pinned memory
constexpr size_t kDriverStages = size_t(64) << 10;  // the driver takes what is smaller out of pageable memory before it returns
constexpr size_t kMostBeside = size_t(64) << 20;
constexpr size_t kErrorWords = 1 << 16;  // programs at a time whose kernels may find errors
constexpr size_t kLittle = size_t(64) << 10;  // values up to this size are read together with the words of errors
constexpr int64_t kReserve = int64_t(512) << 20;  // for libraries and the driver
constexpr unsigned kNonBlocking = 1, kPortable = 1;  // CU_STREAM_NON_BLOCKING, CU_MEMHOSTALLOC_PORTABLE
constexpr int kRelaxed = 2;                                         // CU_STREAM_CAPTURE_MODE_RELAXED: libraries may load kernels meanwhile

int fork_of_driver = 0;  // the process, in a chain of forks, that started the driver

// Of their own: who copies a batch may be a thread of another pool.
core::ThreadPool& copy_threads() {
  static auto& pool = *new core::ThreadPool(kCopyThreads);
  return pool;
}

}  // namespace

bool without(const char* way) {
  static const std::string& all = *new std::string([] {
    const char* text = std::getenv("WEFT_GPU_WITHOUT");
    return cat(",", text ? text : "", ",");
  }());
  return all.find(cat(",", way, ",")) != std::string::npos;
}

Gpu::Gpu(const Driver& driver, int number) : driver_(driver), number_(number) {}
Gpu::~Gpu() = default;

// A driver that is broken stays so: the error is told to everybody who asks.
Result<std::vector<Gpu*>> Gpu::all() {
  static const auto& found = *new Result<std::vector<Gpu*>>([]() -> Result<std::vector<Gpu*>> {
    std::vector<Gpu*> gpus;
    auto d = cuda::driver();
    if (!d.ok()) {
      if (d.status().code() == core::Code::kNotFound) return gpus;
      return d.status();
    }
    int count = 0;
    const Error error = (*d)->device_count(&count);
    if (error == kNoDevice) return gpus;
    if (error) return (*d)->status(error, "counting GPUs");
    fork_of_driver = core::fork_generation();
    std::vector<std::unique_ptr<Gpu>> made;
    for (int i = 0; i < count; ++i) {
      made.emplace_back(new Gpu(**d, i));
      WEFT_RETURN_IF_ERROR(made.back()->query_properties());
    }
    for (auto& gpu : made) gpus.push_back(gpu.release());
    return gpus;
  }());
  return found;
}

Status Gpu::query_properties() {
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
    WEFT_CUDA_RETURN(driver_, create_stream(&copy_stream_, kNonBlocking), "making a stream");
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
  if (core::fork_generation() != fork_of_driver) [[unlikely]]
    return core::failed_precondition("GPU ", number_, " belongs to the process that this one was forked from: CUDA does not work in both. Start ",
                                     "processes that use GPUs by spawn (multiprocessing.set_start_method), or fork before the first use of weft");
  if (!started_.load(std::memory_order_acquire)) [[unlikely]] {
    WEFT_RETURN_IF_ERROR(start());
  }
  // Others in the process have the same context where there is one GPU; with several, whoever was last has chosen.
  thread_local const void* chosen = nullptr;
  static const bool only = [] {
    const auto gpus = all();
    return gpus.ok() && gpus->size() == 1;
  }();
  if (only && chosen == context_) return {};
  WEFT_CUDA_RETURN(driver_, set_context(context_), "choosing a GPU");
  chosen = context_;
  return {};
}

Result<DevicePtr> Gpu::allocate(size_t bytes) {
  if (!started_.load(std::memory_order_acquire)) WEFT_RETURN_IF_ERROR(start());
  return pool_->allocate(bytes);
}

void Gpu::free(DevicePtr at) { pool_->free(at); }

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

// A piece for one copy; given back at the end of it in any case.
class Gpu::Taken {
 public:
  explicit Taken(Gpu& gpu, Piece* piece) : gpu_(gpu), piece_(piece) {}
  Taken(Taken&& other) noexcept : gpu_(other.gpu_), piece_(std::exchange(other.piece_, nullptr)) {}
  Taken& operator=(Taken&&) = delete;
  ~Taken() {
    if (piece_) gpu_.release_staging(piece_);
  }
  Piece* operator->() const { return piece_; }

 private:
  Gpu& gpu_;
  Piece* piece_;
};

Result<Gpu::Piece*> Gpu::acquire_staging(bool wait) {
  std::unique_lock lock(staging_mutex_);
  if (pieces_.empty()) {
    std::vector<Piece> made(kPieces);
    for (Piece& p : made) {
      WEFT_CUDA_RETURN(driver_, allocate_pinned(&p.memory, kPieceBytes, kPortable), "taking pinned memory");
      WEFT_CUDA_RETURN(driver_, create_event(&p.event, kNoTiming), "making an event");
    }
    pieces_ = std::move(made);
    for (Piece& p : pieces_) free_pieces_.push_back(&p);
  }
  if (free_pieces_.empty() && !wait) return nullptr;
  piece_given_.wait(lock, [this] { return !free_pieces_.empty(); });
  Piece* const piece = free_pieces_.front();  // the one that was given back first: most likely the GPU is done with it
  free_pieces_.erase(free_pieces_.begin());
  lock.unlock();
  if (piece->used) {
    if (const Error error = driver_.wait_for_event(piece->event)) {
      release_staging(piece);
      return driver_.status(error, "waiting for a copy");
    }
  }
  return piece;
}

void Gpu::release_staging(Piece* piece) {
  const std::lock_guard lock(staging_mutex_);
  free_pieces_.push_back(piece);
  piece_given_.notify_one();
}

Status Gpu::copy_to_device(DevicePtr to, const void* from, size_t bytes) {
  if (!bytes) return {};
  WEFT_RETURN_IF_ERROR(use());
  if (bytes <= kDriverStages) {
    WEFT_CUDA_RETURN(driver_, copy_to_device(to, from, bytes, stream_), "copying to the GPU");
    return {};
  }
  return copy_by_pieces(to, from, bytes, stream_);
}

bool Gpu::copies_beside(size_t bytes) {
  static const bool allowed = !without("overlap");
  return allowed && bytes > kDriverStages && bytes <= kMostBeside;
}

Result<DevicePtr> Gpu::copy_beside(const void* from, size_t bytes) {
  WEFT_RETURN_IF_ERROR(use());
  WEFT_ASSIGN(const auto block, pool_->allocate_for_copy(bytes));
  const auto [to, event] = block;
  const auto queue = [&]() -> Status {
    WEFT_CUDA_RETURN(driver_, stream_waits(copy_stream_, event, 0), "waiting for memory");
    WEFT_RETURN_IF_ERROR(copy_by_pieces(to, from, bytes, copy_stream_));
    WEFT_CUDA_RETURN(driver_, record_event(event, copy_stream_), "recording an event");
    WEFT_CUDA_RETURN(driver_, stream_waits(stream_, event, 0), "waiting for a copy");
    return {};
  };
  if (Status s = queue(); !s.ok()) {
    free(to);
    return s;
  }
  return to;
}

Status Gpu::copy_by_pieces(DevicePtr to, const void* from, size_t bytes, void* stream) {
  for (size_t at = 0; at < bytes; at += kPieceBytes) {
    const size_t n = std::min(kPieceBytes, bytes - at);
    WEFT_ASSIGN(Piece* piece, acquire_staging(true));
    const Taken taken(*this, piece);
    core::copy_by_parts(copy_threads(), piece->memory, static_cast<const char*>(from) + at, n);
    WEFT_CUDA_RETURN(driver_, copy_to_device(to + at, piece->memory, n, stream), "copying to the GPU");
    WEFT_CUDA_RETURN(driver_, record_event(piece->event, stream), "recording an event");
    piece->used = true;
  }
  return {};
}

// Who waits for a value has pinned memory of its own: those that copy to the GPU meanwhile do not wait for it.
Result<Gpu::Piece*> Gpu::acquire_reader() {
  const std::lock_guard lock(staging_mutex_);
  if (free_readers_.empty()) {
    auto made = std::make_unique<Piece>();
    WEFT_CUDA_RETURN(driver_, create_event(&made->event, kNoTiming), "making an event");
    if (const Error error = driver_.allocate_pinned(&made->memory, kLittle + kErrorWords * sizeof(int32_t), kPortable)) {
      driver_.destroy_event(made->event);
      return driver_.status(error, "taking pinned memory");
    }
    readers_.push_back(std::move(made));
    return readers_.back().get();
  }
  Piece* const reader = free_readers_.back();
  free_readers_.pop_back();
  return reader;
}

// A value and the words of errors in one go, with one event to wait for: what others queue meanwhile is none of the reader's business.
Status Gpu::copy_little_to_host(void* to, DevicePtr from, size_t bytes) {
  WEFT_ASSIGN(Piece* const reader, acquire_reader());
  const auto read = [&]() -> Status {
    auto* const memory = static_cast<char*>(reader->memory);
    std::unique_lock lock(errors_mutex_, std::defer_lock);
    size_t words = 0;
    if (errors_possible_.exchange(false, std::memory_order_acq_rel)) {
      lock.lock();
      words = error_owners_.size();
    }
    if (bytes) WEFT_CUDA_RETURN(driver_, copy_to_host(memory, from, bytes, stream_), "copying from the GPU");
    if (words) WEFT_CUDA_RETURN(driver_, copy_to_host(memory + kLittle, error_words_, words * sizeof(int32_t), stream_), "reading errors of kernels");
    WEFT_CUDA_RETURN(driver_, record_event(reader->event, stream_), "recording an event");
    WEFT_CUDA_RETURN(driver_, wait_for_event(reader->event), "waiting for a copy from the GPU");
    if (bytes) std::memcpy(to, memory, bytes);
    return words ? first_error(reinterpret_cast<const int32_t*>(memory + kLittle), words) : Status();
  };
  Status s = read();
  const std::lock_guard lock(staging_mutex_);
  free_readers_.push_back(reader);
  return s;
}

Status Gpu::copy_to_host(void* to, DevicePtr from, size_t bytes) {
  WEFT_RETURN_IF_ERROR(use());
  if (bytes <= kLittle) return copy_little_to_host(to, from, bytes);
  struct Under {
    Taken piece;
    size_t at, bytes;
  };
  std::deque<Under> under;  // way, oldest first
  const auto finish_one = [&]() -> Status {
    const Under& u = under.front();
    WEFT_CUDA_RETURN(driver_, wait_for_event(u.piece->event), "waiting for a copy from the GPU");
    std::memcpy(static_cast<char*>(to) + u.at, u.piece->memory, u.bytes);
    under.pop_front();
    return {};
  };
  for (size_t at = 0; at < bytes;) {
    WEFT_ASSIGN(Piece* piece, acquire_staging(under.empty()));  // who has some does not wait for more
    if (!piece) {
      WEFT_RETURN_IF_ERROR(finish_one());
      continue;
    }
    Taken taken(*this, piece);
    const size_t n = std::min(kPieceBytes, bytes - at);
    WEFT_CUDA_RETURN(driver_, copy_to_host(piece->memory, from + at, n, stream_), "copying from the GPU");
    WEFT_CUDA_RETURN(driver_, record_event(piece->event, stream_), "recording an event");
    piece->used = true;
    under.push_back({std::move(taken), at, n});
    at += n;
  }
  while (!under.empty()) WEFT_RETURN_IF_ERROR(finish_one());
  return check_errors();
}

Status Gpu::copy(DevicePtr to, DevicePtr from, size_t bytes, void* stream) {
  if (!bytes || to == from) return {};
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, copy_on_device(to, from, bytes, stream ? stream : stream_), "copying on the GPU");
  return {};
}

Status Gpu::copy(const BoxCopy& box, void* stream) {
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, copy_box(&box, stream ? stream : stream_), "copying on the GPU");
  return {};
}

Status Gpu::fill_zero(DevicePtr at, size_t bytes, void* stream) {
  if (!bytes) return {};
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, fill(at, 0, bytes, stream ? stream : stream_), "setting memory of the GPU");
  return {};
}

Status Gpu::wait() {
  if (!started_.load(std::memory_order_acquire)) return {};
  WEFT_RETURN_IF_ERROR(use());
  WEFT_CUDA_RETURN(driver_, wait_for_stream(stream_), "waiting for the GPU");
  return check_errors();
}

// Words are left 0 by those who find no error; of the others each is set back by itself, since kernels that are queued meanwhile may write theirs.
Status Gpu::check_errors() {
  if (!errors_possible_.load(std::memory_order_acquire)) return {};
  return copy_little_to_host(nullptr, 0, 0);
}

// With the lock of errors held.
Status Gpu::first_error(const int32_t* words, size_t count) {
  Status first;
  for (size_t i = 0; i < count; ++i) {
    if (!words[i]) continue;
    WEFT_CUDA_RETURN(driver_, fill(error_words_ + i * sizeof(int32_t), 0, sizeof(int32_t), stream_), "setting memory of the GPU");
    if (!first.ok() || !error_owners_[i] || words[i] < 0 || size_t(words[i]) > error_owners_[i]->size()) continue;
    first = core::invalid_argument((*error_owners_[i])[size_t(words[i] - 1)]);
  }
  return first;
}

Result<DevicePtr> Gpu::acquire_error_word(std::shared_ptr<const std::vector<std::string>> messages) {
  WEFT_RETURN_IF_ERROR(use());
  const std::lock_guard lock(errors_mutex_);
  size_t i = size_t(std::find(error_owners_.begin(), error_owners_.end(), nullptr) - error_owners_.begin());
  if (i == kErrorWords) return core::resource_exhausted("more than ", kErrorWords, " programs on GPU ", number_);
  if (i == error_owners_.size()) error_owners_.emplace_back();
  error_owners_[i] = std::move(messages);
  return error_words_ + i * sizeof(int32_t);
}

void Gpu::give_error_word(DevicePtr word) {
  const std::lock_guard lock(errors_mutex_);
  (void)driver_.fill(word, 0, sizeof(int32_t), stream_);
  error_owners_[(word - error_words_) / sizeof(int32_t)] = nullptr;
}

Result<void*> Gpu::capture(const std::function<Status(void*)>& queue) {
  if (!driver_.graphs()) return nullptr;
  WEFT_RETURN_IF_ERROR(use());
  const std::lock_guard lock(capture_mutex_);
  if (!capture_stream_) WEFT_CUDA_RETURN(driver_, create_stream(&capture_stream_, kNonBlocking), "making a stream");
  WEFT_CUDA_RETURN(driver_, begin_capture(capture_stream_, kRelaxed), "recording work");
  const Status queued = queue(capture_stream_);
  void *graph = nullptr, *ready = nullptr;
  const Error ended = driver_.end_capture(capture_stream_, &graph);
  Error made = ended;
  if (queued.ok() && !ended && graph) made = driver_.make_ready(&ready, graph, 0);
  if (graph) driver_.destroy_graph(graph);
  if (ended || made) {  // a stream whose recording was broken off is of no use any more
    driver_.destroy_stream(capture_stream_);
    capture_stream_ = nullptr;
  }
  WEFT_RETURN_IF_ERROR(queued);
  WEFT_RETURN_IF_ERROR(driver_.status(made, "recording work"));
  return ready;
}

Status Gpu::launch(void* graph) {
  WEFT_CUDA_RETURN(driver_, launch_graph(graph, stream_), "launching a graph");
  return {};
}

void Gpu::destroy(void* graph) {
  if (use().ok()) driver_.destroy_ready(graph);
}

Result<double> Gpu::time(const std::function<Status()>& queue, int calls, int runs) {
  void *from = nullptr, *to = nullptr;
  WEFT_CUDA_RETURN(driver_, create_event(&from, 0), "making an event");
  double best = 0;
  const auto measure = [&]() -> Status {
    WEFT_CUDA_RETURN(driver_, create_event(&to, 0), "making an event");
    WEFT_RETURN_IF_ERROR(queue());  // kernels are loaded
    for (int run = 0; run < runs; ++run) {
      WEFT_CUDA_RETURN(driver_, record_event(from, stream_), "recording an event");
      for (int call = 0; call < calls; ++call) WEFT_RETURN_IF_ERROR(queue());
      WEFT_CUDA_RETURN(driver_, record_event(to, stream_), "recording an event");
      WEFT_CUDA_RETURN(driver_, wait_for_event(to), "waiting for the GPU");
      float ms = 0;
      WEFT_CUDA_RETURN(driver_, event_time(&ms, from, to), "measuring");
      const double us = double(ms) * 1e3 / calls;
      if (run == 0 || us < best) best = us;
    }
    return {};
  };
  const Status s = measure();
  driver_.destroy_event(from);
  if (to) driver_.destroy_event(to);
  WEFT_RETURN_IF_ERROR(s);
  return best;
}

}  // namespace weft_engine::cuda

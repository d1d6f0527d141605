// Gpu: one GPU of this machine as the process uses it: its context, the stream that all work goes to, memory, copies. There is one for each in a process, never
// destroyed: tensors in its memory may outlive everything. Nothing but a device's facts is asked of the driver before the first use.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/allocator.h"
#include "core/status.h"
#include "cuda/driver.h"

namespace weft_engine::cuda {

constexpr unsigned kNoTiming = 2;  // CU_EVENT_DISABLE_TIMING

class GpuMemory;

// For as long as it lives, memory that this thread takes is held in the name of an op. The text must stay.
class AllocatingFor {
 public:
  explicit AllocatingFor(const char* op);
  ~AllocatingFor();

 private:
  const char* outer_;
};

// How much memory a program may take of a GPU, and how. Before the first use.
struct MemoryOptions {
  int64_t limit = 0;  // bytes; 0: what the GPU has but for a reserve
  double fraction = 0;  // of the GPU's memory, where limit is 0; 0: all
  bool growth = true;  // false: all of the limit is taken at once
};

// Whether WEFT_GPU_WITHOUT (names with commas between them) names a way of computing that is not to be taken.
bool without(const char* way);

// Where a library puts its work.
struct Queue {
  void* stream = nullptr;
  bool recording = false;  // nothing runs: there is nothing to measure, and nothing may wait
};

class Gpu {
 public:
  ~Gpu();
  // Those that CUDA_VISIBLE_DEVICES leaves. Empty without a driver or a device; an error of a driver that is there is one.
  static core::Result<std::vector<Gpu*>> all();

  int number() const { return number_; }
  const std::string& name() const { return name_; }
  const std::string& pci_bus_id() const { return pci_bus_id_; }
  int major() const { return major_; }
  int minor() const { return minor_; }
  int multiprocessors() const { return multiprocessors_; }
  int64_t memory() const { return memory_bytes_; }
  int64_t memory_limit() const;
  // "device: 0, name: NVIDIA H200, pci bus id: 0000:01:00.0, compute capability: 9.0"
  std::string description() const;

  core::Status set_memory_options(const MemoryOptions& options);  // FailedPrecondition after the first use
  MemoryOptions memory_options() const { return options_; }

  // Makes the GPU this thread's; the first call starts it.
  core::Status use();
  const Driver& driver() const { return driver_; }
  void* stream() const { return stream_; }

  // Memory whose use begins after all that is queued so far. ResourceExhausted says who holds what.
  core::Result<DevicePtr> allocate(size_t bytes);
  void free(DevicePtr at);  // after all that is queued so far
  core::AllocatorStats stats() const;
  void reset_peak();
  // Gives memory that nobody uses back to the driver.
  core::Status trim();
  // "512.0MiB in 3 of MatMul; ...", the largest first.
  std::string holders() const;

  // Copies, in order with what is queued. to_device returns when `from` may change.
  core::Status copy_to_device(DevicePtr to, const void* from, size_t bytes);
  // The same into new memory, beside the work that is queued: what is queued from here on waits for it. For sizes of batches (copies_beside).
  core::Result<DevicePtr> copy_beside(const void* from, size_t bytes);
  static bool copies_beside(size_t bytes);
  core::Status copy_to_host(void* to, DevicePtr from, size_t bytes);  // waits
  core::Status copy(DevicePtr to, DevicePtr from, size_t bytes, void* stream = nullptr);  // null: the one that all work goes to
  core::Status copy(const BoxCopy& box, void* stream = nullptr);
  core::Status fill_zero(DevicePtr at, size_t bytes, void* stream = nullptr);
  // Waits for all that is queued. Gives the first error that a kernel found in its data since the last wait (see error_word).
  core::Status wait();

  // A word (int32, 0) that kernels put the number of an error into: 1 + its place in `messages`. A program has one for as long as it lives, so that its address stays
  // the same; may_fail() says that kernels which may write it are queued, and the host looks at it when it next waits.
  core::Result<DevicePtr> acquire_error_word(std::shared_ptr<const std::vector<std::string>> messages);
  void give_error_word(DevicePtr word);
  void may_fail() { errors_possible_.store(true, std::memory_order_release); }

  // Records what `queue` puts into the stream that it is given, without running it: a graph that can be launched again and again, with the same addresses. Null where the
  // driver has no graphs. One at a time; work of other threads goes on.
  core::Result<void*> capture(const std::function<core::Status(void* stream)>& queue);
  core::Status launch(void* graph);
  void destroy(void* graph);

  // How long one call of `queue` takes on the GPU, in microseconds: the least of `runs` times `calls` of them. Waits.
  core::Result<double> time(const std::function<core::Status()>& queue, int calls = 3, int runs = 3);

 private:
  friend class GpuMemory;
  Gpu(const Driver& driver, int number);
  core::Status query_properties();
  core::Status start();
  core::Status copy_by_pieces(DevicePtr to, const void* from, size_t bytes, void* stream);
  core::Status copy_little_to_host(void* to, DevicePtr from, size_t bytes);
  core::Status check_errors();
  core::Status first_error(const int32_t* words, size_t count);

  const Driver& driver_;
  const int number_;
  int device_ = 0, major_ = 0, minor_ = 0, multiprocessors_ = 0;
  int64_t memory_bytes_ = 0;
  std::string name_, pci_bus_id_;
  MemoryOptions options_;

  mutable std::mutex start_mutex_;
  std::atomic<bool> started_{false};
  core::Status start_status_;
  void *context_ = nullptr, *stream_ = nullptr, *copy_stream_ = nullptr;
  std::unique_ptr<GpuMemory> pool_;

  // Pinned memory that copies go through, piece by piece. A copy has its pieces to itself; those to the device give them back before the GPU has read them.
  struct Piece {
    void *memory = nullptr, *event = nullptr;
    bool used = false;
  };
  class Taken;
  std::mutex staging_mutex_;
  std::condition_variable piece_given_;
  std::vector<Piece> pieces_;
  std::vector<Piece*> free_pieces_;
  std::vector<std::unique_ptr<Piece>> readers_;  // for values that somebody waits for
  std::vector<Piece*> free_readers_;
  core::Result<Piece*> acquire_staging(bool wait);  // null: there is none, and nobody waits
  void release_staging(Piece* piece);
  core::Result<Piece*> acquire_reader();

  std::mutex capture_mutex_;
  void* capture_stream_ = nullptr;

  std::mutex errors_mutex_;
  std::atomic<bool> errors_possible_{false};
  DevicePtr error_words_ = 0;
  std::vector<std::shared_ptr<const std::vector<std::string>>> error_owners_;  // null: free
};

}  // namespace weft_engine::cuda

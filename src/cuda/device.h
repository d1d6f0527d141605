// CudaDevice: /device:GPU:n, a GPU (gpu.h) as a device of the engine.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/own_memory.h"
#include "cuda/gpu.h"
#include "op/registry.h"

namespace weft_engine::cuda {

class CudaDevice final : public core::OwnMemoryDevice {
 public:
  // `limit`: the bytes that its tensors may hold, where several devices share a GPU; 0: what the GPU may.
  CudaDevice(Gpu& gpu, int number, int64_t limit = 0);
  Gpu& gpu() { return gpu_; }

  core::Result<core::Tensor> allocate(core::DType dtype, const core::Shape& shape) override;
  core::AllocatorStats stats() const override;
  void reset_peak_stats();
  void copy_from(core::Device&, const core::Tensor& tensor, CopyDone done) override { done(copied_here(tensor)); }
  void copy_to_host(const core::Tensor& tensor, CopyDone done) override { done(copied_to_host(tensor)); }
  void* stream() override { return gpu_.use().ok() ? gpu_.stream() : nullptr; }
  void synchronize(std::function<void(core::Status)> done) override { done(gpu_.wait()); }

  // A tensor of this device with memory of its own and the same contents.
  core::Result<core::Tensor> duplicate(const core::Tensor& tensor);

 private:
  // `from`: what is to be in it, copied beside the work that is queued; null: nothing.
  core::Result<core::Tensor> allocate_with(core::DType dtype, const core::Shape& shape, const void* from);
  core::Result<core::Tensor> copied_here(const core::Tensor& tensor);
  core::Result<core::Tensor> copied_to_host(const core::Tensor& tensor);
  Gpu& gpu_;
  const int64_t limit_;
  struct Held {  // by its tensors, which may outlive it
    std::mutex mutex;
    core::AllocatorStats stats;
  };
  const std::shared_ptr<Held> held_ = std::make_shared<Held>();
};

inline DevicePtr address(const core::Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.raw()); }

// All GPUs of this machine; empty where there is no driver.
std::vector<Gpu*> physical_gpus();
// Which of them are devices of the sets that are made from here on, in this order; none: all.
void set_visible_gpus(std::optional<std::vector<int>> numbers);
// As how many devices such sets have a GPU, with the bytes that each may hold; none: as one that may hold all.
void set_logical_gpus(int number, std::vector<int64_t> limits);

// How much of a GPU's memory the program may take: ConfigProto's per_process_gpu_memory_fraction, where it is more than 0. What comes after a GPU's first use changes nothing there,
// as in TensorFlow; a line in the log says so.
core::Status set_memory_fraction(double fraction);

// Tells the engine of GPUs, if there is anything that looks like a driver: devices are made, and kernels for them registered, when devices are first asked for.
core::Status add_gpus(op::Registry& registry);

}  // namespace weft_engine::cuda

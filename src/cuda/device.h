// CudaDevice: /device:GPU:n, a GPU (gpu.h) as a device of the engine.
#pragma once

#include <optional>
#include <vector>

#include "core/own_memory.h"
#include "cuda/gpu.h"
#include "op/host_memory.h"
#include "op/registry.h"

namespace weft_engine::cuda {

class CudaDevice final : public core::OwnMemoryDevice {
 public:
  CudaDevice(Gpu& gpu, int number);
  Gpu& gpu() { return gpu_; }

  core::Result<core::Tensor> allocate(core::DType dtype, const core::Shape& shape) override;
  core::AllocatorStats stats() const override { return gpu_.stats(); }
  void reset_peak_stats() { gpu_.reset_peak(); }
  void copy_from(core::Device&, const core::Tensor& tensor, CopyDone done) override { done(copied_here(tensor)); }
  void copy_to_host(const core::Tensor& tensor, CopyDone done) override { done(copied_to_host(tensor)); }
  void* stream() override { return gpu_.use().ok() ? gpu_.stream() : nullptr; }
  void synchronize(std::function<void(core::Status)> done) override { done(gpu_.wait()); }

  // A tensor of this device with memory of its own and the same contents.
  core::Result<core::Tensor> duplicate(const core::Tensor& tensor);

 private:
  core::Result<core::Tensor> copied_here(const core::Tensor& tensor);
  core::Result<core::Tensor> copied_to_host(const core::Tensor& tensor);
  Gpu& gpu_;
};

inline DevicePtr address(const core::Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.raw()); }

// All GPUs of this machine; empty where there is no driver.
std::vector<Gpu*> physical_gpus();
// Which of them are devices of the sets that are made from here on, in this order; none: all.
void set_visible_gpus(std::optional<std::vector<int>> numbers);

// Tells the engine of GPUs, if there is anything that looks like a driver: devices are made, and kernels for them registered, when devices are first asked for.
core::Status add_gpus(op::Registry& registry, op::HostMemoryOf host_memory);

}  // namespace weft_engine::cuda

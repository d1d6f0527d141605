// RemoteDevice: a device of another process. Kernels do not run on it here: eager ops and functions are sent there (eager/remote.h).
#pragma once

#include "core/device.h"

namespace weft_engine::core {

class RemoteDevice : public Device {
 public:
  using Device::Device;
  // What is brought here from it is in host memory.
  bool host_memory() const final { return true; }
  Result<Tensor> allocate(DType, const Shape&) final {
    return internal_error("memory of ", name(), ", a device of another process, is not allocated here");
  }
  AllocatorStats stats() const final { return {}; }
  void copy_from(Device&, const Tensor& tensor, CopyDone done) final { done(tensor); }
  void synchronize(std::function<void(Status)> done) override { done({}); }
};

}  // namespace weft_engine::core

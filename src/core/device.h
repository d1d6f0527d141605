// Device: a place where kernels run and tensors live. The CPU is implemented here; a GPU and a remote
// host implement the same interface. Copies are asynchronous by contract: `done` may run on any thread,
// possibly before the call returns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/allocator.h"
#include "core/device_name.h"
#include "core/tensor.h"
#include "core/thread_pool.h"

namespace weft_engine::core {

class Device {
 public:
  using CopyDone = std::function<void(Result<Tensor>)>;

  Device(DeviceName name, int64_t memory_limit, std::string description);
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceName& parsed_name() const { return parsed_; }
  const std::string& name() const { return name_; }   // the full form
  const std::string& type() const { return *parsed_.type; }
  const std::string& description() const { return description_; }
  int64_t memory_limit() const { return memory_limit_; }
  uint64_t incarnation() const { return incarnation_; }

  // Are this device's tensors plain host memory?
  virtual bool host_memory() const = 0;
  virtual Result<Tensor> allocate(DType dtype, const Shape& shape) = 0;
  virtual AllocatorStats stats() const = 0;
  // Brings a tensor of `source` here, ordered after the work queued there.
  virtual void copy_from(Device& source, const Tensor& tensor, CopyDone done) = 0;
  // Calls done when all work queued so far has ended.
  virtual void synchronize(std::function<void(Status)> done) = 0;

 private:
  DeviceName parsed_;
  std::string name_, description_;
  int64_t memory_limit_;
  uint64_t incarnation_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int id);
  bool host_memory() const override { return true; }
  Result<Tensor> allocate(DType dtype, const Shape& shape) override { return Tensor::allocate(dtype, shape); }
  AllocatorStats stats() const override { return host_stats(); }
  void copy_from(Device& source, const Tensor& tensor, CopyDone done) override;
  void synchronize(std::function<void(Status)> done) override { done({}); }
};

// The devices of one process, found by full or partial name. Not changed after it is made.
class DeviceSet {
 public:
  explicit DeviceSet(std::vector<std::unique_ptr<Device>> devices);
  static std::unique_ptr<DeviceSet> cpus(int count);

  const std::vector<std::unique_ptr<Device>>& all() const { return devices_; }
  Device* host() const { return devices_.front().get(); }  // the first CPU
  Device* find(const DeviceName& name) const;              // the first that matches; null if none
  // The device that a user's text names; with soft placement, a name that matches nothing gives null.
  Result<Device*> resolve(std::string_view text, bool soft_placement) const;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace weft_engine::core

// Devices whose tensors do not lie in host memory: those of plug-ins (capi/pluggable_device.cc) and GPUs. Who holds a tensor may ask whose
// memory it lies in, and have it brought elsewhere; the runtime does so where values pass from one device to another, and so kernels see their
// inputs where they expect them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/device.h"

namespace weft_engine::core {

class OwnMemoryDevice : public Device {
 public:
  using Device::Device;
  bool host_memory() const final { return false; }
  // Brings a tensor of this device into host memory, ordered after the work queued here. copy_from() brings one here from wherever it lies.
  virtual void copy_to_host(const Tensor& tensor, CopyDone done) = 0;
  // The queue that kernels put their work into, as the library of the device knows it.
  virtual void* stream() = 0;

 protected:
  // A tensor in memory of this device; `release` is called once, when nothing uses the memory any more.
  Tensor adopt(DType dtype, const Shape& shape, void* data, size_t bytes, std::function<void()> release);
};

// Whose memory it lies in; null: host memory.
OwnMemoryDevice* memory_of(const Tensor& tensor);
// How many blocks such devices have given out: without one there is nothing to look for. Eager calls ask this first.
extern std::atomic<int64_t> own_memory_blocks;
inline bool lies_elsewhere(const Tensor& tensor) { return own_memory_blocks.load(std::memory_order_relaxed) != 0 && memory_of(tensor); }
// The tensor in host memory, or in that of a device. Waits for the copy where there is one to make; types that only the host knows (strings,
// resources, variants) stay where they are.
Result<Tensor> to_host(const Tensor& tensor);
Result<Tensor> to_device(const Tensor& tensor, Device& device);
// Of many, in place.
Status all_to_host(std::span<Tensor> tensors);

// Kinds of devices beside the CPU: each is made by a function, which is called once for each set of devices.
using DeviceFactory = std::function<Result<std::vector<std::unique_ptr<Device>>>()>;
Status register_device_type(const std::string& type, DeviceFactory factory);  // AlreadyExists for a type that is known
int num_device_types();                                                       // how many were registered so far
// CPUs and all of register_device_type. Devices that cannot be made are left out, with a line in the log.
std::unique_ptr<DeviceSet> process_devices(int cpus);

// Has one of them memory of its own?
bool is_mixed(const DeviceSet& devices);
// The first of each type, in the order in which nodes are put on them: devices that somebody brought, then the CPU.
std::vector<Device*> by_priority(const DeviceSet& devices);
// TensorFlow's words for a device that an op cannot have.
Status unsatisfied(const DeviceSet& devices, std::string_view wanted, const std::vector<std::string>& supported_types);

}  // namespace weft_engine::core

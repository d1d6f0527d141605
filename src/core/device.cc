#include "core/device.h"

#include <random>

#include "core/own_memory.h"

namespace weft_engine::core {

Device::Device(DeviceName name, int64_t memory_limit, std::string description)
    : parsed_(std::move(name)), name_(parsed_.to_string()), description_(std::move(description)), memory_limit_(memory_limit) {
  std::random_device entropy;
  incarnation_ = (uint64_t(entropy()) << 32) | entropy();
}

CpuDevice::CpuDevice(int id) : Device(DeviceName{"localhost", 0, 0, "CPU", id}, int64_t(256) << 20, "") {}

void CpuDevice::copy_from(Device&, const Tensor& tensor, CopyDone done) {
  if (OwnMemoryDevice* there = memory_of(tensor)) return there->copy_to_host(tensor, std::move(done));
  done(tensor);  // host memory is shared by all CPU devices
}

DeviceSet::DeviceSet(std::vector<std::unique_ptr<Device>> devices) : devices_(std::move(devices)) {}

std::unique_ptr<DeviceSet> DeviceSet::cpus(int count) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < count; ++i) devices.push_back(std::make_unique<CpuDevice>(i));
  return std::make_unique<DeviceSet>(std::move(devices));
}

Device* DeviceSet::find(const DeviceName& name) const {
  for (const auto& d : devices_) {
    if (name.matches(d->parsed_name())) return d.get();
  }
  return nullptr;
}

Result<Device*> DeviceSet::resolve(std::string_view text, bool soft_placement) const {
  WEFT_ASSIGN(DeviceName name, DeviceName::parse(text));
  if (Device* d = find(name)) return d;
  if (soft_placement) return static_cast<Device*>(nullptr);
  std::vector<std::string> names;
  for (const auto& d : devices_) names.push_back(d->name());
  return invalid_argument("Could not satisfy device specification '", text, "'. enable_soft_placement=0. Supported device types [CPU].",
                          " All available devices [", join(names, ", "), "].");
}

}  // namespace weft_engine::core

// SPDX-License-Identifier: Apache-2.0
//
// Device: a host device of the program's own with a resource manager, which test bases run kernels on.
#ifndef TENSORFLOW_CORE_COMMON_RUNTIME_DEVICE_FACTORY_H_
#define TENSORFLOW_CORE_COMMON_RUNTIME_DEVICE_FACTORY_H_

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/public/session_options.h"

namespace tensorflow {

namespace internal {
// Before the device that refers to it.
struct PoolOfDevice {
  PoolOfDevice() : pool(weft_pool_new(std::max(1, static_cast<int>(std::thread::hardware_concurrency())))) {}
  ~PoolOfDevice() { weft_pool_delete(pool); }
  PoolOfDevice(const PoolOfDevice&) = delete;
  void operator=(const PoolOfDevice&) = delete;
  weft_pool* const pool;
};
}  // namespace internal

class Device : internal::PoolOfDevice, public DeviceBase {
 public:
  explicit Device(std::string_view name) : DeviceBase(pool, name) {}
  virtual ~Device() = default;
  ResourceMgr* resource_manager() { return &resources_; }

 private:
  ResourceMgr resources_;
};

class DeviceFactory {
 public:
  // "CPU" alone; null for others.
  static std::unique_ptr<Device> NewDevice(const std::string& type, const SessionOptions&, const std::string& name_prefix) {
    if (type != "CPU") return nullptr;
    return std::make_unique<Device>(name_prefix + "/device:CPU:0");
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_COMMON_RUNTIME_DEVICE_FACTORY_H_

// More devices for a program that runs: TensorFlow's tests ask for them (tensorflow.python.eager.context._reset_context).
#pragma once

#include "core/device.h"

namespace weft_engine::runtime {

// Adds CPUs to a set that shared_cpus() gave, until it has `count`. The set belongs to its user alone from then on; nothing may run meanwhile.
void add_cpus(const core::DeviceSet* set, int count);

// Devices of other processes in place of those that the set has of them, but for those that `keep` says stay; the rules are the same.
void set_remote_devices(const core::DeviceSet* set, std::vector<std::unique_ptr<core::Device>> devices,
                        const std::function<bool(const core::Device&)>& keep = nullptr);

}  // namespace weft_engine::runtime

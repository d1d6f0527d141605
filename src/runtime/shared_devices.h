// More devices for a program that runs: TensorFlow's tests ask for them (tensorflow.python.eager.context._reset_context).
#pragma once

#include "core/device.h"

namespace weft::runtime {

// Adds CPUs to a set that shared_cpus() gave, until it has `count`. The set belongs to its user alone from then on; nothing may run meanwhile.
void add_cpus(const core::DeviceSet* set, int count);

}  // namespace weft::runtime

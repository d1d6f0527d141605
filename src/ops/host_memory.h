// Which arguments of an op are in host memory on devices with memory of their own, as with TensorFlow's kernels for GPUs.
#pragma once

#include "op/host_memory.h"

namespace weft_engine::ops {

op::HostMemory host_memory(const op::OpSpec& spec);

}  // namespace weft_engine::ops

// Which ops have kernels on GPUs: those with a lowering rule, made by the compiler (lowered_kernel.h), constants, and those that TensorFlow has run in host memory there.
#pragma once

#include "op/on_gpu.h"
#include "op/registry.h"

namespace weft_engine::cuda {

void add_kernels(op::Registry& registry);

}  // namespace weft_engine::cuda

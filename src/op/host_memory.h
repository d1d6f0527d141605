// Where TensorFlow's kernels for GPUs have the arguments of an op (ops/host_memory.h).
#pragma once

#include <string>
#include <vector>

#include "op/op_spec.h"

namespace weft_engine::op {

struct HostMemory {
  bool all = false;                 // everything in host memory: work on shapes
  bool int32 = false;               // that for int32 alone
  bool never = false;               // it has a state that is no tensor: no kernel
  bool by_cpu = false;              // TensorFlow has a kernel on GPUs; without a lowering rule the one for CPUs runs, between copies
  std::vector<std::string> inputs;  // else these: sizes and axes
};
using HostMemoryOf = HostMemory (*)(const OpSpec& spec);

}  // namespace weft_engine::op

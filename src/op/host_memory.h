// How ops run on GPUs: where TensorFlow's kernels there have their arguments (ops/host_memory.h), what libraries do.
#pragma once

#include <string>
#include <vector>

#include "op/op_spec.h"

namespace weft_engine::op {

// A call that one of NVIDIA's libraries may take over from the generated kernels.
struct LibraryCall {
  enum class Kind : uint8_t { kNone, kFourier, kCholesky, kSolve, kTriangularSolve, kInverse, kDeterminant, kLogDeterminant, kQr, kSvd, kEigen };
  Kind kind = Kind::kNone;
  int rank = 0;          // kFourier: along how many axes
  bool inverse = false;  // kFourier
  bool real = false;     // kFourier: real numbers on one side
};

struct HostMemory {
  bool all = false;                 // everything in host memory: work on shapes
  bool int32 = false;               // that for int32 alone
  bool never = false;               // it has a state that is no tensor: no kernel
  bool by_cpu = false;              // TensorFlow has a kernel on GPUs; without a lowering rule the one for CPUs runs, between copies
  std::vector<std::string> inputs;  // else these: sizes and axes
  LibraryCall library;
};
using HostMemoryOf = HostMemory (*)(const OpSpec& spec);

}  // namespace weft_engine::op

// How an op runs on GPUs, as TensorFlow's kernels there do: what of it is in host memory, what NVIDIA's libraries take over. A family says so where
// it registers the op: r.add("Where").on_gpu(OnGpu::kByCpu).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft_engine::op {

class OpSpec;

enum class OnGpu : uint8_t {
  kUsual,         // sizes and axes (host_inputs) are in host memory, all else is the device's
  kBoundsOnHost,  // likewise, and bounds that are not integers
  kInt32OnHost,   // of int32 everything is in host memory: such ops work on shapes
  kAllOnHost,     // of all types
  kByCpu,  // TensorFlow has a kernel there; without a lowering rule the one for CPUs runs, between copies. No such rule can be where shapes of
  // results depend on data, or the number of random numbers that are drawn does
  kNever,  // it has a state that is not a tensor: no kernel
};

// A call that one of NVIDIA's libraries may take over from the generated kernels (cuda/library_kernel.h).
struct LibraryCall {
  enum class Kind : uint8_t { kNone, kFourier, kCholesky, kSolve, kTriangularSolve, kInverse, kDeterminant, kLogDeterminant, kQr, kSvd, kEigen };
  Kind kind = Kind::kNone;
  int8_t rank = 0;  // kFourier: along how many axes
  bool inverse = false;  // kFourier
  bool real = false;  // kFourier: real numbers on one side
};

// The inputs that are in host memory by kUsual and kBoundsOnHost: what says the shape of the result, or along which axes.
std::vector<std::string> host_inputs(const OpSpec& spec);

}  // namespace weft_engine::op

// Convolutions and their gradients by cuDNN, channels last; of what it offers for one the fastest is taken and kept.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "cuda/gpu.h"
#include "ir/ir.h"

namespace weft_engine::cuda {

struct Convolution {
  enum class Kind : uint8_t { kForward, kInputGradient, kFilterGradient };
  Kind kind = Kind::kForward;
  core::DType dtype = core::DType::kInvalid;
  // All of the forward convolution: [batch, spatial..., channels], [out, spatial..., channels / groups], [batch, spatial..., out].
  std::vector<int64_t> input, filter, output;
  std::vector<int64_t> stride, dilation, low, high;
  auto operator<=>(const Convolution&) const = default;
};

// What a kConv or kConvFilterGrad is; nothing: not for the library (ir/filter_layout.cc makes those that are).
std::optional<Convolution> convolution_of(const ir::Instr& i, std::span<const int64_t> symbols);

// a, b: the operands of the instruction, c: its result. False: cuDNN is not there or has nothing for such a convolution.
core::Result<bool> convolve(Gpu& gpu, const Queue& queue, const Convolution& convolution, DevicePtr a, DevicePtr b, DevicePtr c);

}  // namespace weft_engine::cuda

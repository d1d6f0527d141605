// What the ops of uniform quantisation share: checks of scales and axes, and the step from one scale to another in fixed point.
#pragma once

#include "kernels/cpu/quantize.h"
#include "op/registry.h"

namespace weft_engine::ops {

// Scales and zero points for data of this shape: scalars where the axis is -1, else one for each slice along the axis.
op::Status check_quantization_axis(const core::Shape& data, const core::Tensor& scales, const core::Tensor& zeros, int64_t axis);
op::Status check_positive_scales(const core::Tensor& scales, std::string_view what);
op::Result<int64_t> read_axis(const op::NodeInfo& node, std::string_view name);
op::Result<int32_t> read_int32(const op::NodeInfo& node, std::string_view name);

// A UniformQuantizedConvolution over [batch, height, width, features] with a kernel [height, width, features, out], one group.
bool is_channels_last_conv(const op::NodeInfo& node);

// A positive factor as multiplier * 2^(shift - 31).
struct Multiplier {
  int32_t value = 0;
  int shift = 0;
  static op::Result<Multiplier> make(double factor);
  int32_t operator()(int32_t x) const {
    const int total = 31 - shift;  // 1 to 62
    const int64_t v = (int64_t(x) * value + (int64_t(1) << (total - 1))) >> total;
    return int32_t(std::clamp<int64_t>(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  }
};

// One side of a requantisation.
struct Scaling {
  const core::Tensor& scales;
  const core::Tensor* zeros;  // null: all zero
  int64_t axis;
  float scale(int64_t k) const { return scales.data<float>()[axis < 0 ? 0 : k]; }
  int32_t zero(int64_t k) const { return zeros ? zeros->data<int32_t>()[axis < 0 ? 0 : k] : 0; }
};

// `in` (qint8 or qint32) with another scale, clamped to [least, most], into `out` of the same shape.
op::Status requantize_uniform(const core::Tensor& in, const Scaling& from, const Scaling& to, int32_t least, int32_t most, core::Tensor& out);

}  // namespace weft_engine::ops

// Requantisation where each channel of the input has a range of its own.
#include "kernels/cpu/quantize.h"
#include "op/registry.h"
#include "ops/quantized/quantized_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

constexpr float kInt32Range = 2147483648.0f;

float magnitude(const Tensor& lows, const Tensor& highs, int64_t k) {
  return std::max(std::abs(lows.data<float>()[k]), std::abs(highs.data<float>()[k]));
}

Status run_requantize(KernelContext& c) {
  const Tensor &in = c.input(0), &lows = c.input(1), &highs = c.input(2), &low = c.input(3), &high = c.input(4);
  if (in.rank() != 4) return invalid_argument("Current RequantizePerChannel operatorsupports 4D tensors only.");
  const int64_t depth = lows.num_elements();
  if (highs.num_elements() != depth) return invalid_argument("input_max has incorrect size, expected ", depth, " was ", highs.num_elements());
  if (low.num_elements() != 1) return invalid_argument("requested_output_min must be a scalar");
  if (high.num_elements() != 1) return invalid_argument("requested_output_max must be a scalar");
  if (depth != 1 && depth != in.dim(3))
    return invalid_argument("input_min must have one element or one for each of the ", in.dim(3), " channels, got ", depth);
  const bool is_signed = c.output_type(0) == DType::kQint8;
  const float new_low = low.data<float>()[0], new_high = high.data<float>()[0];
  if (is_signed && !(new_low < 0)) return invalid_argument("If out_type is QINT8, requested_output_max must be non negative, got ", new_low);
  const float factor = is_signed ? 127.0f : 255.0f, least = is_signed ? -128.0f : 0.0f, range = magnitude(low, high, 0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const float scale = factor * (magnitude(lows, highs, depth == 1 ? 0 : i % depth) / range / kInt32Range);
    float v = float(in.data<int32_t>()[i]) * scale;
    v = v > factor ? factor : v < least ? least : v;
    const int32_t rounded = std::max(kernels::to_int32(std::nearbyint(v)), int32_t(least));
    if (is_signed) out->data<int8_t>()[i] = int8_t(rounded);
    else out->data<uint8_t>()[i] = uint8_t(rounded);
  }
  return write_range(c, 1, new_low, new_high);
}

Status run_range(KernelContext& c) {
  const Tensor &in = c.input(0), &lows = c.input(1), &highs = c.input(2);
  const int64_t depth = highs.num_elements();
  if (lows.rank() < 1 || lows.dim(0) != depth)
    return invalid_argument("input_min has incorrect size, expected ", depth, " was ", lows.rank() < 1 ? 0 : lows.dim(0));
  if (highs.rank() < 1 || highs.dim(0) != depth)
    return invalid_argument("input_max has incorrect size, expected ", depth, " was ", highs.rank() < 1 ? 0 : highs.dim(0));
  if (lows.num_elements() != depth)
    return invalid_argument("input_min must have the same number of elements as input_max, got ", lows.num_elements(), " and ", depth);
  if (in.num_elements() == 0) return invalid_argument("input must not be empty");
  if (in.rank() != 4) return invalid_argument("input must be in NHWC format");
  if (in.dim(3) != depth) return invalid_argument("input must have same number of channels as length of input_min: ", in.dim(3), " vs ", depth);
  float most = std::numeric_limits<float>::min();
  bool negative = false;
  for (int64_t k = 0; k < depth; ++k) {
    int32_t low = kernels::kHighest<int32_t>, high = kernels::kLowest<int32_t>;
    for (int64_t i = k; i < in.num_elements(); i += depth) low = std::min(low, in.data<int32_t>()[i]), high = std::max(high, in.data<int32_t>()[i]);
    // As in TensorFlow, the lowest integer is its own magnitude.
    auto absolute = [](int32_t v) { return v < 0 ? int32_t(0u - uint32_t(v)) : v; };
    most = std::max(most, magnitude(lows, highs, k) * float(std::max(absolute(low), absolute(high))) / kInt32Range);
    negative = negative || low < 0;
  }
  most = std::min(most, c.attr<float>("clip_value_max"));
  return write_range(c, 0, negative ? -most : 0.0f, most);
}

Status requantize_shape(ShapeContext& c) {
  for (int i : {1, 2}) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  for (int i : {3, 4}) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return unchanged_with_range(c);
}

Status range_shape(ShapeContext& c) {
  for (int i : {1, 2}) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  return shapes::scalar(c);
}

}  // namespace

void quantized_per_channel(Registry& r) {
  r.add("RequantizationRangePerChannel")
      .in("input: T")
      .in("input_min: float")
      .in("input_max: float")
      .out("output_min: float")
      .out("output_max: float")
      .attr("T: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32")
      .attr("clip_value_max: float")
      .doc("The range that the channels of a quantised image really use.")
      .shape(range_shape)
      .cpu(run_range, types<qint32>("T"));

  r.add("RequantizePerChannel")
      .in("input: T")
      .in("input_min: float")
      .in("input_max: float")
      .in("requested_output_min: float")
      .in("requested_output_max: float")
      .out("output: out_type")
      .out("output_min: float")
      .out("output_max: float")
      .attr("T: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8")
      .doc("A quantised image in 8 bits, from a range for each channel.")
      .shape(requantize_shape)
      .cpu(run_requantize, types<qint32>("T"), types<quint8, qint8>("out_type"));
}

}  // namespace weft_engine::ops

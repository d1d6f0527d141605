// From floats to quantised numbers and back, between ranges, and moves (concat, reshape).
#include "kernels/cpu/quantize.h"
#include "op/registry.h"
#include "ops/quantized/quantized_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::kHighest;
using kernels::kLowest;

// An array seen as [outer, slices, inner], each slice with a range of its own.
struct Slices {
  int64_t outer = 1, count = 1, inner = 1;
  Slices(const Shape& s, int64_t axis) {
    if (axis < 0 || s.num_elements() == 0) {  // of an empty array, no dimension is looped over but that of the ranges
      inner = s.num_elements();
      if (axis >= 0) count = s.dim(int(axis));
      return;
    }
    outer = s.elements_in(0, int(axis));
    count = s.dim(int(axis));
    inner = s.elements_in(int(axis) + 1, s.rank());
  }
};

float clamped(float x, float low, float high) {
  x = x > high ? high : x;  // not std::min: a NaN stays one
  return x < low ? low : x;
}

struct QuantizeV2 {
  std::string mode;
  bool half_to_even, narrow;
  int64_t axis;
  float ensure;

  static Result<QuantizeV2> make(const NodeInfo& node) {
    QuantizeV2 k{node.attr<std::string>("mode"), node.attr<std::string>("round_mode") == "HALF_TO_EVEN", node.attr<bool>("narrow_range"),
                 node.attr<int64_t>("axis"), node.attr<float>("ensure_minimum_range")};
    if (k.half_to_even && k.mode != "SCALED")
      return invalid_argument("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '", k.mode, "'.");
    return k;
  }

  Status check_range(const Tensor& t, std::string_view name, const Tensor& in) const {
    if (axis < 0) {
      if (t.num_elements() != 1)
        return invalid_argument("If axis is not specified, ", name, " must contain a single float element, but it contains ", t.num_elements(),
                                " elements");
      return {};
    }
    if (t.rank() != 1 || t.dim(0) != in.dim(int(axis)))
      return invalid_argument("If axis is specified, ", name,
                              " must be a 1-D tensor whose size matches the axis dimension of the input and output tensors, but ", name, " shape is ",
                              t.shape(), " and input's dim along the axis is ", in.dim(int(axis)));
    return {};
  }

  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &lows = c.input(1), &highs = c.input(2);
    if (axis >= in.rank())
      return invalid_argument(
          "Axis is on a zero-based index, so its value must always be less than number of input's dims, but given axis value was ", axis,
          " and input's dims was ", in.rank());
    WEFT_RETURN_IF_ERROR(check_range(lows, "min_range", in));
    WEFT_RETURN_IF_ERROR(check_range(highs, "max_range", in));
    const Slices s(in.shape(), axis);
    if (s.count > 1 && mode == "MIN_FIRST") return unimplemented("MIN_FIRST mode is not implemented for Quantize with axis != -1.");
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    const Shape range = s.count == 1 ? Shape() : Shape({s.count});
    WEFT_ASSIGN(Tensor* out_low, c.allocate(1, range));
    WEFT_ASSIGN(Tensor* out_high, c.allocate(2, range));
    return dispatch_quantized(out->dtype(), [&]<class I>(Tag<I>) {
      for (int64_t i = 0; i < s.count; ++i) {
        float low = lows.data<float>()[i], high = highs.data<float>()[i];
        if (high < low) return invalid_argument("input_max_range must be larger than input_min_range.");
        // Zero is always in the range, and the range is never so narrow that all numbers look alike.
        const float epsilon = std::max(1.0f, std::max(std::fabs(low), std::fabs(high))) * ensure;
        high = std::max(0.0f, std::max(high, std::min(0.0f, low) + epsilon));
        low = std::min(0.0f, low);
        convert<I>(c, in.data<float>() + i * s.inner, out->data<I>() + i * s.inner, s, low, high);
        out_low->data<float>()[i] = low;
        out_high->data<float>()[i] = high;
      }
      return Status();
    });
  }

  // One slice; `low` and `high` become what the integers stand for.
  template <class I>
  void convert(KernelContext& c, const float* in, I* out, const Slices& s, float& low, float& high) const {
    auto each = [&](auto&& f) {
      for (int64_t o = 0; o < s.outer; ++o) {
        const int64_t base = o * s.count * s.inner;
        c.pool().parallel_for(s.inner, 3, [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) out[base + i] = f(in[base + i]);
        });
      }
    };
    // Two cases of bytes differ from the rest: there TensorFlow calls oneDNN, unless it is told not to.
    const bool byte = sizeof(I) == 1 && axis < 0 && !narrow;
    auto saturated = [](float v) { return I(kernels::to_int32(clamped(std::nearbyint(v), float(kLowest<I>), float(kHighest<I>)))); };
    if (mode == "MIN_FIRST" && byte && kLowest<I> == 0) {
      const float scale = 255.0f / (high - low), a = low;
      each([=](float x) { return saturated((x - a) * scale); });
    } else if (mode == "MIN_FIRST") {
      each(kernels::Quantizer<I>(low, high));
    } else if (mode == "SCALED" && byte && half_to_even) {
      high = std::max(std::fabs(low), std::fabs(high));
      low = kLowest<I> == 0 ? 0.0f : -high;
      const float scale = 255.0f / (high - low);
      each([=](float x) { return saturated(x * scale); });
    } else if (mode == "MIN_COMBINED") {
      const float scale = float((double(kHighest<I>) - double(kLowest<I>)) / double(high - low));
      const float half = kLowest<I> == 0 ? 0.0f : float((double(kHighest<I>) - double(kLowest<I>) + 1) / 2.0);
      const float a = low, b = high;
      if (kLowest<I> < 0) each([=](float x) { return I(kernels::to_int32(std::round((clamped(x, a, b) - a) * scale - half))); });
      else each([=](float x) { return I(kernels::to_int32((clamped(x, a, b) - a) * scale + 0.5f)); });
    } else {
      const float least = float(kLowest<I> + (narrow ? 1 : 0)), most = float(kHighest<I>);
      const float by_low = least * low > 0 ? least / low : std::numeric_limits<float>::max();
      const float by_high = most * high > 0 ? most / high : std::numeric_limits<float>::max();
      const float scale = std::min(by_low, by_high);
      low = least / scale;
      high = most / scale;
      const float a = low, b = high;
      if (half_to_even) each([=](float x) { return I(kernels::to_int32(std::nearbyint(clamped(x, a, b) * scale))); });
      else each([=](float x) { return I(kernels::to_int32(std::round(clamped(x, a, b) * scale))); });
    }
  }
};

Status run_dequantize(KernelContext& c) {
  const Tensor &in = c.input(0), &lows = c.input(1), &highs = c.input(2);
  const std::string& mode = c.attr<std::string>("mode");
  const int64_t axis = c.attr<int64_t>("axis");
  const bool narrow = c.attr<bool>("narrow_range"), brain = c.output_type(0) == DType::kBfloat16;
  if (brain && mode != "MIN_COMBINED") return invalid_argument("When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '", mode, "'");
  if (axis >= in.rank()) return invalid_argument("Axis must be less than input dimension(", in.rank(), "), got ", axis);
  const Slices s(in.shape(), axis);
  if (lows.num_elements() != s.count)
    return invalid_argument("input_min_tensor must have as many elements as input on the dequantization axis (", axis, "), got ", lows.num_elements(),
                            ", expected ", s.count);
  if (highs.num_elements() != s.count)
    return invalid_argument("input_max_tensor must have as many elements as input on the dequantization axis (", axis, "), got ",
                            highs.num_elements(), ", expected ", s.count);
  if (s.count != 1 && mode == "MIN_FIRST") return unimplemented("MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  return dispatch_quantized(in.dtype(), [&]<class I>(Tag<I>) {
    for (int64_t k = 0; k < s.count; ++k) {
      const float low = lows.data<float>()[k], high = highs.data<float>()[k];
      auto each = [&](auto&& f) {
        for (int64_t o = 0; o < s.outer; ++o) {
          const int64_t base = (o * s.count + k) * s.inner;
          c.pool().parallel_for(s.inner, 2, [&](int64_t b, int64_t e) {
            for (int64_t i = base + b; i < base + e; ++i) {
              const float v = f(in.data<I>()[i]);
              if (brain) out->data<bfloat16>()[i] = bfloat16(v);
              else out->data<float>()[i] = v;
            }
          });
        }
      };
      if (mode == "MIN_FIRST") {
        each(kernels::Dequantizer<I>(low, high));
      } else if (mode == "MIN_COMBINED") {
        const float half = kLowest<I> == 0 ? 0.0f : (float(kHighest<I>) - float(kLowest<I>) + 1) / 2.0f;
        const float scale = (high - low) / (float(kHighest<I>) - float(kLowest<I>));
        each([=](I v) { return (float(v) + half) * scale + low; });
      } else {
        const float least = float(kLowest<I> + (narrow ? 1 : 0)), by_high = high / float(kHighest<I>);
        const float scale = kLowest<I> == 0 ? by_high : std::max(low / least, by_high);
        // By way of a float and an int, which the greatest 32-bit numbers do not survive.
        if (s.count == 1) each([=](I v) { return float(kernels::to_int32(float(v))) * scale; });
        else each([=](I v) { return float(v) * scale; });
      }
    }
    return Status();
  });
}

Status dequantize_shape(ShapeContext& c) {
  c.output(0, c.input(0));
  return {};
}

Status quantize_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  const int64_t axis = c.attr<int64_t>("axis");
  c.output(0, in);
  PartialShape range = PartialShape::scalar();
  if (axis >= 0) {
    if (in.has_rank() && axis >= in.rank()) return invalid_argument("Axis must be less than input dimension(", in.rank(), "), got ", axis);
    const int64_t n = in.has_rank() ? in.dim(int(axis)) : kUnknownDim;
    range = n == 1 ? PartialShape::scalar() : n < 0 ? PartialShape::unknown() : PartialShape::vector(n);
  }
  c.output(1, range);
  c.output(2, range);
  return {};
}

// --- between ranges ---

// The range that the numbers really use; the minimum is at most zero.
void used_range(const Tensor& in, float low, float high, float& out_low, float& out_high) {
  int32_t least = std::numeric_limits<int32_t>::max(), most = std::numeric_limits<int32_t>::min();
  for (int32_t v : in.span<int32_t>()) least = std::min(least, v), most = std::max(most, v);
  out_low = std::min(0.0f, kernels::dequantize<int32_t>(least, low, high));
  out_high = kernels::dequantize<int32_t>(most, low, high);
}

Status requantize(KernelContext& c, float low, float high, float new_low, float new_high) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const int32_t* from = in.data<int32_t>();
  if (out->dtype() == DType::kQuint8) {
    const kernels::RequantizeDown f(low, high, new_low, new_high);
    for (int64_t i = 0; i < in.num_elements(); ++i) out->data<uint8_t>()[i] = f(from[i]);
  } else {
    const kernels::Dequantizer<int32_t> a(low, high);
    const kernels::Quantizer<int8_t> b(new_low, new_high);
    for (int64_t i = 0; i < in.num_elements(); ++i) out->data<int8_t>()[i] = b(a(from[i]));
  }
  return write_range(c, 1, new_low, new_high);
}

// A range input of which only the first element is read.
Result<float> first_element(const KernelContext& c, int i, std::string_view name) {
  if (c.input(i).num_elements() < 1) return invalid_argument(name, " must not be empty.");
  return c.input(i).data<float>()[0];
}

Status run_shrink_range(KernelContext& c) {
  WEFT_ASSIGN(float low, read_range(c, 1, "input_min"));
  WEFT_ASSIGN(float high, read_range(c, 2, "input_max"));
  float new_low, new_high;
  used_range(c.input(0), low, high, new_low, new_high);
  return requantize(c, low, high, new_low, new_high);
}

Status run_requantization_range(KernelContext& c) {
  WEFT_ASSIGN(float low, first_element(c, 1, "Input min"));
  WEFT_ASSIGN(float high, first_element(c, 2, "Input max"));
  float new_low, new_high;
  used_range(c.input(0), low, high, new_low, new_high);
  return write_range(c, 0, new_low, new_high);
}

Status run_requantize(KernelContext& c) {
  WEFT_ASSIGN(float low, read_range(c, 1, "input_min"));
  WEFT_ASSIGN(float high, read_range(c, 2, "input_max"));
  WEFT_ASSIGN(float new_low, read_range(c, 3, "requested_output_min"));
  WEFT_ASSIGN(float new_high, read_range(c, 4, "requested_output_max"));
  if (!(new_low <= 0)) return invalid_argument("requested_output_min must be <= 0, but got ", new_low);
  if (!(new_high >= new_low)) return invalid_argument("requested_output_max must be >= requested_output_min, but got ", new_high, " and ", new_low);
  return requantize(c, low, high, new_low, new_high);
}

// --- moves ---

Status check_concat(const Tensor& axis, std::span<const Tensor* const> values, int64_t& at) {
  if (axis.rank() != 0) return invalid_argument("Concat dim tensor should be a scalar integer, but got shape ", axis.shape());
  at = axis.data<int32_t>()[0];
  const Shape& first = values[0]->shape();
  if (at < 0 || at >= first.rank())
    return invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, ", first.rank(), "), but got ", at);
  for (size_t i = 1; i < values.size(); ++i) {
    const Shape& s = values[i]->shape();
    if (s.rank() != first.rank())
      return invalid_argument("ConcatOp : Ranks of all input tensors should match: shape[0] = ", first, " vs. shape[", i, "] = ", s);
    for (int d = 0; d < s.rank(); ++d) {
      if (d != at && s.dim(d) != first.dim(d))
        return invalid_argument("ConcatOp : Dimensions of inputs should match: shape[0] = ", first, " vs. shape[", i, "] = ", s);
    }
  }
  return {};
}

Status run_concat(KernelContext& c) {
  const auto values = c.input_list("values"), mins = c.input_list("input_mins"), maxes = c.input_list("input_maxes");
  int64_t axis = 0;
  WEFT_RETURN_IF_ERROR(check_concat(c.input(0), values, axis));
  float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
  int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (mins[i]->num_elements() < 1 || maxes[i]->num_elements() < 1) return invalid_argument("QuantizedConcatOp : range ", i, " is empty");
    low = std::min(low, mins[i]->data<float>()[0]);
    high = std::max(high, maxes[i]->data<float>()[0]);
    total += values[i]->dim(int(axis));
  }
  const Shape& first = values[0]->shape();
  if (values[0]->dtype() == DType::kQint32) {  // signed: symmetric
    high = std::max(std::abs(low), std::abs(high));
    low = -high;
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, first.with_dim(int(axis), total)));
  if (out->num_elements() == 0) return write_range(c, 1, low, high);
  const int64_t outer = first.elements_in(0, int(axis)), inner = first.elements_in(int(axis) + 1, first.rank());
  WEFT_RETURN_IF_ERROR(dispatch_quantized(out->dtype(), [&]<class I>(Tag<I>) {
    int64_t at = 0;
    for (size_t k = 0; k < values.size(); ++k) {
      const float min = mins[k]->data<float>()[0], max = maxes[k]->data<float>()[0];
      const int64_t size = values[k]->dim(int(axis)) * inner;
      const kernels::Dequantizer<I> a(min, max);
      const kernels::Quantizer<I> b(low, high);
      const bool same = min == low && max == high;
      for (int64_t o = 0; o < outer; ++o) {
        const I* from = values[k]->data<I>() + o * size;
        I* to = out->data<I>() + o * total * inner + at;
        if (same) std::copy(from, from + size, to);
        else
          for (int64_t i = 0; i < size; ++i) to[i] = b(a(from[i]));
      }
      at += size;
    }
    return Status();
  }));
  return write_range(c, 1, low, high);
}

Status concat_shape(ShapeContext& c) {
  c.output(1, PartialShape::scalar());
  c.output(2, PartialShape::scalar());
  const auto values = c.node().input_range("values");
  const auto axis = c.constant_int(0);
  if (!axis) {
    c.output(0, c.input(values.begin).has_rank() ? PartialShape::unknown_of_rank(c.input(values.begin).rank()) : PartialShape::unknown());
    return {};
  }
  PartialShape out;
  int64_t total = 0;
  for (int i = values.begin; i < values.end; ++i) {
    PartialShape s = c.input(i);
    if (!s.has_rank()) {
      total = kUnknownDim;
      continue;
    }
    if (*axis < 0 || *axis >= s.rank())
      return invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, ", s.rank(), "), but got ", *axis);
    total = shapes::add_dim(total, s.dim(int(*axis)));
    s.set_dim(int(*axis), kUnknownDim);
    WEFT_ASSIGN(out, out.merge_with(s));
  }
  if (out.has_rank()) out.set_dim(int(*axis), total);
  c.output(0, std::move(out));
  return {};
}

Status run_reshape(KernelContext& c) {
  const Tensor &in = c.input(0), &sizes = c.input(1);
  if (sizes.rank() != 1) return invalid_argument("sizes input must be 1-D, not ", sizes.shape());
  std::vector<int64_t> dims;
  int64_t known = 1, open = -1;
  for (int64_t i = 0; i < sizes.num_elements(); ++i) {
    const int64_t d = sizes.dtype() == DType::kInt64 ? sizes.data<int64_t>()[i] : sizes.data<int32_t>()[i];
    dims.push_back(d);
    if (d == -1) {
      if (open >= 0) return invalid_argument("Only one input size may be -1, not both ", open, " and ", i);
      open = i;
    } else if (d < 0) {
      return invalid_argument("Size ", i, " must be non-negative, not ", d);
    } else {
      known = multiply_without_overflow(known, d);
      if (known < 0) return invalid_argument("Reshape to sizes whose product overflows");
    }
  }
  if (open >= 0) {
    if (known == 0)
      return invalid_argument("reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero");
    if (in.num_elements() % known != 0)
      return invalid_argument("Input to reshape is a tensor with ", in.num_elements(), " values, but the requested shape requires a multiple of ",
                              known);
    dims[size_t(open)] = in.num_elements() / known;
  } else if (known != in.num_elements()) {
    return invalid_argument("Input to reshape is a tensor with ", in.num_elements(), " values, but the requested shape has ", known);
  }
  WEFT_ASSIGN(Shape shape, Shape::make(dims));
  WEFT_ASSIGN(float low, first_element(c, 2, "input_min"));
  WEFT_ASSIGN(float high, first_element(c, 3, "input_max"));
  c.set_output(0, in.reshaped(shape));
  return write_range(c, 1, low, high);
}

Status reshape_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(1));
  const auto n = c.input(0).num_elements();
  if (s.has_rank() && n && c.constant(1)) {
    int64_t known = 1;
    int open = -1, opens = 0;
    for (int i = 0; i < s.rank(); ++i) {
      if (s.dim(i) < 0) open = i, ++opens;
      else known = shapes::mul_dim(known, s.dim(i));
    }
    if (opens == 1 && known > 0) s.set_dim(open, *n / known);
  }
  c.output(0, std::move(s));
  c.output(1, PartialShape::scalar());
  c.output(2, PartialShape::scalar());
  return {};
}

}  // namespace

void quantized_conversions(Registry& r) {
  r.add("Dequantize")
      .in("input: T")
      .in("min_range: float")
      .in("max_range: float")
      .out("output: dtype")
      .attr("T: {qint8, quint8, qint32, qint16, quint16}")
      .attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1")
      .attr("dtype: {bfloat16, float} = DT_FLOAT")
      .doc("Quantised numbers as floats.")
      .shape(dequantize_shape)
      .cpu(run_dequantize);

  r.add("QuantizeDownAndShrinkRange")
      .in("input: Tinput")
      .in("input_min: float")
      .in("input_max: float")
      .out("output: out_type")
      .out("output_min: float")
      .out("output_max: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16}")
      .doc("32-bit numbers as 8-bit numbers of the range that they use.")
      .shape(unchanged_with_range)
      .cpu(run_shrink_range, types<qint32>("Tinput"), types<quint8>("out_type"));

  r.add("QuantizeV2")
      .in("input: float")
      .in("min_range: float")
      .in("max_range: float")
      .out("output: T")
      .out("output_min: float")
      .out("output_max: float")
      .attr("T: {qint8, quint8, qint32, qint16, quint16}")
      .attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .attr("round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1")
      .attr("ensure_minimum_range: float = 0.01")
      .doc("Floats as quantised numbers of a given range.")
      .shape(quantize_shape)
      .cpu<QuantizeV2>();

  r.add("QuantizedConcat")
      .in("concat_dim: int32")
      .in("values: N * T")
      .in("input_mins: N * float")
      .in("input_maxes: N * float")
      .out("output: T")
      .out("output_min: float")
      .out("output_max: float")
      .attr("N: int >= 2")
      .attr("T: type")
      .doc("Joins quantised arrays along a dimension, brought to one range.")
      .shape(concat_shape)
      .cpu(run_concat, types<quint8, qint32>("T"));

  r.add("QuantizedReshape")
      .in("tensor: T")
      .in("shape: Tshape")
      .in("input_min: float")
      .in("input_max: float")
      .out("output: T")
      .out("output_min: float")
      .out("output_max: float")
      .attr("T: type")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("A quantised array with another shape.")
      .shape(reshape_shape)
      .cpu(run_reshape, types<quint8, qint32>("T"));

  r.add("RequantizationRange")
      .in("input: Tinput")
      .in("input_min: float")
      .in("input_max: float")
      .out("output_min: float")
      .out("output_max: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .doc("The range that 32-bit quantised numbers really use.")
      .shape(shapes::scalar)
      .cpu(run_requantization_range, types<qint32>("Tinput"));

  r.add("Requantize")
      .in("input: Tinput")
      .in("input_min: float")
      .in("input_max: float")
      .in("requested_output_min: float")
      .in("requested_output_max: float")
      .out("output: out_type")
      .out("output_min: float")
      .out("output_max: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16}")
      .doc("32-bit numbers as 8-bit numbers of a given range.")
      .shape(unchanged_with_range)
      .cpu(run_requantize, types<qint32>("Tinput"), types<quint8, qint8>("out_type"));
}

}  // namespace weft_engine::ops

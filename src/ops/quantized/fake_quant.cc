// Rounding to the numbers that a quantised type could hold, while staying in floating point.
#include <algorithm>
#include <cmath>
#include <limits>

#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- FakeQuantWithMinMax*

// A range moved a little so that zero falls onto a step.
struct Nudged {
  float min, max, scale;
  Nudged(float low, float high, int bits, bool narrow_range) {
    const float quant_min = narrow_range ? 1 : 0, quant_max = float((1 << bits) - 1);
    scale = (high - low) / (quant_max - quant_min);
    const float from_min = quant_min - low / scale;
    const float zero = from_min < quant_min ? quant_min : from_min > quant_max ? quant_max : std::round(from_min);
    min = (quant_min - zero) * scale;
    max = (quant_max - zero) * scale;
  }
  // What operator() needs beside.
  float inverse() const { return 1 / scale; }
  float quant_zero() const { return std::floor(-min * inverse() + 0.5f); }
  float quantize(float x, float inverse, float quant_zero) const {
    const float clamped = x < min ? min : x > max ? max : x;  // NaN stays
    return std::floor((clamped - min) * inverse - quant_zero + 0.5f) * scale;
  }
  bool inside(float x) const { return x >= min && x <= max; }
};

struct FakeQuant {
  static Result<FakeQuant> make(const NodeInfo& node) {
    const int64_t bits = node.attr<int64_t>("num_bits");
    if (bits < 2 || bits > 16) return invalid_argument("num_bits must be between 2 and 16, inclusive");
    FakeQuant f{int(bits), node.attr<bool>("narrow_range")};
    if (const AttrValue* min = node.find_attr("min")) {
      f.min = *min->get<float>();
      f.max = node.attr<float>("max");
      if (!(f.min < f.max)) return invalid_argument("min has to be smaller than max, was: ", f.min, " >= ", f.max);
    }
    return f;
  }
  Nudged nudged(float low, float high) const { return Nudged(low, high, bits, narrow_range); }

  // Column j of [rows, width] is quantised with the range j; a range 0..0 makes zeros.
  void apply(KernelContext& c, const Tensor& in, Tensor& out, const float* low, const float* high, int64_t width) const {
    struct Column {
      Nudged range;
      float inverse, zero;
      bool empty;
    };
    std::vector<Column> columns;
    for (int64_t j = 0; j < width; ++j) {
      const Nudged n = nudged(low[j], high[j]);
      columns.push_back({n, n.inverse(), n.quant_zero(), low[j] == 0 && high[j] == 0});
    }
    c.pool().parallel_for(in.num_elements(), 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Column& k = columns[size_t(width == 1 ? 0 : i % width)];
        out.data<float>()[i] = k.empty ? 0.f : k.range.quantize(in.data<float>()[i], k.inverse, k.zero);
      }
    });
  }

  // Gradients pass where the input lay in the range; those of the bounds sum up what lay beyond.
  void gradient(const Tensor& grad, const Tensor& in, Tensor& out, const float* low, const float* high, int64_t width, float* d_low,
                float* d_high) const {
    std::vector<Nudged> ranges;
    std::vector<double> below(static_cast<size_t>(width)), above(static_cast<size_t>(width));
    for (int64_t j = 0; j < width; ++j) ranges.push_back(nudged(low[j], high[j]));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const size_t j = size_t(i % width);
      const float x = in.data<float>()[i], g = grad.data<float>()[i];
      const bool empty = low[j] == 0 && high[j] == 0;
      out.data<float>()[i] = empty ? g : g * (ranges[j].inside(x) ? 1.f : 0.f);
      if (!empty && x < ranges[j].min) below[j] += double(g);
      if (!empty && x > ranges[j].max) above[j] += double(g);
    }
    for (int64_t j = 0; j < width; ++j) {
      d_low[j] = float(below[size_t(j)]);
      d_high[j] = float(above[size_t(j)]);
    }
  }

  int bits;
  bool narrow_range;
  float min = 0, max = 0;
};

struct FakeQuantArgs : FakeQuant {
  static Result<FakeQuantArgs> make(const NodeInfo& node) {
    WEFT_ASSIGN(FakeQuant f, FakeQuant::make(node));
    return FakeQuantArgs{f};
  }
  Status run(KernelContext& c) const {
    WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
    apply(c, c.input(0), *out, &min, &max, 1);
    return {};
  }
};

struct FakeQuantArgsGradient : FakeQuant {
  static Result<FakeQuantArgsGradient> make(const NodeInfo& node) {
    WEFT_ASSIGN(FakeQuant f, FakeQuant::make(node));
    return FakeQuantArgsGradient{f};
  }
  Status run(KernelContext& c) const {
    const Tensor &grad = c.input(0), &in = c.input(1);
    if (grad.shape() != in.shape()) {
      return invalid_argument("Inputs to operation ", c.node().name(), " of type ", c.node().op(),
                              " must have the same size and shape.  Input 0: ", grad.shape(), " != input 1: ", in.shape());
    }
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    const Nudged range = nudged(min, max);
    for (int64_t i = 0; i < in.num_elements(); ++i) out->data<float>()[i] = grad.data<float>()[i] * (range.inside(in.data<float>()[i]) ? 1.f : 0.f);
    return {};
  }
};

// `per_channel`: one range for each index of the last dimension.
template <bool per_channel>
Status check_ranges(const Tensor& in, const Tensor& low, const Tensor& high, int64_t& width) {
  constexpr int kRank = per_channel ? 1 : 0;
  if (low.rank() != kRank) return invalid_argument("`min` must be rank ", kRank, " but is rank ", low.rank());
  if (high.rank() != kRank) return invalid_argument("`max` must be rank ", kRank, " but is rank ", high.rank());
  width = 1;
  if (!per_channel) return {};
  if (in.rank() < 1) return invalid_argument("inputs must have at least one dimension, got shape ", in.shape());
  width = in.dim(in.rank() - 1);
  if (low.dim(0) != width) return invalid_argument("min has incorrect size, expected ", width, " was ", low.dim(0));
  if (high.dim(0) != width) return invalid_argument("max has incorrect size, expected ", width, " was ", high.dim(0));
  return {};
}

template <bool per_channel>
struct FakeQuantVars : FakeQuant {
  static Result<FakeQuantVars> make(const NodeInfo& node) {
    WEFT_ASSIGN(FakeQuant f, FakeQuant::make(node));
    return FakeQuantVars{f};
  }
  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2);
    int64_t width;
    WEFT_RETURN_IF_ERROR(check_ranges<per_channel>(in, low, high, width));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    apply(c, in, *out, low.data<float>(), high.data<float>(), width);
    return {};
  }
};

template <bool per_channel>
struct FakeQuantVarsGradient : FakeQuant {
  static Result<FakeQuantVarsGradient> make(const NodeInfo& node) {
    WEFT_ASSIGN(FakeQuant f, FakeQuant::make(node));
    return FakeQuantVarsGradient{f};
  }
  Status run(KernelContext& c) const {
    const Tensor &grad = c.input(0), &in = c.input(1), &low = c.input(2), &high = c.input(3);
    if (grad.shape() != in.shape()) return invalid_argument("gradient and input must be the same size");
    int64_t width;
    WEFT_RETURN_IF_ERROR(check_ranges<per_channel>(in, low, high, width));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    WEFT_ASSIGN(Tensor* d_low, c.allocate(1, low.shape()));
    WEFT_ASSIGN(Tensor* d_high, c.allocate(2, high.shape()));
    gradient(grad, in, *out, low.data<float>(), high.data<float>(), width, d_low->data<float>(), d_high->data<float>());
    return {};
  }
};

// ---- shape rules

Status same_shapes(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.input(0).merge_with(c.input(1)));
  c.output(0, std::move(s));
  return {};
}

template <bool per_channel, bool gradient>
Status vars_shape(ShapeContext& c) {
  const int first = gradient ? 1 : 0;  // where the inputs are
  PartialShape in = c.input(first);
  if (gradient) {
    WEFT_ASSIGN(in, in.merge_with(c.input(0)));
  }
  WEFT_ASSIGN(PartialShape low, c.with_rank(first + 1, per_channel ? 1 : 0));
  WEFT_ASSIGN(PartialShape high, c.with_rank(first + 2, per_channel ? 1 : 0));
  int64_t channels = kUnknownDim;
  if (per_channel) {
    WEFT_ASSIGN(channels, ShapeContext::merge_dim(low.dim(0), high.dim(0)));
    if (in.has_rank()) {
      if (in.rank() < 1) return invalid_argument("Shape must be at least rank 1 but is rank 0");
      WEFT_ASSIGN(channels, ShapeContext::merge_dim(in.dim(-1), channels));
    }
  }
  c.output(0, in);
  for (int i = 1; i < c.num_outputs(); ++i) c.output(i, per_channel ? PartialShape::vector(channels) : PartialShape::scalar());
  return {};
}

// QuantizeAndDequantize: the axis must exist; with a range given, its bounds fit the axis.
Status quantize_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  const int64_t axis = c.node().find_attr("axis") ? c.attr<int64_t>("axis") : -1;
  if (axis < -1) return invalid_argument("axis should be at least -1, got ", axis);
  if (in.has_rank() && axis >= in.rank()) return invalid_argument("Shape must be at least rank ", uint64_t(axis) + 1, " but is rank ", in.rank());
  if (axis == -1) {
    for (int i = 1; i <= 2 && i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  } else if (c.num_inputs() > 2) {
    WEFT_ASSIGN(PartialShape low, c.with_rank(1, 1));
    WEFT_ASSIGN([[maybe_unused]] int64_t depth, ShapeContext::merge_dim(low.dim(0), in.dim(int(axis))));
  }
  c.output(0, in);
  return {};
}

Status quantize_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.input(0).merge_with(c.input(1)));
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) return invalid_argument("axis should be at least -1, got ", axis);
  if (in.has_rank() && axis >= in.rank())
    return invalid_argument("Axis should be -1 or 0 or a positive value less than ", in.rank(), "but given axis value was ", axis);
  const PartialShape bound = axis == -1 ? PartialShape::scalar() : PartialShape::vector(in.has_rank() ? in.dim(int(axis)) : kUnknownDim);
  c.output(0, in);
  c.output(1, bound);
  c.output(2, bound);
  return {};
}

// ---- QuantizeAndDequantize

struct QuantizeArgs {
  bool is_signed, range_given, narrow_range, half_up;
  int bits;
  int64_t axis;
};

// Scales so that the range fills the quantised one from zero outwards; the tighter side decides.
template <class T>
struct QuantizeRange {
  T min, max, scale, inverse;
  QuantizeRange(T low, T high, const QuantizeArgs& q) : min(low), max(high) {
    const T quant_min = q.is_signed ? (q.narrow_range ? T(-(int64_t(1) << (q.bits - 1)) + 1) : T(-(int64_t(1) << (q.bits - 1)))) : T(0);
    const T quant_max = q.is_signed ? T((int64_t(1) << (q.bits - 1)) - 1) : T((int64_t(1) << q.bits) - 1);
    const T from_min = quant_min * min > 0 ? quant_min / min : std::numeric_limits<T>::max();
    const T from_max = quant_max * max > 0 ? quant_max / max : std::numeric_limits<T>::max();
    if (from_min < from_max) {
      scale = from_min;
      inverse = min / quant_min;
      max = quant_max * inverse;
    } else {
      scale = from_max;
      inverse = max / quant_max;
      min = quant_min * inverse;
    }
  }
  T operator()(T x, const QuantizeArgs& q) const {
    if (q.range_given) {
      x = max < x ? max : x;
      x = x < min ? min : x;
    }
    const T scaled = x * scale;
    return (q.half_up ? std::floor(scaled + T(0.5)) : std::nearbyint(scaled)) * inverse;
  }
};

// in is [outer, depth, inner]; the range of each index of the middle dimension from the data or from `low` and `high`.
template <class T>
Status quantize_all(KernelContext& c, const QuantizeArgs& q, const T* low, const T* high) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  const bool by_axis = q.axis >= 0;
  const int64_t depth = by_axis ? in.dim(int(q.axis)) : 1;
  const int64_t inner = by_axis ? in.shape().elements_in(int(q.axis) + 1, in.rank()) : in.num_elements();
  const int64_t outer = in.num_elements() / (depth * inner);
  const T* x = in.data<T>();
  T* y = out->data<T>();
  c.pool().parallel_for(depth, double(outer) * double(inner) * 3, [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) {
      T least, most;
      if (q.range_given) {
        least = low[d], most = high[d];
      } else {
        least = most = x[d * inner];
        for (int64_t o = 0; o < outer; ++o) {
          const T* p = x + (o * depth + d) * inner;
          for (int64_t i = 0; i < inner; ++i) {
            least = p[i] < least ? p[i] : least;
            most = most < p[i] ? p[i] : most;
          }
        }
      }
      const QuantizeRange<T> range(least, most, q);
      for (int64_t o = 0; o < outer; ++o) {
        const int64_t at = (o * depth + d) * inner;
        for (int64_t i = 0; i < inner; ++i) y[at + i] = range(x[at + i], q);
      }
    }
  });
  return {};
}

// V2 and V4, whose given range is one for all; V3, which takes it per index of the axis and the bits as an input.
template <bool v3>
Status run_quantize(KernelContext& c) {
  const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2);
  QuantizeArgs q{c.attr<bool>("signed_input"), c.attr<bool>("range_given"), c.attr<bool>("narrow_range"), false, 0, c.attr<int64_t>("axis")};
  if (q.axis < -1) return invalid_argument("Axis must be at least -1. Found ", q.axis);
  int64_t bits;
  if (v3) {
    if (q.axis >= in.rank())
      return invalid_argument("Axis requested is larger than input dimensions. Axis: ", q.axis, " Input Dimensions: ", in.rank());
    if (c.input(3).rank() != 0)
      return invalid_argument("Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: ", c.input(3).rank());
    bits = c.input(3).data<int32_t>()[0];
  } else {
    if (q.axis >= in.rank()) return invalid_argument("Shape must be at least rank ", q.axis + 1, " but is rank ", in.rank());
    bits = c.attr<int64_t>("num_bits");
    q.half_up = c.attr<std::string>("round_mode") == "HALF_UP";
  }
  if (bits <= 0 || bits >= (q.is_signed ? 62 : 63)) {
    return invalid_argument("num_bits is out of range: ", bits, v3 ? " with `signed_input_` " : " with signed_input_ ", q.is_signed);
  }
  q.bits = int(bits);
  return dispatch<float, double>(in.dtype(), [&]<class T>(Tag<T>) -> Status {
    if (!q.range_given) return quantize_all<T>(c, q, nullptr, nullptr);
    if (!v3 || q.axis == -1) {
      if (low.rank() != 0) return invalid_argument("input_min must be a scalar.");
      if (high.rank() != 0) return invalid_argument("input_max must be a scalar.");
    }
    if (q.axis == -1) {
      const T a = low.data<T>()[0], b = high.data<T>()[0];
      if (!(a <= b)) return invalid_argument("Invalid range: input_min ", a, " > input_max ", b);
    } else {
      const int64_t depth = in.dim(int(q.axis));
      for (const Tensor* t : {&low, &high}) {
        if (t->rank() == 1 && t->dim(0) == depth) continue;
        return invalid_argument(t == &low ? "input_min_tensor" : "input_max_tensor", " has incorrect size, was ", t->num_elements(), " expected ",
                                depth, " to match dim ", q.axis, " of the input ", t->shape());
      }
    }
    return quantize_all<T>(c, q, low.data<T>(), high.data<T>());
  });
}

// The first version: the range is in the attributes.
Status run_quantize_v1(KernelContext& c) {
  QuantizeArgs q{c.attr<bool>("signed_input"), c.attr<bool>("range_given"), false, false, 0, -1};
  const int64_t bits = c.attr<int64_t>("num_bits");
  if (bits <= 0 || bits >= (q.is_signed ? 62 : 63)) return invalid_argument("num_bits is out of range: ", bits, " with signed_input_ ", q.is_signed);
  q.bits = int(bits);
  const float low = c.attr<float>("input_min"), high = c.attr<float>("input_max");
  if (q.range_given && !(low <= high)) return invalid_argument("Invalid range: input_min ", low, " > input_max ", high);
  return dispatch<float, double>(c.input(0).dtype(), [&]<class T>(Tag<T>) {
    const T a = T(low), b = T(high);
    return quantize_all<T>(c, q, &a, &b);
  });
}

// The gradient passes inside the range. That of the bounds is zero, as on TensorFlow's CPU.
Status run_quantize_grad(KernelContext& c) {
  const Tensor &grad = c.input(0), &in = c.input(1), &low = c.input(2), &high = c.input(3);
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) return invalid_argument("Axis must be at least -1. Found ", axis);
  if (grad.shape() != in.shape()) return invalid_argument("gradient and input must be the same size");
  if (axis >= in.rank())
    return invalid_argument("Axis should be -1 or 0 or a positive value less than ", in.rank(), "but given axis value was ", axis);
  const int64_t depth = axis < 0 ? 1 : in.dim(int(axis));
  if (axis < 0) {
    if (low.rank() != 0) return invalid_argument("input_min must be a scalar if axis is unspecified");
    if (high.rank() != 0) return invalid_argument("input_max must be a scalar if axis is unspecified");
  } else {
    if (low.rank() != 1) return invalid_argument("min must have 1 dimension when axis is specified");
    if (high.rank() != 1) return invalid_argument("max must have 1 dimension when axis is specified");
    if (low.dim(0) != depth) return invalid_argument("min has incorrect size, expected ", depth, " was ", low.dim(0));
    if (high.dim(0) != depth) return invalid_argument("max has incorrect size, expected ", depth, " was ", high.dim(0));
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  WEFT_ASSIGN(Tensor* d_low, c.allocate(1, low.shape()));
  WEFT_ASSIGN(Tensor* d_high, c.allocate(2, high.shape()));
  const int64_t inner = axis < 0 ? std::max<int64_t>(in.num_elements(), 1) : std::max<int64_t>(in.shape().elements_in(int(axis) + 1, in.rank()), 1);
  return dispatch<float, double>(in.dtype(), [&]<class T>(Tag<T>) {
    std::fill_n(d_low->data<T>(), d_low->num_elements(), T(0));
    std::fill_n(d_high->data<T>(), d_high->num_elements(), T(0));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const int64_t d = i / inner % depth;
      const T x = in.data<T>()[i];
      out->data<T>()[i] = grad.data<T>()[i] * (x >= low.data<T>()[d] && x <= high.data<T>()[d] ? T(1) : T(0));
    }
    return Status();
  });
}

}  // namespace

void fake_quant(Registry& r) {
  r.add("FakeQuantWithMinMaxArgs")
      .in("inputs: float")
      .out("outputs: float")
      .attr("min: float = -6")
      .attr("max: float = 6")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false")
      .doc("Rounds to the steps of a quantised range that the attributes give.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("FakeQuantWithMinMaxArgsGradient", {g.dy(), g.x()}, g.attrs({"min", "max", "num_bits", "narrow_range"}))};
      })
      .cpu<FakeQuantArgs>();

  r.add("FakeQuantWithMinMaxArgsGradient")
      .in("gradients: float")
      .in("inputs: float")
      .out("backprops: float")
      .attr("min: float = -6")
      .attr("max: float = 6")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false")
      .doc("The gradient of FakeQuantWithMinMaxArgs.")
      .shape(same_shapes)
      .no_grad()
      .cpu<FakeQuantArgsGradient>();

  r.add("FakeQuantWithMinMaxVars")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("outputs: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false")
      .doc("As FakeQuantWithMinMaxArgs, with the range as inputs.")
      .shape(vars_shape<false, false>)
      .grad([](const GradContext& g) -> Grads {
        return g.apply("FakeQuantWithMinMaxVarsGradient", std::vector<Value>{g.dy(), g.x(0), g.x(1), g.x(2)}, g.attrs({"num_bits", "narrow_range"}));
      })
      .cpu<FakeQuantVars<false>>();

  r.add("FakeQuantWithMinMaxVarsGradient")
      .in("gradients: float")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("backprops_wrt_input: float")
      .out("backprop_wrt_min: float")
      .out("backprop_wrt_max: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false")
      .doc("The gradient of FakeQuantWithMinMaxVars, also for the range.")
      .shape(vars_shape<false, true>)
      .no_grad()
      .cpu<FakeQuantVarsGradient<false>>();

  r.add("FakeQuantWithMinMaxVarsPerChannel")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("outputs: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false")
      .doc("As FakeQuantWithMinMaxVars, with one range a channel.")
      .shape(vars_shape<true, false>)
      .grad([](const GradContext& g) -> Grads {
        return g.apply("FakeQuantWithMinMaxVarsPerChannelGradient", std::vector<Value>{g.dy(), g.x(0), g.x(1), g.x(2)},
                       g.attrs({"num_bits", "narrow_range"}));
      })
      .cpu<FakeQuantVars<true>>();

  r.add("FakeQuantWithMinMaxVarsPerChannelGradient")
      .in("gradients: float")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("backprops_wrt_input: float")
      .out("backprop_wrt_min: float")
      .out("backprop_wrt_max: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false")
      .doc("The gradient of FakeQuantWithMinMaxVarsPerChannel.")
      .shape(vars_shape<true, true>)
      .no_grad()
      .cpu<FakeQuantVarsGradient<true>>();

  r.add("QuantizeAndDequantize")
      .in("input: T")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("num_bits: int = 8")
      .attr("range_given: bool = false")
      .attr("input_min: float = 0")
      .attr("input_max: float = 0")
      .attr("T: {bfloat16, half, float, double}")
      .deprecated(22, "Replaced by QuantizeAndDequantizeV2")
      .doc("Quantises and turns back into floats.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy()}; })
      .cpu(run_quantize_v1, types<float, double>("T"));

  r.add("QuantizeAndDequantizeV2")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("num_bits: int = 8")
      .attr("range_given: bool = false")
      .attr("T: {bfloat16, half, float, double}")
      .attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1")
      .doc("Quantises with a range that is given or found, and turns back into floats.")
      .shape(quantize_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(), {}, {}}; })
      .cpu(run_quantize<false>, types<float, double>("T"));

  r.add("QuantizeAndDequantizeV3")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .in("num_bits: int32")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("range_given: bool = true")
      .attr("T: {bfloat16, half, float, double}")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1")
      .doc("As QuantizeAndDequantizeV2, with the number of bits as an input.")
      .shape(quantize_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(), {}, {}, {}}; })
      .cpu(run_quantize<true>, types<float, double>("T"));

  r.add("QuantizeAndDequantizeV4")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("num_bits: int = 8")
      .attr("range_given: bool = false")
      .attr("T: {bfloat16, half, float, double}")
      .attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1")
      .doc("As QuantizeAndDequantizeV2, with a gradient of its own.")
      .shape(quantize_shape)
      .grad([](const GradContext& g) -> Grads {
        return g.apply("QuantizeAndDequantizeV4Grad", std::vector<Value>{g.dy(), g.x(0), g.x(1), g.x(2)}, g.attrs({"axis"}));
      })
      .cpu(run_quantize<false>, types<float, double>("T"));

  r.add("QuantizeAndDequantizeV4Grad")
      .in("gradients: T")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .out("input_backprop: T")
      .out("input_min_backprop: T")
      .out("input_max_backprop: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("axis: int = -1")
      .doc("The gradient of QuantizeAndDequantizeV4.")
      .shape(quantize_grad_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(0), {}, {}, {}}; })
      .cpu(run_quantize_grad, types<float, double>("T"));

  set_layout(r, {"QuantizeAndDequantize"}, layouts::kElementwise);
}

}  // namespace weft_engine::ops

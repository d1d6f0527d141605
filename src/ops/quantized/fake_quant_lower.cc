// FakeQuantWithMinMax* and QuantizeAndDequantize*: rounding to the steps of a quantised range, and its gradients.
#include <limits>

#include "ops/lower_util.h"

namespace weft_engine::ops {
namespace {

struct FakeQuantRange {
  Value min = nullptr, max = nullptr, scale = nullptr,
        empty = nullptr;  // nudged so that zero falls onto a step; `empty`: 0..0, null where the range is constant
};

// A product that is added to would become one instruction that rounds once, and steps would fall otherwise than in the kernel: max and min with 0, which
// change nothing here, keep the two apart.
//
// The range as values of the shape of `low`; attributes of the node say how many steps it has.
FakeQuantRange fake_quant_range(LowerContext& l, Value low, Value high, bool may_be_empty) {
  ir::Builder& b = l.b;
  const int64_t bits = l.attr<int64_t>("num_bits");
  if (bits < 2 || bits > 16) {
    l.fail(invalid_argument("num_bits must be between 2 and 16, inclusive"));
    return {};
  }
  const double quant_min = l.attr<bool>("narrow_range") ? 1 : 0, quant_max = double((1 << bits) - 1);
  FakeQuantRange r;
  r.scale = b.div(b.sub(high, low), quant_max - quant_min);
  const Value from_min = b.sub(b.neg(b.div(low, r.scale)), -quant_min);
  // Between the bounds it is positive, so this rounds as the kernel does; comparisons first, so that a NaN stays.
  const auto zero_point = [&](double v) { return b.broadcast_to(b.scalar(DType::kFloat, v), low->type.dims); };
  const Value rounded = b.unary(ir::Unary::kFloor, b.add(from_min, 0.5));
  const Value zero = b.select(b.compare(ir::Compare::kLt, from_min, zero_point(quant_min)), zero_point(quant_min),
                              b.select(b.compare(ir::Compare::kGt, from_min, zero_point(quant_max)), zero_point(quant_max), rounded));
  r.min = b.min(b.mul(b.sub(zero_point(quant_min), zero), r.scale), 0.0);
  r.max = b.max(b.mul(b.sub(zero_point(quant_max), zero), r.scale), 0.0);
  if (may_be_empty) {
    const Value nothing = zero_point(0);
    r.empty = b.binary(ir::Binary::kAnd, b.compare(ir::Compare::kEq, low, nothing), b.compare(ir::Compare::kEq, high, nothing));
  }
  return r;
}

// min and max: the attributes, or the inputs behind `first`, spread over x.
struct FakeQuantInputs {
  Value low = nullptr, high = nullptr;
  bool per_channel = false, constant = false;
};
FakeQuantInputs fake_quant_inputs(LowerContext& l, Value x, int first) {
  FakeQuantInputs in;
  in.constant = l.node.find_attr("min") != nullptr;
  if (!x || !l.ok()) return in;
  if (in.constant) {
    if (!(l.attr<float>("min") < l.attr<float>("max"))) {
      l.fail(invalid_argument("min has to be smaller than max, was: ", l.attr<float>("min"), " >= ", l.attr<float>("max")));
      return in;
    }
    in.low = l.b.scalar(DType::kFloat, double(l.attr<float>("min")));
    in.high = l.b.scalar(DType::kFloat, double(l.attr<float>("max")));
    return in;
  }
  in.low = l.x(first);
  in.high = l.x(first + 1);
  if (!in.low || !in.high) return in;
  in.per_channel = l.node.op().find("PerChannel") != std::string_view::npos;
  const int rank = in.per_channel ? 1 : 0;
  for (const auto& [name, v] : {std::pair{"min", in.low}, std::pair{"max", in.high}}) {
    if (v->rank() != rank) {
      l.fail(invalid_argument("`", name, "` must be rank ", rank, " but is rank ", v->rank()));
      return in;
    }
    if (in.per_channel) {
      if (x->rank() < 1) {
        l.fail(invalid_argument("inputs must have at least one dimension, got ", x->type.to_string()));
        return in;
      }
      l.b.same(v->dim(0), x->dim(x->rank() - 1));
    }
  }
  return in;
}

Value spread(LowerContext& l, const FakeQuantInputs& in, Value v, Value like) {
  if (!v || !like) return nullptr;
  return l.b.broadcast_in_dim(v, like->type.dims, in.per_channel ? std::vector<int>{like->rank() - 1} : std::vector<int>{});
}

LoweredList fake_quant_forward(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0);
  const FakeQuantInputs in = fake_quant_inputs(l, x, 1);
  if (!l.ok() || !in.low || !in.high) return {};
  const FakeQuantRange r = fake_quant_range(l, in.low, in.high, !in.constant);
  if (!l.ok()) return {};
  const auto wide = [&](Value v) { return spread(l, in, v, x); };
  const Value inverse = b.div(b.broadcast_to(b.scalar(DType::kFloat, 1), r.scale->type.dims), r.scale);
  const Value quant_zero = b.unary(ir::Unary::kFloor, b.add(b.max(b.mul(b.neg(r.min), inverse), 0.0), 0.5));
  const Value min = wide(r.min), max = wide(r.max);
  const Value clamped = b.select(b.compare(ir::Compare::kLt, x, min), min, b.select(b.compare(ir::Compare::kGt, x, max), max, x));
  const Value steps = b.unary(ir::Unary::kFloor, b.add(b.sub(b.max(b.mul(b.sub(clamped, min), wide(inverse)), 0.0), wide(quant_zero)), 0.5));
  Value y = b.mul(steps, wide(r.scale));
  if (r.empty) y = b.select(wide(r.empty), b.fill(DType::kFloat, x->type.dims, 0), y);
  return {y};
}

LoweredList fake_quant_backward(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value dy = l.x(0), x = l.x(1);
  const FakeQuantInputs in = fake_quant_inputs(l, x, 2);
  if (!l.ok() || !dy || !in.low || !in.high) return {};
  if (dy->rank() != x->rank()) return l.fail(invalid_argument("gradient and input must be the same size"));
  for (int i = 0; i < x->rank(); ++i) b.same(dy->dim(i), x->dim(i));
  const FakeQuantRange r = fake_quant_range(l, in.low, in.high, !in.constant);
  if (!l.ok()) return {};
  const auto wide = [&](Value v) { return spread(l, in, v, x); };
  const Value min = wide(r.min), max = wide(r.max), nothing = b.fill(DType::kFloat, x->type.dims, 0);
  const Value inside = b.binary(ir::Binary::kAnd, b.compare(ir::Compare::kGe, x, min), b.compare(ir::Compare::kLe, x, max));
  const Value passed = b.mul(dy, b.convert(inside, DType::kFloat));
  if (in.constant) return {passed};
  const Value empty = wide(r.empty);
  // What lay beyond a bound is that bound's; without a range everything passes.
  std::vector<int> axes = axes_from(0, x->rank() - (in.per_channel ? 1 : 0));
  const auto beyond = [&](Value where) { return b.sum(b.select(empty, nothing, b.select(where, dy, nothing)), axes); };
  return {b.select(empty, dy, passed), beyond(b.compare(ir::Compare::kLt, x, min)), beyond(b.compare(ir::Compare::kGt, x, max))};
}

// ---- QuantizeAndDequantize

// A range of each index of an axis (or one of all), spread over x.
Value spread_range(ir::Builder& b, Value range, Value x, int64_t axis) {
  if (!range || range->rank() == 0) return range;
  return b.broadcast_in_dim(range, x->type.dims, {int(axis)});
}

// Scales so that the range fills the quantised one from zero outwards; the tighter side decides.
LoweredList quantize_and_dequantize(LowerContext& l) {
  ir::Builder& b = l.b;
  const bool v3 = l.node.op() == "QuantizeAndDequantizeV3";
  const Value x = l.x(0);
  if (!x) return {};
  const DType t = x->type.dtype;
  if (t != DType::kFloat && t != DType::kDouble) return l.unsupported("narrow types");
  const int64_t axis = l.attr<int64_t>("axis");
  if (axis < -1) return l.fail(invalid_argument("Axis must be at least -1. Found ", axis));
  if (axis >= x->rank()) return l.fail(invalid_argument("Shape must be at least rank ", axis + 1, " but is rank ", x->rank()));
  const auto bits = v3 ? l.integer(3) : std::optional<int64_t>(l.attr<int64_t>("num_bits"));
  if (!bits) return {};
  const bool is_signed = l.attr<bool>("signed_input"), given = l.attr<bool>("range_given");
  if (*bits <= 0 || *bits >= (is_signed ? 62 : 63))
    return l.fail(invalid_argument("num_bits is out of range: ", *bits, v3 ? " with `signed_input_` " : " with signed_input_ ", is_signed));
  const int64_t lowest = is_signed ? -(int64_t(1) << (*bits - 1)) + int64_t(l.attr<bool>("narrow_range")) : 0;
  const int64_t highest = is_signed ? (int64_t(1) << (*bits - 1)) - 1 : (int64_t(1) << *bits) - 1;
  Value low = nullptr, high = nullptr;
  if (given) {
    low = l.x(1), high = l.x(2);
    if (!low || !high) return {};
    if (axis == -1) {
      if (low->rank() != 0) return l.fail(invalid_argument("input_min must be a scalar."));
      if (high->rank() != 0) return l.fail(invalid_argument("input_max must be a scalar."));
      b.check(b.compare(ir::Compare::kLe, low, high), "Invalid range: input_min > input_max");
    } else {
      if (low->rank() != 1 || high->rank() != 1) return l.fail(invalid_argument("input_min_tensor has incorrect size"));
      b.same(low->dim(0), x->dim(int(axis)));
      b.same(high->dim(0), x->dim(int(axis)));
    }
  } else {
    std::vector<int> others;
    for (int d = 0; d < x->rank(); ++d) {
      if (d != axis) others.push_back(d);
    }
    low = b.reduce(ir::Reduce::kMin, x, others);
    high = b.reduce(ir::Reduce::kMax, x, others);
  }
  if (!low || !high || !l.ok()) return {};
  const Value quant_min = b.scalar(t, double(lowest)), quant_max = b.scalar(t, double(highest)), zero = b.scalar(t, 0);
  const Value none = b.scalar(t, t == DType::kDouble ? std::numeric_limits<double>::max() : double(std::numeric_limits<float>::max()));
  const auto scale_of = [&](Value quant, Value end) {
    return b.select(b.compare(ir::Compare::kGt, b.mul(quant, end), zero), b.div(quant, end), none);
  };
  const Value from_min = scale_of(quant_min, low), from_max = scale_of(quant_max, high), by_min = b.compare(ir::Compare::kLt, from_min, from_max);
  const Value scale = b.select(by_min, from_min, from_max);
  const Value inverse = lowest == 0 ? b.div(high, quant_max) : b.select(by_min, b.div(low, quant_min), b.div(high, quant_max));
  const Value top = b.select(by_min, b.mul(quant_max, inverse), high), bottom = b.select(by_min, low, b.mul(quant_min, inverse));
  const auto over = [&](Value range) { return spread_range(b, range, x, axis); };
  const Value held = given ? b.max(b.min(x, over(top)), over(bottom)) : x;
  Value scaled = b.mul(held, over(scale));
  const bool half_up = !v3 && l.attr<std::string>("round_mode") == "HALF_UP";
  scaled = half_up ? b.unary(ir::Unary::kFloor, b.add(scaled, 0.5)) : b.unary(ir::Unary::kRound, scaled);
  return {b.mul(scaled, over(inverse))};
}

// The gradient passes inside the range. That of the bounds is zero, as on TensorFlow's CPU.
LoweredList quantize_and_dequantize_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value dy = l.x(0), x = l.x(1), low = l.x(2), high = l.x(3);
  if (!dy || !x || !low || !high) return {};
  const int64_t axis = l.attr<int64_t>("axis");
  if (axis < -1 || axis >= x->rank())
    return l.fail(invalid_argument("Axis should be -1 or 0 or a positive value less than ", x->rank(), "but given axis value was ", axis));
  const int rank = axis < 0 ? 0 : 1;
  if (low->rank() != rank || high->rank() != rank)
    return l.fail(invalid_argument("input_min and input_max must be scalars if axis is unspecified, else vectors"));
  for (int d = 0; d < x->rank(); ++d) b.same(x->dim(d), dy->rank() == x->rank() ? dy->dim(d) : Dim(-1));
  for (Value v : {low, high}) {
    if (rank) b.same(v->dim(0), x->dim(int(axis)));
  }
  if (!l.ok()) return {};
  const auto over = [&](Value range) { return spread_range(b, range, x, axis); };
  const Value in = b.binary(ir::Binary::kAnd, b.compare(ir::Compare::kGe, x, over(low)), b.compare(ir::Compare::kLe, x, over(high)));
  const DType t = x->type.dtype;
  return {b.mul(dy, b.convert(in, t)), b.fill(t, low->type.dims, 0), b.fill(t, high->type.dims, 0)};
}

}  // namespace

void lower_fake_quant(Registry& r) {
  for (const char* op : {"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"}) r.lower(op, quantize_and_dequantize);
  r.lower("QuantizeAndDequantizeV4Grad", quantize_and_dequantize_grad);
  for (const char* kind : {"Args", "Vars", "VarsPerChannel"}) {
    r.lower(cat("FakeQuantWithMinMax", kind), fake_quant_forward);
    r.lower(cat("FakeQuantWithMinMax", kind, "Gradient"), fake_quant_backward);
  }
}

}  // namespace weft_engine::ops

// Rounding to the numbers that a quantised type could hold, while staying in floating point.
#include "op/registry.h"
#include "ops/lower_families.h"
#include "ops/math_lower.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using C = ir::Compare;
using V = ir::Value;

// A range moved a little so that zero falls onto a step; scalars, or vectors along the last dimension.
struct Range {
  V low, high, min, max, scale;
};

std::optional<Range> read_range(LowerContext& l, int first) {
  ir::Builder& b = l.b;
  const int64_t bits = l.attr<int64_t>("num_bits");
  if (bits < 2 || bits > 16) {
    l.fail(invalid_argument("num_bits must be between 2 and 16, inclusive"));
    return std::nullopt;
  }
  Range r;
  if (l.node.find_attr("min")) {
    const float low = l.attr<float>("min"), high = l.attr<float>("max");
    if (!(low < high)) {
      l.fail(invalid_argument("min has to be smaller than max, was: ", low, " >= ", high));
      return std::nullopt;
    }
    r.low = b.scalar(DType::kFloat, double(low));
    r.high = b.scalar(DType::kFloat, double(high));
  } else {
    r.low = l.x(first);
    r.high = l.x(first + 1);
  }
  const double quant_min = l.attr<bool>("narrow_range") ? 1 : 0, quant_max = double((1 << bits) - 1);
  r.scale = b.div(b.sub(r.high, r.low), quant_max - quant_min);
  const V from_min = b.sub(b.scalar(DType::kFloat, quant_min), b.div(r.low, r.scale));
  // Halves away from zero; what is negative is below quant_min anyway.
  const V whole = b.unary(ir::Unary::kFloor, b.add(from_min, 0.5));
  auto against = [&](C c, double v) { return b.compare(c, from_min, b.scalar(DType::kFloat, v)); };
  const V zero = b.select(against(C::kLt, quant_min), b.scalar(DType::kFloat, quant_min), b.select(against(C::kGt, quant_max), b.scalar(DType::kFloat, quant_max), whole));
  r.min = b.mul(b.sub(b.scalar(DType::kFloat, quant_min), zero), r.scale);
  r.max = b.mul(b.sub(b.scalar(DType::kFloat, quant_max), zero), r.scale);
  if (!r.max) return std::nullopt;
  return r;
}

// Both bounds 0: nothing to quantise to.
V is_empty(ir::Builder& b, const Range& r) {
  const V zero = b.scalar(DType::kFloat, 0);
  return b.binary(ir::Binary::kAnd, b.compare(C::kEq, r.low, zero), b.compare(C::kEq, r.high, zero));
}

LoweredList fake_quant(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x();
  const auto r = read_range(l, 1);
  if (!x || !r) return {};
  const V inverse = b.div(b.scalar(DType::kFloat, 1), r->scale);
  const V zero = b.unary(ir::Unary::kFloor, b.add(b.mul(b.neg(r->min), inverse), 0.5));
  const V clamped = b.select(b.compare(C::kLt, x, r->min), r->min, b.select(b.compare(C::kGt, x, r->max), r->max, x));
  const V steps = b.unary(ir::Unary::kFloor, b.add(b.sub(b.mul(b.sub(clamped, r->min), inverse), zero), 0.5));
  return {b.select(is_empty(b, *r), b.scalar(DType::kFloat, 0), b.mul(steps, r->scale))};
}

// Gradients pass where the input lay in the range; those of the bounds sum up what lay beyond.
LoweredList fake_quant_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const V g = l.x(0), x = l.x(1);
  const auto r = read_range(l, 2);
  if (!g || !x || !r) return {};
  const V zero = b.scalar(DType::kFloat, 0), below = b.compare(C::kLt, x, r->min), above = b.compare(C::kGt, x, r->max);
  const V inside = b.convert(b.binary(ir::Binary::kAnd, b.compare(C::kGe, x, r->min), b.compare(C::kLe, x, r->max)), DType::kFloat);
  if (l.node.num_outputs() == 1) return {b.mul(g, inside)};
  const V empty = is_empty(b, *r);
  const int channel = r->low->rank() == 1 ? x->rank() - 1 : -1;
  auto bound = [&](V where) { return b.select(empty, zero, b.sum(b.select(where, g, zero), axes_but(x->rank(), channel))); };
  return {b.select(empty, g, b.mul(g, inside)), bound(below), bound(above)};
}

}  // namespace

void lower_fake_quant(Registry& r) {
  for (const char* op : {"FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"}) r.lower(op, fake_quant);
  for (const char* op : {"FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannelGradient"}) r.lower(op, fake_quant_grad);
}

}  // namespace weft::ops

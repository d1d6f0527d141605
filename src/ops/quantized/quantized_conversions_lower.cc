// From floats to quantised numbers and back, between ranges, and moves. One range for the whole array: ranges of each slice are for the kernels.
#include <limits>

#include "ops/quantized/quantized_lower.h"

namespace weft_engine::ops {
namespace {

using B = ir::Binary;
using C = ir::Compare;
using U = ir::Unary;

Value one_float(LowerContext& l, int i, std::string_view what) {
  const Value v = l.x(i);
  if (!v) return nullptr;
  for (int d = 0; d < v->rank(); ++d) {
    if (v->dim(d).is(1)) continue;
    l.unsupported(what);
    return nullptr;
  }
  return l.b.reshape(v, {});
}

Value held(ir::Builder& b, Value x, Value low, Value high) {  // a NaN stays one
  const Value y = b.select(b.compare(C::kGt, x, high), high, x);
  return b.select(b.compare(C::kLt, y, low), low, y);
}

LoweredList quantize_v2(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0);
  const std::string& mode = l.attr<std::string>("mode");
  const bool half_to_even = l.attr<std::string>("round_mode") == "HALF_TO_EVEN", narrow = l.attr<bool>("narrow_range");
  if (l.attr<int64_t>("axis") >= 0) return l.unsupported("an axis");
  if (half_to_even && mode != "SCALED")
    return l.fail(invalid_argument("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '", mode, "'."));
  Value low = one_float(l, 1, "several ranges"), high = one_float(l, 2, "several ranges");
  if (!l.ok() || !x) return {};
  const QuantizedType t = quantized_type(l.out_type());
  b.check(b.compare(C::kGe, high, low), "input_max_range must be larger than input_min_range.");
  const auto size = [&](Value v) { return b.unary(U::kAbs, v); };
  const Value zero = number(b, 0), epsilon = b.mul(b.max(number(b, 1), b.max(size(low), size(high))), double(l.attr<float>("ensure_minimum_range")));
  high = b.max(zero, b.max(high, b.add(b.min(zero, low), apart(b, epsilon))));
  low = b.min(zero, low);
  const auto integer = [&](Value v) { return b.convert(to_int32(b, v), t.plain); };
  // Two cases of bytes are oneDNN's in TensorFlow, and differ.
  const bool byte = t.steps == 256 && !narrow;
  const auto saturated = [&](Value v) { return integer(held(b, b.unary(U::kRound, v), number(b, t.lowest), number(b, t.highest))); };
  if (mode == "MIN_FIRST" && byte && t.lowest == 0) {
    const Value scale = b.div(number(b, 255), b.sub(high, low));
    return {saturated(b.mul(b.sub(x, low), scale)), low, high};
  }
  if (mode == "MIN_FIRST") return {quantize_all(b, t, x, low, high), low, high};
  if (mode == "SCALED" && byte && half_to_even) {
    high = b.max(size(low), size(high));
    low = t.lowest == 0 ? zero : b.neg(high);
    return {saturated(b.mul(x, b.div(number(b, 255), b.sub(high, low)))), low, high};
  }
  if (mode == "MIN_COMBINED") {
    const Value scale = b.convert(b.div(number(b, t.steps - 1, DType::kDouble), b.convert(b.sub(high, low), DType::kDouble)), DType::kFloat);
    const Value v = apart(b, b.mul(b.sub(held(b, x, low, high), low), scale));
    if (t.lowest < 0) return {integer(round_away(b, b.sub(v, double(float(t.steps / 2))))), low, high};
    return {integer(b.unary(U::kTrunc, b.add(v, 0.5))), low, high};
  }
  const Value least = number(b, double(float(t.lowest + (narrow ? 1 : 0)))), most = number(b, double(float(t.highest))),
              none = number(b, double(std::numeric_limits<float>::max()));
  const auto by = [&](Value end, Value of) { return b.select(b.compare(C::kGt, b.mul(end, of), zero), b.div(end, of), none); };
  const Value from_low = by(least, low), from_high = by(most, high), scale = b.select(b.compare(C::kLt, from_high, from_low), from_high, from_low);
  low = b.div(least, scale);
  high = b.div(most, scale);
  const Value scaled = b.mul(held(b, x, low, high), scale);
  return {integer(half_to_even ? b.unary(U::kRound, scaled) : round_away(b, scaled)), low, high};
}

LoweredList dequantize(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0);
  const std::string& mode = l.attr<std::string>("mode");
  if (l.attr<int64_t>("axis") >= 0) return l.unsupported("an axis");
  const bool brain = l.out_type() == DType::kBfloat16;
  if (brain && mode != "MIN_COMBINED")
    return l.fail(invalid_argument("When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '", mode, "'"));
  if (!brain && l.out_type() != DType::kFloat) return l.unsupported("this type");
  const Value low = one_float(l, 1, "several ranges"), high = one_float(l, 2, "several ranges");
  if (!l.ok() || !x) return {};
  const QuantizedType t = quantized_type(l.node.input_types()[0]);
  const Value v = b.convert(x, DType::kFloat);
  if (mode == "MIN_FIRST") return {dequantize_all(b, t, x, low, high)};
  if (mode == "MIN_COMBINED") {
    const double half = t.lowest == 0 ? 0 : double((float(t.highest) - float(t.lowest) + 1) / 2.0f),
                 range = double(float(t.highest) - float(t.lowest));
    const Value scale = b.div(b.sub(high, low), range);
    return {b.convert(b.add(apart(b, b.mul(b.add(v, half), scale)), low), l.out_type())};
  }
  const double least = double(float(t.lowest + (l.attr<bool>("narrow_range") ? 1 : 0)));
  const Value by_high = b.div(high, double(float(t.highest)));
  Value scale = by_high;
  if (t.lowest != 0) {
    const Value by_low = b.div(low, least);
    scale = b.select(b.compare(C::kLt, by_low, by_high), by_high, by_low);
  }
  // By way of a float and an int, which the greatest 32-bit numbers do not survive.
  return {b.mul(b.convert(to_int32(b, v), DType::kFloat), scale)};
}

// The range that the numbers really use; the minimum is at most zero.
std::pair<Value, Value> used_range(LowerContext& l, Value x, Value low, Value high) {
  ir::Builder& b = l.b;
  const QuantizedType t = quantized_type(DType::kQint32);
  const std::vector<int> axes = axes_from(0, x->rank());
  const Value least = b.reduce(ir::Reduce::kMin, x, axes), most = b.reduce(ir::Reduce::kMax, x, axes);
  return {b.min(number(b, 0), dequantize_one(b, t, least, low, high)), dequantize_one(b, t, most, low, high)};
}

LoweredList requantized(LowerContext& l, Value x, Value low, Value high, Value new_low, Value new_high) {
  ir::Builder& b = l.b;
  const auto wide = [&](Value v) { return b.convert(v, DType::kDouble); };
  if (l.out_type() != DType::kQuint8) {
    const Value y = quantize_all(b, quantized_type(l.out_type()), dequantize_all(b, quantized_type(DType::kQint32), x, low, high), new_low, new_high);
    return {y, new_low, new_high};
  }
  // In fixed point, 16 bits behind the point.
  const Value in = b.sub(high, low), out = b.sub(new_high, new_low), none = b.compare(C::kEq, out, number(b, 0));
  const Value recip = b.select(none, number(b, 0), b.convert(b.div(number(b, 255, DType::kDouble), wide(out)), DType::kFloat));
  const Value middle = b.convert(b.div(wide(b.add(low, high)), 2.0), DType::kFloat);
  const Value nothing = b.scalar_int(DType::kInt64, 0);
  const Value scale = b.select(none, nothing, to_int64(b, b.div(b.mul(wide(in), 255.0 * 65536), wide(out))));
  const Value in_offset = to_int64(b, wide(b.mul(b.mul(middle, recip), 65536.0)));
  const Value out_offset = b.select(none, nothing, to_int64(b, round_away(b, b.div(b.mul(b.mul(wide(new_low), 255.0), 65536.0), wide(out)))));
  const Value offset = b.add(b.sub(in_offset, out_offset), b.scalar_int(DType::kInt64, 32768));
  const auto shifted = [&](Value v, int64_t by) { return b.binary(B::kShr, v, b.scalar_int(DType::kInt64, by)); };
  const Value y = shifted(b.add(shifted(b.mul(b.convert(x, DType::kInt64), scale), 32), offset), 16);
  const Value byte = b.min(b.max(y, nothing), b.scalar_int(DType::kInt64, 255));
  return {b.convert(byte, DType::kUint8), new_low, new_high};
}

LoweredList shrink_range(LowerContext& l) {
  const Value x = l.x(0), low = range_input(l, 1, "input_min"), high = range_input(l, 2, "input_max");
  if (!l.ok() || !x) return {};
  const auto [new_low, new_high] = used_range(l, x, low, high);
  return requantized(l, x, low, high, new_low, new_high);
}

LoweredList requantization_range(LowerContext& l) {
  const Value x = l.x(0), low = one_float(l, 1, "several ranges"), high = one_float(l, 2, "several ranges");
  if (!l.ok() || !x) return {};
  const auto [new_low, new_high] = used_range(l, x, low, high);
  return {new_low, new_high};
}

LoweredList requantize(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), low = range_input(l, 1, "input_min"), high = range_input(l, 2, "input_max"),
              new_low = range_input(l, 3, "requested_output_min"), new_high = range_input(l, 4, "requested_output_max");
  if (!l.ok() || !x) return {};
  // The kernels' words name the numbers.
  b.check(b.compare(C::kLe, new_low, number(b, 0)), "requested_output_min must be <= 0");
  b.check(b.compare(C::kGe, new_high, new_low), "requested_output_max must be >= requested_output_min");
  return requantized(l, x, low, high, new_low, new_high);
}

LoweredList quantized_concat(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto axis = l.integer(0);
  if (!axis) return {};
  const int n = int(l.attr<int64_t>("N"));
  const Value first = l.x(1);
  if (!first) return {};
  if (*axis < 0 || *axis >= first->rank())
    return l.fail(invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, ", first->rank(), "), but got ", *axis));
  Value low = number(b, double(std::numeric_limits<float>::max())), high = number(b, double(std::numeric_limits<float>::lowest()));
  std::vector<Value> lows, highs;
  for (int i = 0; i < n; ++i) {
    lows.push_back(one_float(l, 1 + n + i, "several ranges"));
    highs.push_back(one_float(l, 1 + 2 * n + i, "several ranges"));
    if (!l.ok()) return {};
    low = b.min(low, lows.back());
    high = b.max(high, highs.back());
  }
  const QuantizedType t = quantized_type(l.out_type());
  if (l.out_type() == DType::kQint32) {
    high = b.max(b.unary(U::kAbs, low), b.unary(U::kAbs, high));
    low = b.neg(high);
  }
  std::vector<Value> parts;
  for (int i = 0; i < n; ++i) {
    const Value x = l.x(1 + i), lo = lows[size_t(i)], hi = highs[size_t(i)];
    if (!x) return {};
    const Value same = b.binary(B::kAnd, b.compare(C::kEq, lo, low), b.compare(C::kEq, hi, high));
    parts.push_back(b.select(b.broadcast_to(same, x->type.dims), x, quantize_all(b, t, dequantize_all(b, t, x, lo, hi), low, high)));
  }
  return {b.concat(std::move(parts), int(*axis)), low, high};
}

LoweredList quantized_reshape(LowerContext& l) {
  const Value x = l.x(0);
  const auto sizes = l.ints(1);
  if (!sizes || !fixed_sizes(l, x)) return {};
  int64_t known = 1, elements = 1;
  int open = -1;
  for (int d = 0; d < x->rank(); ++d) elements *= x->dim(d).value();
  Dims dims;
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] == -1 && open < 0) open = int(i);
    else known = (*sizes)[i] < 0 ? -1 : multiply_without_overflow(known, (*sizes)[i]);
    if (known < 0) return l.unsupported("such a shape");  // the kernel says what is wrong
    dims.emplace_back((*sizes)[i]);
  }
  if (open >= 0) {
    if (known == 0 || elements % known != 0) return l.unsupported("such a shape");
    dims[size_t(open)] = elements / known;
    known = elements;
  }
  if (known != elements) return l.unsupported("such a shape");
  return {l.b.reshape(x, dims), one_float(l, 2, "several ranges"), one_float(l, 3, "several ranges")};
}

}  // namespace

void lower_quantized_conversions(Registry& r) {
  r.lower("Dequantize", dequantize);
  r.lower("QuantizeDownAndShrinkRange", shrink_range);
  r.lower("QuantizeV2", quantize_v2);
  r.lower("QuantizedConcat", quantized_concat);
  r.lower("QuantizedReshape", quantized_reshape);
  r.lower("RequantizationRange", requantization_range);
  r.lower("Requantize", requantize);
}

}  // namespace weft_engine::ops

// Arithmetic on quantised numbers.
#include "ops/quantized/quantized_lower.h"

#include <limits>

namespace weft_engine::ops {

using B = ir::Binary;
using C = ir::Compare;
using U = ir::Unary;

QuantizedType quantized_type(DType t) {
  switch (t) {
    case DType::kQint8: return {DType::kInt8, -128, 127, 256};
    case DType::kQuint8: return {DType::kUint8, 0, 255, 256};
    case DType::kQint16: return {DType::kInt16, -32768, 32767, 65536};
    case DType::kQuint16: return {DType::kUint16, 0, 65535, 65536};
    default: return {DType::kInt32, -2147483648.0, 2147483647.0, 4294967296.0};
  }
}

Value number(ir::Builder& b, double v, DType t) { return b.scalar(t, v); }

// Bounds that change nothing.
Value apart(ir::Builder& b, Value x) {
  if (!x) return nullptr;
  const double most = x->type.dtype == DType::kDouble ? std::numeric_limits<double>::max() : double(std::numeric_limits<float>::max());
  return b.min(b.max(x, -most), most);
}

Value round_away(ir::Builder& b, Value x) {
  if (!x) return nullptr;
  const Value whole = b.unary(U::kTrunc, x), rest = b.unary(U::kAbs, b.sub(x, whole));
  return b.select(b.compare(C::kGe, rest, number(b, 0.5, x->type.dtype)), b.add(whole, b.unary(U::kSign, x)), whole);
}

namespace {

Value to_integer(ir::Builder& b, Value x, DType to, double end, int64_t otherwise) {
  if (!x) return nullptr;
  const DType t = x->type.dtype;
  const Value fits = b.binary(B::kAnd, b.compare(C::kGe, x, number(b, -end, t)), b.compare(C::kLt, x, number(b, end, t)));
  return b.select(fits, b.convert(b.select(fits, x, number(b, 0, t)), to), b.scalar_int(to, otherwise));
}

Value clamp_int64(ir::Builder& b, Value x, const QuantizedType& t) {
  return b.min(b.max(x, b.scalar_int(DType::kInt64, int64_t(t.lowest))), b.scalar_int(DType::kInt64, int64_t(t.highest)));
}

Value as_double(ir::Builder& b, Value x) { return b.convert(x, DType::kDouble); }

}  // namespace

Value to_int32(ir::Builder& b, Value x) { return to_integer(b, x, DType::kInt32, 2147483648.0, INT32_MIN); }
Value to_int64(ir::Builder& b, Value x) { return to_integer(b, x, DType::kInt64, 9223372036854775808.0, INT64_MIN); }

Value quantize_unclamped(ir::Builder& b, const QuantizedType& t, Value x, Value low, Value high) {
  const Value range = b.mul(as_double(b, b.sub(high, low)), t.steps / (t.steps - 1));
  const Value scale = b.div(number(b, t.steps, DType::kDouble), range);
  const Value steps = b.sub(round_away(b, b.mul(as_double(b, x), scale)), round_away(b, b.mul(as_double(b, low), scale)));
  const Value lowest = b.scalar_int(DType::kInt64, int64_t(t.lowest));
  return b.select(b.compare(C::kEq, low, high), lowest, b.add(to_int64(b, steps), lowest));
}

Value quantize_one(ir::Builder& b, const QuantizedType& t, Value x, Value low, Value high) {
  return b.convert(clamp_int64(b, quantize_unclamped(b, t, x, low, high), t), t.plain);
}

Value dequantize_one(ir::Builder& b, const QuantizedType& t, Value v, Value low, Value high) {
  const Value range = b.mul(as_double(b, b.sub(high, low)), t.steps / (t.steps - 1));
  const Value scale = b.div(range, t.steps), narrow = b.convert(scale, DType::kFloat);
  const Value rounded = as_double(b, b.mul(round_away(b, b.div(low, narrow)), narrow));
  const Value y = b.add(rounded, apart(b, b.mul(b.sub(as_double(b, v), t.lowest), scale)));
  return b.select(b.compare(C::kEq, low, high), low, b.convert(y, DType::kFloat));
}

Value dequantize_all(ir::Builder& b, const QuantizedType& t, Value v, Value low, Value high) {
  const Value scale = b.convert(b.div(as_double(b, b.sub(high, low)), t.steps - 1), DType::kFloat);
  const Value rounded = b.select(b.compare(C::kEq, high, low), low, apart(b, b.mul(round_away(b, b.div(low, scale)), scale)));
  const Value base = b.sub(rounded, apart(b, b.mul(scale, t.lowest)));
  return b.add(base, apart(b, b.mul(b.convert(v, DType::kFloat), scale)));
}

Value quantize_all(ir::Builder& b, const QuantizedType& t, Value x, Value low, Value high) {
  const Value wide = b.div(number(b, t.steps - 1, DType::kDouble), as_double(b, b.sub(high, low)));
  const Value scale = b.select(b.compare(C::kEq, high, low), number(b, 0), b.convert(wide, DType::kFloat));
  const Value offset = b.sub(round_away(b, b.mul(low, scale)), t.lowest);
  // Bounds that a float can hold and an int32 too.
  const Value least = number(b, t.lowest), most = number(b, t.steps > 65536 ? 2147483520.0 : t.highest);
  const Value v = b.sub(round_away(b, b.mul(x, scale)), offset);
  const Value held = b.select(b.compare(C::kLt, v, least), least, b.select(b.compare(C::kGt, v, most), most, v));
  return b.convert(to_int32(b, held), t.plain);
}

std::pair<Value, Value> product_range(ir::Builder& b, Value min_a, Value max_a, Value min_b, Value max_b) {
  const Value level = b.mul(b.div(b.sub(max_a, min_a), 255.0), b.div(b.sub(max_b, min_b), 255.0));
  return {b.mul(level, -2147483648.0), b.mul(level, 2147483648.0)};  // the highest number as a float
}

Value range_input(LowerContext& l, int i, std::string_view name) {
  const Value v = l.x(i);
  if (v && v->rank() != 0) {
    l.fail(invalid_argument("`", name, "` must be rank 0 but is rank ", v->rank()));
    return nullptr;
  }
  return v;
}

bool fixed_sizes(LowerContext& l, Value x) {
  if (!x) return false;
  for (int d = 0; d < x->rank(); ++d) {
    if (!x->dim(d).is_const()) l.unsupported("open sizes");
  }
  return l.ok();
}

namespace {

const QuantizedType kByte = quantized_type(DType::kQuint8), kWide = quantized_type(DType::kQint32);

// A byte in a 32-bit range, on a line through the places of 0 and 1.
Value requantize_up(ir::Builder& b, Value v, Value low, Value high, Value new_low, Value new_high) {
  const auto at = [&](int64_t n) {
    return quantize_unclamped(b, kWide, dequantize_one(b, kByte, b.scalar_int(DType::kUint8, n), low, high), new_low, new_high);
  };
  const Value zero = at(0), step = b.convert(b.convert(b.sub(at(1), zero), DType::kInt32), DType::kInt64);
  return b.convert(clamp_int64(b, b.add(zero, b.mul(b.convert(v, DType::kInt64), step)), kWide), DType::kInt32);
}

// The two arrays as TensorFlow's kernel repeats them, flat; `scalar`: which of them (1 or 2) is a single number, or neither.
struct Pair {
  Value x = nullptr, y = nullptr;
  Dims dims;
  int scalar = 0;
};
std::optional<Pair> paired(LowerContext& l) {
  Pair p{l.x(0), l.x(1), {}, 0};
  if (!fixed_sizes(l, p.x) || !fixed_sizes(l, p.y)) return std::nullopt;
  const int rank = std::max(p.x->rank(), p.y->rank());
  int joined = 0, previous = -1;
  int64_t n = 1, nx = 1, ny = 1;
  for (int i = 0; i < rank; ++i) {
    const int ix = i - (rank - p.x->rank()), iy = i - (rank - p.y->rank());
    const int64_t a = ix < 0 ? 1 : p.x->dim(ix).value(), b = iy < 0 ? 1 : p.y->dim(iy).value();
    if (a != b && a != 1 && b != 1) {
      l.fail(invalid_argument("Incompatible shapes: ", shape_text(l.b, p.x->type.dims), " vs. ", shape_text(l.b, p.y->type.dims)));
      return std::nullopt;
    }
    p.dims.emplace_back(a == 1 ? b : a);
    n *= p.dims.back().value(), nx *= a, ny *= b;
    const int kind = a == b ? 0 : a == 1 ? 1 : 2;
    if (kind == 0 && a == 1) continue;
    joined += kind != previous;
    previous = kind;
  }
  if (n == 0 || joined > 2 || (joined == 2 && std::max(nx, ny) != n)) {
    l.unsupported("such a broadcast");
    return std::nullopt;
  }
  p.scalar = joined > 1 ? 0 : nx == 1 ? 1 : ny == 1 ? 2 : 0;
  const auto repeated = [&](Value v, int64_t size) {
    v = l.b.reshape(v, {Dim(size)});
    return size == n ? v : l.b.reshape(l.b.broadcast_in_dim(v, {Dim(n / size), Dim(size)}, {1}), {Dim(n)});
  };
  p.x = repeated(p.x, nx);
  p.y = repeated(p.y, ny);
  return p;
}

struct Ranges {
  Value min_x, max_x, min_y, max_y;
};
std::optional<Ranges> ranges(LowerContext& l, const char* x, const char* y, bool mul) {
  const Ranges r{range_input(l, 2, cat("min_", x)), range_input(l, 3, cat("max_", x)), range_input(l, 4, cat("min_", y)),
                 range_input(l, 5, cat("max_", y))};
  if (!l.ok()) return std::nullopt;
  l.b.check(l.b.compare(C::kGt, r.max_x, r.min_x), cat("max_", x, " must be larger than min_", mul ? "a" : x, "."));
  l.b.check(l.b.compare(C::kGt, r.max_y, r.min_y),
            mul ? std::string("max_x must be larger than min_b.") : cat("max_", y, " must be larger than min_", y, "."));
  return r;
}

LoweredList quantized_add(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto r = ranges(l, "x", "y", false);
  const auto p = r ? paired(l) : std::nullopt;
  if (!p) return {};
  const auto size = [&](Value v) { return b.unary(U::kAbs, v); };
  const Value range = b.mul(b.max(size(b.min(r->min_x, r->min_y)), size(b.max(r->max_x, r->max_y))), double(1 << 14)), low = b.neg(range);
  const auto side = [&](Value v, Value min, Value max, bool alone) {
    if (!alone) return requantize_up(b, v, min, max, low, range);
    return quantize_one(b, kWide, dequantize_one(b, kByte, v, min, max), low, range);
  };
  const Value sum = b.add(side(p->x, r->min_x, r->max_x, p->scalar == 1), side(p->y, r->min_y, r->max_y, p->scalar == 2));
  return {b.reshape(sum, p->dims), low, range};
}

// Bytes less the place of zero.
Value centred(ir::Builder& b, Value v, Value low, Value high) {
  const Value zero = b.convert(quantize_unclamped(b, kByte, number(b, 0), low, high), DType::kInt32);
  return b.sub(b.convert(v, DType::kInt32), zero);
}

LoweredList quantized_mul(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto r = ranges(l, "x", "y", true);
  const auto p = r ? paired(l) : std::nullopt;
  if (!p) return {};
  const auto [low, high] = product_range(b, r->min_x, r->max_x, r->min_y, r->max_y);
  return {b.reshape(b.mul(centred(b, p->x, r->min_x, r->max_x), centred(b, p->y, r->min_y, r->max_y)), p->dims), low, high};
}

LoweredList quantized_matmul(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), y = l.x(1);
  if (!x || !y) return {};
  if (x->rank() != 2) return l.fail(invalid_argument("In[0] is not a matrix"));
  if (y->rank() != 2) return l.fail(invalid_argument("In[1] is not a matrix"));
  const auto r = ranges(l, "a", "b", false);
  if (!r) return {};
  const bool ta = l.attr<bool>("transpose_a"), tb = l.attr<bool>("transpose_b");
  b.same(x->dim(ta ? 0 : 1), y->dim(tb ? 1 : 0));
  if (!l.ok()) return {};
  const auto [low, high] = product_range(b, r->min_x, r->max_x, r->min_y, r->max_y);
  return {b.dot(centred(b, x, r->min_x, r->max_x), centred(b, y, r->min_y, r->max_y), ta, tb), low, high};
}

LoweredList quantized_bias_add(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), bias = l.x(1), min_in = range_input(l, 2, "min_input"), max_in = range_input(l, 3, "max_input"),
              min_bias = range_input(l, 4, "min_bias"), max_bias = range_input(l, 5, "max_bias");
  if (!l.ok() || !x || !bias) return {};
  if (x->rank() < 2) return l.fail(invalid_argument("Input tensor must be at least 2D: ", shape_text(b, x->type.dims)));
  if (bias->rank() != 1) return l.fail(invalid_argument("Biases must be 1D: ", shape_text(b, bias->type.dims)));
  if (l.node.input_types()[0] != l.node.input_types()[1]) return l.unsupported("two types");
  b.same(bias->dim(0), x->dim(x->rank() - 1));
  if (!l.ok()) return {};
  const QuantizedType t = quantized_type(l.node.input_types()[0]);
  const Value range = b.mul(b.max(max_in, b.max(b.neg(min_in), b.max(max_bias, b.neg(min_bias)))), double(1 << 17)), low = b.neg(range);
  const Value zero = quantize_one(b, kWide, number(b, 0), low, range);
  const Value added = b.add(quantize_all(b, kWide, dequantize_all(b, t, bias, min_bias, max_bias), low, range), zero);
  return {b.add(quantize_all(b, kWide, dequantize_all(b, t, x, min_in, max_in), low, range), added), low, range};
}

template <int most>
LoweredList quantized_relu(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), low = range_input(l, 1, "min_input"), high = range_input(l, 2, "max_input");
  if (!l.ok() || !x) return {};
  if (l.out_type() != l.node.input_types()[0]) return l.unsupported("another type");
  const QuantizedType t = quantized_type(l.out_type());
  Value y = b.max(x, quantize_one(b, t, number(b, 0), low, high));
  if (most > 0) y = b.min(y, quantize_one(b, t, number(b, most), low, high));
  return {y, low, high};
}

}  // namespace

void lower_quantized(Registry& r) {
  r.lower("QuantizedAdd", quantized_add);
  r.lower("QuantizedBiasAdd", quantized_bias_add);
  r.lower("QuantizedMatMul", quantized_matmul);
  r.lower("QuantizedMul", quantized_mul);
  r.lower("QuantizedRelu", quantized_relu<0>);
  r.lower("QuantizedRelu6", quantized_relu<6>);
}

}  // namespace weft_engine::ops

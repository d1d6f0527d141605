// Uniform quantisation: from floats and back.
#include "ops/quantized/quantized_lower.h"

namespace weft_engine::ops {
namespace {

using C = ir::Compare;
using U = ir::Unary;

// Scales and zero points, one for all or one for each slice along an axis, spread over x.
struct Uniform {
  Value scale = nullptr, zero = nullptr;
};
std::optional<Uniform> uniform(LowerContext& l, Value x) {
  Value scale = l.x(1), zero = l.x(2);
  if (!x || !scale || !zero) return std::nullopt;
  const int64_t axis = l.attr<int64_t>("quantization_axis");
  const int rank = axis < 0 ? 0 : 1;
  if (axis < -1 || axis >= x->rank() || scale->rank() != rank || zero->rank() != rank) {
    l.unsupported("such a call");  // the kernel says what is wrong
    return std::nullopt;
  }
  if (rank) {
    l.b.same(scale->dim(0), x->dim(int(axis)));
    l.b.same(zero->dim(0), x->dim(int(axis)));
    if (!l.ok()) return std::nullopt;
  }
  const std::vector<int> axes = rank ? std::vector<int>{int(axis)} : std::vector<int>{};
  return Uniform{l.b.broadcast_in_dim(scale, x->type.dims, axes), l.b.broadcast_in_dim(zero, x->type.dims, axes)};
}

LoweredList uniform_quantize(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x();
  const auto u = uniform(l, x);
  if (!u) return {};
  const int64_t least = l.attr<int64_t>("quantization_min_val"), most = l.attr<int64_t>("quantization_max_val");
  if (least < INT32_MIN || least > INT32_MAX || most < INT32_MIN || most > INT32_MAX) return l.unsupported("such bounds");
  const Value inverse = b.div(number(b, 1), u->scale);
  const Value v = b.add(to_int32(b, b.unary(U::kFloor, b.add(apart(b, b.mul(x, inverse)), 0.5))), u->zero);
  const Value held = b.max(b.min(v, b.scalar_int(DType::kInt32, most)), b.scalar_int(DType::kInt32, least));
  return {b.convert(held, quantized_type(l.out_type()).plain)};
}

LoweredList uniform_dequantize(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x();
  const auto u = uniform(l, x);
  if (!u) return {};
  b.check(all_of(b, b.compare(C::kGt, l.x(1), number(b, 0))), "rhs scales elements must be all positive.");
  return {b.mul(b.convert(b.sub(b.convert(x, DType::kInt32), u->zero), DType::kFloat), u->scale)};
}

}  // namespace

void lower_quantized_uniform(Registry& r) {
  r.lower("UniformDequantize", uniform_dequantize);
  r.lower("UniformQuantize", uniform_quantize);
}

}  // namespace weft_engine::ops

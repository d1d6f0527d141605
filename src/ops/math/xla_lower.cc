// The few ops of XLA that programs use without its compiler.
#include <cmath>
#include <limits>

#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

std::vector<Value> starts_of(LowerContext& l, Value starts) {
  std::vector<Value> at;
  for (int64_t i = 0; starts && i < starts->dim(0).value(); ++i) at.push_back(element_of(l.b, starts, i));
  return at;
}

bool one_each(LowerContext& l, Value list, int rank) {
  if (!list) return false;
  if (list->rank() == 1 && list->dim(0).is(rank)) return true;
  l.fail(invalid_argument("has mismatched number of start indices (", list->type.elements().to_string(), ") and the rank of operand (", rank, ")"));
  return false;
}

LoweredList dynamic_slice(LowerContext& l) {
  const Value x = l.x(0), starts = l.x(1);
  const auto sizes = l.sizes(2);
  if (!x || !sizes || !one_each(l, starts, x->rank())) return {};
  if (int(sizes->size()) != x->rank())
    return l.fail(invalid_argument("has mismatched number of slice sizes (", sizes->size(), ") and number of start indices (", x->rank(), ")"));
  for (int i = 0; i < x->rank(); ++i) {
    const Dim& n = (*sizes)[size_t(i)];
    require_nonnegative(l, n, cat("has negative size index to dynamic slice: ", size_text(l.b, n)));
    require_nonnegative(
        l, x->dim(i) - n,
        cat("has slice size ", size_text(l.b, n), " greater than dimension size ", size_text(l.b, x->dim(i)), " in dimension ", i, " of operand"));
  }
  return {l.b.dynamic_slice(x, starts_of(l, starts), *sizes)};
}

LoweredList dynamic_update(LowerContext& l) {
  const Value x = l.x(0), update = l.x(1), starts = l.x(2);
  if (!x || !update || !one_each(l, starts, x->rank())) return {};
  if (update->rank() != x->rank()) return l.fail(invalid_argument("update must have the rank of the input, ", x->rank(), ", got ", update->rank()));
  for (int i = 0; i < x->rank(); ++i) require_nonnegative(l, x->dim(i) - update->dim(i), "update is larger than the input");
  return {l.b.dynamic_update(x, update, starts_of(l, starts))};
}

LoweredList pad(LowerContext& l) {
  const Value x = l.x(0), value = l.x(1);
  const auto low = l.sizes(2), high = l.sizes(3);
  const auto interior = l.ints(4);
  if (!x || !value || !low || !high || !interior) return {};
  const size_t rank = size_t(x->rank());
  if (low->size() != rank || high->size() != rank || interior->size() != rank)
    return l.fail(invalid_argument("paddings must have one element for each dimension of the input, ", rank));
  for (int64_t n : *interior) {
    if (n < 0) return l.fail(invalid_argument("padding_interior must contain only non-negative values, found ", n));
  }
  return {l.b.pad(x, as_scalar(l.b, value), *low, *high, *interior)};
}

// To the nearest number of so many bits, half to even; numbers too small are 0, numbers too large infinite.
LoweredList reduce_precision(LowerContext& l) {
  ir::Builder& b = l.b;
  const int64_t exponent = l.attr<int64_t>("exponent_bits"), mantissa = l.attr<int64_t>("mantissa_bits");
  const DType own = l.out_type();
  if (exponent < 1 || mantissa < 0 || exponent > 11 || mantissa > 52) return l.unsupported("these numbers of bits");
  // In double a sum with a number that is large enough rounds; then the exponent's range is looked at.
  const Value x = b.convert(l.x(), DType::kDouble);
  if (!x) return {};
  Value y = x;
  if (mantissa < 52) {
    const Value bits = b.bitcast(x, DType::kInt64);
    const int64_t drop = 52 - mantissa;
    const auto n = [&](int64_t v) { return b.scalar_int(DType::kInt64, v); };
    const Value odd = b.binary(ir::Binary::kAnd, b.binary(ir::Binary::kShr, bits, n(drop)), n(1));
    const Value rounded = b.add(b.add(bits, odd), n((int64_t(1) << (drop - 1)) - 1));
    y = b.bitcast(b.binary(ir::Binary::kAnd, rounded, n(~((int64_t(1) << drop) - 1))), DType::kDouble);
  }
  const Value size = b.unary(ir::Unary::kAbs, y);
  if (exponent < 11) {
    const int64_t bias = (int64_t(1) << (exponent - 1)) - 1;
    const Value sign_zero = b.mul(y, 0.0), huge = b.mul(y, std::numeric_limits<double>::infinity());
    y = b.select(b.compare(ir::Compare::kGe, size, b.scalar(DType::kDouble, std::ldexp(1.0, int(bias) + 1))), huge, y);
    y = b.select(b.compare(ir::Compare::kLt, size, b.scalar(DType::kDouble, std::ldexp(1.0, 1 - int(bias)))), sign_zero, y);
  }
  const Value finite = b.unary(ir::Unary::kIsFinite, x);
  return {b.convert(b.select(finite, y, x), own)};
}

}  // namespace

void lower_xla(Registry& r) {
  r.lower("XlaDynamicSlice", dynamic_slice);
  r.lower("XlaDynamicUpdateSlice", dynamic_update);
  r.lower("XlaPad", pad);
  r.lower("XlaReducePrecision", reduce_precision);
}

}  // namespace weft_engine::ops

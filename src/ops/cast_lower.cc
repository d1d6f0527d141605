#include "op/lower.h"
#include "op/registry.h"
#include "ops/lower_families.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

// A float that does not fit a small integer keeps the low bits of its int32, as on x86.
LoweredList cast(LowerContext& l) {
  V x = l.x();
  if (!x) return {};
  const DType from = x->type.dtype, to = base_type(l.out_type());
  if (from == to) return {x};
  if (l.attr<bool>("Truncate") && is_floating_type(from) && is_floating_type(to) && dtype_size(to) < dtype_size(from)) return l.unsupported("rounding towards zero");
  if (is_floating_type(from) && is_integer_type(to) && dtype_size(to) < 4) x = l.b.convert(x, DType::kInt32);
  if (is_floating_type(from) && to == DType::kUint32) x = l.b.convert(x, DType::kInt64);
  return {l.b.convert(x, to)};
}

LoweredList bitcast(LowerContext& l) {
  const V x = l.x();
  if (!x) return {};
  const DType to = l.out_type();
  if (x->type.dtype == to) return {x};
  if (dtype_size(x->type.dtype) != dtype_size(to)) return l.unsupported("a change of the element's size");
  return {l.b.bitcast(x, to)};
}

}  // namespace

void lower_cast(Registry& r) {
  r.lower("Bitcast", bitcast);
  r.lower("Cast", cast);
}

}  // namespace weft::ops

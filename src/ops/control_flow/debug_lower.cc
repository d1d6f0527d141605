// Ops that check values on their way. Print has no rule: compiled code shows nothing.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Binary;
using ir::Unary;

// What the data are is not known to the code, which ends with one of its fixed texts.
LoweredList assertion(LowerContext& l) {
  l.b.check(l.b.convert(as_scalar(l.b, l.x()), DType::kBool), cat("assertion failed: '", l.node.name(), "'"));
  return {};
}

LoweredList check_numerics(LowerContext& l, bool signs) {
  const Value x = l.x();
  if (!x) return {};
  auto none = [&](Value bad) {
    const Value any = l.b.reduce(ir::Reduce::kOr, bad, axes_from(0, x->rank()));
    return any ? l.b.unary(Unary::kNot, any) : nullptr;
  };
  auto text = [&](std::string_view kinds) { return cat(l.attr<std::string>("message"), " : Tensor had ", kinds, " values"); };
  const Value nan = none(l.b.unary(Unary::kIsNan, x)), inf = none(l.b.unary(Unary::kIsInf, x));
  if (!signs) {
    l.b.check(l.b.binary(Binary::kOr, nan, inf), text("Inf and NaN"));
    l.b.check(inf, text("Inf"));
    l.b.check(nan, text("NaN"));
    return {x};
  }
  const Value zero = l.b.scalar(x->type.dtype, 0);
  const Value low = none(l.b.binary(Binary::kAnd, l.b.unary(Unary::kIsInf, x), l.b.compare(ir::Compare::kLt, x, zero)));
  const Value high = none(l.b.binary(Binary::kAnd, l.b.unary(Unary::kIsInf, x), l.b.compare(ir::Compare::kGt, x, zero)));
  auto either = [&](Value a, Value b) { return l.b.binary(Binary::kOr, a, b); };
  l.b.check(either(either(low, high), nan), text("-Inf, +Inf, and NaN"));
  l.b.check(either(low, high), text("-Inf and +Inf"));
  l.b.check(either(low, nan), text("-Inf and NaN"));
  l.b.check(either(high, nan), text("+Inf and NaN"));
  l.b.check(low, text("-Inf"));
  l.b.check(high, text("+Inf"));
  l.b.check(nan, text("NaN"));
  return {x};
}

}  // namespace

void lower_debug(Registry& r) {
  r.lower("Assert", assertion);
  r.lower("CheckNumerics", [](LowerContext& l) -> LoweredList { return check_numerics(l, false); });
  r.lower("CheckNumericsV2", [](LowerContext& l) -> LoweredList { return check_numerics(l, true); });
  for (const char* op : {"DebugIdentity", "DebugIdentityV2", "DebugIdentityV3"}) r.lower(op, [](LowerContext& l) -> LoweredList { return {l.x()}; });
}

}  // namespace weft_engine::ops

// Running sums, products and log-sum-exps.
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

std::optional<int> scan_axis(LowerContext& l) {
  const auto given = l.integer(1);
  if (!given || !l.ok()) return std::nullopt;
  const int64_t rank = l.rank(), axis = *given < 0 ? *given + rank : *given;
  if (axis >= 0 && axis < rank) return int(axis);
  l.fail(invalid_argument("ScanOp: Expected scan axis in the range [", -rank, ", ", rank, "), but got ", axis));
  return std::nullopt;
}

LoweredList scan(LowerContext& l, ir::Reduce r) {
  const auto axis = scan_axis(l);
  if (!axis) return {};
  return {l.b.scan(r, l.x(), *axis, l.attr<bool>("exclusive"), l.attr<bool>("reverse"))};
}
LoweredList cumsum(LowerContext& l) { return scan(l, ir::Reduce::kSum); }
LoweredList cumprod(LowerContext& l) { return scan(l, ir::Reduce::kProd); }

// log(exp(a) + exp(b)); minus infinity adds nothing.
V log_plus(ir::Builder& b, V x, V y) {
  const V most = b.max(x, y), least = b.min(x, y);
  const V sum = b.add(b.unary(ir::Unary::kLog1p, b.exp(b.sub(least, most))), most);
  if (!sum) return nullptr;
  return b.select(b.compare(ir::Compare::kEq, least, b.scalar(sum->type.dtype, -std::numeric_limits<double>::infinity())), most, sum);
}

// Moved along `axis` by n places, away from the end at which the scan starts; minus infinity comes in.
V shifted(ir::Builder& b, V x, int axis, int64_t n, bool reverse) {
  if (!x) return nullptr;
  std::vector<ir::Dim> low(size_t(x->rank()), 0), high = low;
  low[size_t(axis)] = reverse ? -n : n;
  high[size_t(axis)] = reverse ? n : -n;
  return b.pad(x, b.scalar(x->type.dtype, -std::numeric_limits<double>::infinity()), low, high);
}

// In steps of 1, 2, 4 ... places: each element has then joined all before it.
LoweredList cumulative_logsumexp(LowerContext& l) {
  const auto axis = scan_axis(l);
  if (!axis) return {};
  V y = widened(l, l.x());
  if (!y) return {};
  if (!y->dim(*axis).is_const()) return l.unsupported("an unknown size along the axis");
  const bool reverse = l.attr<bool>("reverse");
  const int64_t n = y->dim(*axis).value();
  if (l.attr<bool>("exclusive") && n > 0) y = shifted(l.b, y, *axis, 1, reverse);
  for (int64_t step = 1; step < n; step *= 2) y = log_plus(l.b, y, shifted(l.b, y, *axis, step, reverse));
  return {l.b.convert(y, l.type().dtype)};
}

}  // namespace

void lower_scan(Registry& r) {
  r.lower("Cumprod", cumprod);
  r.lower("Cumsum", cumsum);
  r.lower("CumulativeLogsumexp", cumulative_logsumexp);
}

}  // namespace weft_engine::ops

// Of linear algebra, what is a few products. Factorisations have no rules: the engine runs them.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

LoweredList cross(LowerContext& l) {
  const Value a = l.x(0), b = l.x(1);
  if (!a || !b) return {};
  const int last = a->rank() - 1;
  if (last < 0 || b->rank() != a->rank() || !a->dim(last).is(3))
    return l.fail(invalid_argument("Cross-products are only defined for 3-element vectors."));
  auto part = [&](Value x, int i) { return l.b.slice_axis(x, last, Dim(i % 3), 1); };
  std::vector<Value> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(l.b.sub(l.b.mul(part(a, i + 1), part(b, i + 2)), l.b.mul(part(a, i + 2), part(b, i + 1))));
  return {l.b.concat(std::move(parts), last)};
}

}  // namespace

void lower_linalg(Registry& r) { r.lower("Cross", cross); }

}  // namespace weft_engine::ops

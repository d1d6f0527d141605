// Comparisons and choices.
#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using C = ir::Compare;
using V = ir::Value;

struct Row {
  std::string_view op;
  C c;
};
constexpr Row kRows[] = {
    {"Equal", C::kEq}, {"Greater", C::kGt}, {"GreaterEqual", C::kGe}, {"Less", C::kLt}, {"LessEqual", C::kLe}, {"NotEqual", C::kNe},
};

// Sizes that no broadcasting can bring together, however the open ones turn out.
bool never_meet(const ir::Type& a, const ir::Type& b) {
  const int shared = std::min(a.rank(), b.rank());
  for (int i = 1; i <= shared; ++i) {
    const ir::Dim &p = a.dims[size_t(a.rank() - i)], &q = b.dims[size_t(b.rank() - i)];
    if (p.is_const() && q.is_const() && !p.is(1) && !q.is(1) && !(p == q)) return true;
  }
  return false;
}

LoweredList by_table(LowerContext& l) {
  for (const Row& row : kRows) {
    if (row.op != l.node.op()) continue;
    if (l.node.find_attr("incompatible_shape_error") && !l.attr<bool>("incompatible_shape_error") && never_meet(l.type(0), l.type(1)))
      return {l.b.constant(Tensor::scalar(row.c == C::kNe))};
    return {l.b.compare(row.c, l.x(0), l.x(1))};
  }
  return l.unsupported("this comparison");
}

LoweredList approximate_equal(LowerContext& l) {
  const V d = l.b.unary(ir::Unary::kAbs, l.b.sub(l.x(0), l.x(1)));
  return {d ? l.b.compare(C::kLe, d, l.b.scalar(d->type.dtype, double(l.attr<float>("tolerance")))) : nullptr};
}

// The lower bound wins when the bounds are crossed; NaN elements stay.
LoweredList clip(LowerContext& l) {
  const V x = l.x(0), low = l.x(1), high = l.x(2);
  const V upper = l.b.select(l.b.compare(C::kLt, high, x), high, x);
  return {l.b.select(l.b.compare(C::kLt, upper, low), low, upper)};
}

// Beside its own shape, the condition may be a vector that picks rows.
LoweredList select(LowerContext& l) {
  V condition = l.x(0);
  const V t = l.x(1);
  if (!condition || !t) return {};
  if (condition->rank() == 1 && t->rank() > 1) {
    std::vector<ir::Dim> dims(size_t(t->rank()), 1);
    dims[0] = l.b.same(condition->dim(0), t->dim(0));
    condition = l.b.reshape(condition, dims);
  }
  return {l.b.select(condition, t, l.x(2))};
}
LoweredList select_v2(LowerContext& l) { return {l.b.select(l.x(0), l.x(1), l.x(2))}; }

}  // namespace

void lower_compare(Registry& r) {
  for (const Row& row : kRows) r.lower(row.op, by_table);
  r.lower("ApproximateEqual", approximate_equal);
  r.lower("ClipByValue", clip);
  r.lower("Select", select);
  r.lower("SelectV2", select_v2);
}

}  // namespace weft_engine::ops

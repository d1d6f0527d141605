// Reductions, and the places of extremes.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using R = ir::Reduce;
using V = ir::Value;

std::optional<std::vector<int>> reduced_axes(LowerContext& l) {
  const auto given = l.ints(1);
  if (!given) return std::nullopt;
  const int rank = l.rank();
  std::vector<int> axes;
  for (int64_t a : *given) {
    if (a < -rank || a >= rank) {
      l.fail(invalid_argument("Invalid reduction dimension (", a, " for input with ", rank, " dimension(s)"));
      return std::nullopt;
    }
    const int axis = int(a < 0 ? a + rank : a);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      l.fail(invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension: ", axis));
      return std::nullopt;
    }
    axes.push_back(axis);
  }
  return axes;
}

struct Row {
  std::string_view op;
  R r;
};
constexpr Row kRows[] = {{"All", R::kAnd}, {"Any", R::kOr}, {"Max", R::kMax}, {"Min", R::kMin}, {"Prod", R::kProd}, {"Sum", R::kSum}};

LoweredList by_table(LowerContext& l) {
  const auto axes = reduced_axes(l);
  if (!axes) return {};
  for (const Row& row : kRows) {
    if (row.op != l.node.op()) continue;
    const bool exact = row.r != R::kSum && row.r != R::kProd;
    return {l.b.convert(l.b.reduce(row.r, exact ? l.x() : widened(l, l.x()), *axes, l.attr<bool>("keep_dims")), l.type().dtype)};
  }
  return l.unsupported("this reduction");
}

// Integers narrower than 64 bits are summed in int64; the quotient is rounded towards zero.
LoweredList mean(LowerContext& l) {
  const auto axes = reduced_axes(l);
  if (!axes) return {};
  const DType t = l.type().dtype;
  const V x = is_integer_type(t) && t != DType::kUint64 ? l.b.convert(l.x(), DType::kInt64) : widened(l, l.x());
  return {l.b.convert(l.b.mean(x, *axes, l.attr<bool>("keep_dims")), t)};
}

LoweredList euclidean_norm(LowerContext& l) {
  const auto axes = reduced_axes(l);
  if (!axes) return {};
  const DType t = l.type().dtype;
  const V x = is_integer_type(t) ? l.b.convert(l.x(), DType::kDouble) : widened(l, l.x());
  return {l.b.convert(l.b.sqrt(l.b.sum(l.b.mul(x, conjugate(l.b, x)), *axes, l.attr<bool>("keep_dims"))), t)};
}

LoweredList l2_loss(LowerContext& l) {
  const V sum = l.b.sum(l.b.square(widened(l, l.x())), all_axes(l.rank()));
  return {l.b.convert(l.b.mul(sum, 0.5), l.type().dtype)};
}

LoweredList arg(LowerContext& l, R r) {
  const auto given = l.integer(1);
  const V x = l.x();
  if (!given || !x) return {};
  const int rank = x->rank();
  if (*given < -rank || *given >= rank)
    return l.fail(invalid_argument("Expected dimension in the range [", -rank, ", ", rank, "), but got ", *given));
  const int axis = int(*given < 0 ? *given + rank : *given);
  if (x->dim(axis).is(0)) return l.fail(invalid_argument("Reduction axis ", *given, " is empty in shape ", x->type.to_string()));
  const DType out = l.out_type(), index = out == DType::kInt32 || out == DType::kInt64 ? out : DType::kInt32;
  const V of = x->type.dtype == DType::kBool ? l.b.convert(x, DType::kInt32) : widened(l, x);
  return {l.b.convert(l.b.arg_reduce(r, of, axis, index), out)};
}
LoweredList arg_max(LowerContext& l) { return arg(l, R::kMax); }
LoweredList arg_min(LowerContext& l) { return arg(l, R::kMin); }

}  // namespace

void lower_reduce(Registry& r) {
  for (const Row& row : kRows) r.lower(row.op, by_table);
  r.lower("ArgMax", arg_max);
  r.lower("ArgMin", arg_min);
  r.lower("EuclideanNorm", euclidean_norm);
  r.lower("L2Loss", l2_loss);
  r.lower("Mean", mean);
}

}  // namespace weft_engine::ops

// Ops that order or compare elements. Unique has no rule: its shape depends on data.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Binary;
using ir::Compare;
using ir::Reduce;

LoweredList top_k(LowerContext& l, std::optional<int64_t> k) {
  const Value x = l.x();
  if (!x || !k) return {};
  if (*k < 0) return l.fail(invalid_argument("Need k >= 0, got ", *k));
  if (x->rank() < 1) return l.fail(invalid_argument("input must be >= 1-D, got shape []"));
  const int last = x->rank() - 1;
  const Dim& n = x->dim(last);
  require_nonnegative(l, n - Dim(*k), cat("input must have at least k columns. Had ", size_text(l.b, n), ", needed ", *k));
  if (!l.ok()) return {};
  const DType index = l.out_type(1);
  if (*k == 1 && !n.is(0)) {  // the most frequent one by far
    const Value at = l.b.expand_dims(l.b.arg_reduce(Reduce::kMax, x, last, index == DType::kInt64 ? index : DType::kInt32), last);
    return {l.b.gather(x, at, last, last, ""), l.b.convert(at, index)};
  }
  const auto [values, places] = l.b.sort(x, true);
  return {l.b.slice_axis(values, last, 0, Dim(*k)), l.b.convert(l.b.slice_axis(places, last, 0, Dim(*k)), index)};
}

// Exact, as on CPUs. The other forms have no kernel there.
LoweredList approx_top_k(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const int64_t axis = l.attr<int64_t>("reduction_dimension");
  if (!l.attr<bool>("is_max_k") || (axis != -1 && axis != x->rank() - 1)) return l.unsupported("other than the greatest of the last dimension");
  return top_k(l, l.attr<int64_t>("k"));
}

LoweredList nth_element(LowerContext& l) {
  const Value x = l.x();
  const auto n = l.integer(1);
  if (!x || !n) return {};
  if (*n < 0) return l.fail(invalid_argument("n must be non-negative but is ", *n));
  if (x->rank() < 1) return l.fail(invalid_argument("Input must be at least rank 1 but is rank 0"));
  const int last = x->rank() - 1;
  require_nonnegative(l, x->dim(last) - Dim(*n + 1), cat("Input must have last dimension > n = ", *n));
  const Value sorted = l.b.sort(x, l.attr<bool>("reverse")).first;
  return {l.b.reshape(l.b.slice_axis(sorted, last, Dim(*n), 1), dims_of(x, 0, last))};
}

LoweredList sort(LowerContext& l) {
  const Value x = l.x();
  return {x && x->rank() > 0 ? l.b.sort(x, false).first : x};
}

LoweredList key_value_sort(LowerContext& l) {
  const Value keys = l.x(0), values = l.x(1);
  if (!keys || !values) return {};
  if (keys->rank() < 1) return l.fail(invalid_argument("sort needs an operand of at least rank 1, got shape []"));
  if (values->rank() != keys->rank()) return l.fail(invalid_argument("keys and values must have the same shape"));
  for (int d = 0; d < keys->rank(); ++d) l.b.same(keys->dim(d), values->dim(d));
  if (!l.ok()) return {};
  const auto [sorted, places] = l.b.sort(keys, false);
  return {sorted, l.b.gather(values, places, keys->rank() - 1, keys->rank() - 1, "")};
}

// How many of the sorted numbers are before each value: they are compared all, which vector units do faster than a search while
// they are few.
LoweredList bound(LowerContext& l, Compare before) {
  const Value sorted = l.x(0), values = l.x(1);
  if (!sorted || !values) return {};
  if (sorted->rank() != 2 || values->rank() != 2)
    return l.fail(invalid_argument("Shape must be rank 2 for both arguments of ", l.node.op(), " '", l.node.name(), "'"));
  const Dim rows = l.b.same(sorted->dim(0), values->dim(0));
  const Dims dims{rows, values->dim(1), sorted->dim(1)};
  const Value smaller = l.b.compare(before, l.b.broadcast_in_dim(sorted, dims, {0, 2}), l.b.broadcast_in_dim(values, dims, {0, 1}));
  return {l.b.sum(l.b.convert(smaller, l.out_type()), {2})};
}

LoweredList bucketize(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const auto& boundaries = l.attr<std::vector<float>>("boundaries");
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] < boundaries[i - 1]) return l.fail(invalid_argument("Expected sorted boundaries"));
  }
  // The engine compares numbers as the common type of both.
  const DType wide = x->type.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
  Dims dims = x->type.dims;
  dims.emplace_back(int64_t(boundaries.size()));
  const Value edges = l.b.convert(l.b.constant(Tensor::vector(boundaries)), wide);
  const Value v = l.b.broadcast_in_dim(l.b.convert(x, wide), dims, axes_from(0, x->rank()));
  // Not "edge <= x": NaN is behind all.
  const Value behind = l.b.unary(ir::Unary::kNot, l.b.compare(Compare::kLt, v, edges));
  return {l.b.sum(l.b.convert(behind, DType::kInt32), {x->rank()})};
}

// Fewer than k predictions above the target's; not finite ones decide against it.
LoweredList in_top_k(LowerContext& l) {
  const Value x = l.x(0), targets = l.x(1);
  if (!x || !targets) return {};
  if (x->rank() != 2) return l.fail(invalid_argument("predictions must be 2-dimensional"));
  if (targets->rank() != 1) return l.fail(invalid_argument("targets must be 1-dimensional"));
  l.b.same(x->dim(0), targets->dim(0));
  const DType t = targets->type.dtype;
  const Value k = l.num_inputs() > 2 ? l.x(2) : l.b.scalar_int(t, l.attr<int64_t>("k"));
  const Value own = l.b.gather(x, l.b.expand_dims(targets, 1), 1, 1, "");
  const Value above = l.b.sum(l.b.convert(l.b.compare(Compare::kGt, x, own), t), {1});
  const Value finite = l.b.reduce(Reduce::kAnd, l.b.unary(ir::Unary::kIsFinite, x), {1});
  return {l.b.binary(Binary::kAnd, l.b.binary(Binary::kAnd, inside(l.b, targets, x->dim(1)), finite), l.b.compare(Compare::kLt, above, k))};
}

}  // namespace

void lower_sort(Registry& r) {
  r.lower("ApproxTopK", approx_top_k);
  r.lower("Bucketize", bucketize);
  r.lower("InTopK", in_top_k);
  r.lower("InTopKV2", in_top_k);
  r.lower("LowerBound", [](LowerContext& l) -> LoweredList { return bound(l, Compare::kLt); });
  r.lower("NthElement", nth_element);
  r.lower("TopK", [](LowerContext& l) -> LoweredList { return top_k(l, l.attr<int64_t>("k")); });
  r.lower("TopKV2", [](LowerContext& l) -> LoweredList { return top_k(l, l.integer(1)); });
  r.lower("Unique", shape_from_data);
  r.lower("UniqueV2", shape_from_data);
  r.lower("ListDiff", shape_from_data);
  r.lower("UpperBound", [](LowerContext& l) -> LoweredList { return bound(l, Compare::kLe); });
  r.lower("XlaKeyValueSort", key_value_sort);
  r.lower("XlaSort", sort);
}

}  // namespace weft_engine::ops

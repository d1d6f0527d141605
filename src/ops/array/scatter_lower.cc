// Rows written by index.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Reduce;

// x with updates combined at the index tuples.
Value scatter_nd(LowerContext& l, Value x, Value indices, Value updates, Reduce how) {
  if (!x || !indices || !updates) return nullptr;
  if (x->type.dtype == DType::kBool && how == Reduce::kSum) how = Reduce::kOr;
  if (indices->rank() < 1)
    return l.b.fail(invalid_argument("Indices shape must have rank at least one. Found:", shape_text(l.b, indices->type.dims)));
  const int outer = indices->rank() - 1;
  const Dim& width = indices->dim(outer);
  if (!width.is_const()) return l.b.fail(unimplemented("index tuples of open length at '", l.node.name(), "'"));
  if (width.value() > x->rank() || updates->rank() - outer != x->rank() - width.value())
    return l.b.fail(invalid_argument("Dimensions [", width.value(), ",", x->rank(), ") of input[shape=", shape_text(l.b, x->type.dims),
                                     "] must match dimensions [", outer, ",", updates->rank(),
                                     ") of updates[shape=", shape_text(l.b, updates->type.dims), "]"));
  const int tuple = int(width.value());
  const Dims dims = dims_of(x, 0, tuple), slice = dims_of(x, tuple, x->rank()), at = dims_of(indices, 0, outer);
  for (int i = 0; i < outer; ++i) l.b.same(indices->dim(i), updates->dim(i));
  for (size_t i = 0; i < slice.size(); ++i) l.b.same(slice[i], updates->dim(outer + int(i)));
  if (!l.ok()) return nullptr;
  auto rows = [&](Value v, const Dim& n) {
    Dims shape{n};
    shape.insert(shape.end(), slice.begin(), slice.end());
    return l.b.reshape(v, std::move(shape));
  };
  const Dim n = ir::product(at);
  const bool ignore = l.attr<std::string>("bad_indices_policy") == "IGNORE";
  const std::string text = cat("indices[...] does not index into shape ", shape_text(l.b, x->type.dims));
  const Value where = l.b.reshape(rows_of_tuples(l.b, indices, dims), {n});
  return l.b.reshape(l.b.scatter(rows(x, ir::product(dims)), where, rows(updates, n), how, ignore ? "" : text), x->type.dims);
}

template <Reduce kHow>
LoweredList tensor_scatter(LowerContext& l) {
  return {scatter_nd(l, l.x(0), l.x(1), l.x(2), kHow)};
}

LoweredList scatter_nd_new(LowerContext& l) {
  const auto dims = l.sizes(2);
  const Value updates = l.x(1);
  if (!dims || !updates) return {};
  return {scatter_nd(l, l.b.fill(updates->type.dtype, *dims, 0), l.x(0), updates, Reduce::kSum)};
}

// The old ops, which wrap indices.
template <Reduce kHow>
LoweredList inplace(LowerContext& l) {
  const Value x = l.x(0), i = l.x(1), v = l.x(2);
  if (!x || !i || !v) return {};
  if (x->rank() < 1 || i->rank() != 1) return l.fail(invalid_argument("i must be a vector. ", shape_text(l.b, i->type.dims)));
  const Value n = l.b.sizes({x->dim(0)}, i->type.dtype, true);
  const Reduce how = x->type.dtype == DType::kBool && kHow == Reduce::kSum ? Reduce::kOr : kHow;
  return {l.b.scatter(x, l.b.binary(ir::Binary::kFloorMod, i, n), v, how, "")};
}

}  // namespace

void lower_scatter(Registry& r) {
  r.lower("InplaceAdd", inplace<Reduce::kSum>);
  r.lower("InplaceSub", inplace<Reduce::kSub>);
  r.lower("InplaceUpdate", inplace<Reduce::kSet>);
  r.lower("ScatterNd", scatter_nd_new);
  r.lower("ScatterNdNonAliasingAdd", tensor_scatter<Reduce::kSum>);
  r.lower("TensorScatterAdd", tensor_scatter<Reduce::kSum>);
  r.lower("TensorScatterMax", tensor_scatter<Reduce::kMax>);
  r.lower("TensorScatterMin", tensor_scatter<Reduce::kMin>);
  r.lower("TensorScatterSub", tensor_scatter<Reduce::kSub>);
  r.lower("TensorScatterUpdate", tensor_scatter<Reduce::kSet>);
}

}  // namespace weft_engine::ops

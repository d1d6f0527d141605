// Rows taken by index.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

LoweredList gather_along(LowerContext& l, int64_t axis, int64_t batch) {
  const Value x = l.x(0), indices = as_index(l.b, l.x(1));
  if (!x || !indices) return {};
  if (x->rank() < 1) return l.fail(invalid_argument("params must be at least 1 dimensional"));
  if (axis < -x->rank() || axis >= x->rank())
    return l.fail(invalid_argument("Shape must be at least rank ", axis < 0 ? -axis : axis + 1, " but is rank ", x->rank()));
  if (axis < 0) axis += x->rank();
  if (batch < -indices->rank() || batch > indices->rank())
    return l.fail(invalid_argument("Expected batch_dims in the range [", -indices->rank(), ", ", indices->rank(), "], but got ", batch));
  if (batch < 0) batch += indices->rank();
  if (batch > axis) return l.fail(invalid_argument("batch_dims (", batch, ") must be less than or equal to axis (", axis, ")."));
  for (int i = 0; i < batch; ++i) {
    if (x->dim(i).is_const() && indices->dim(i).is_const() && !(x->dim(i) == indices->dim(i)))
      return l.fail(
          invalid_argument("params.shape[", i, "]: ", x->dim(i).value(), " should be equal to indices.shape[", i, "]: ", indices->dim(i).value()));
  }
  return {l.b.gather(x, indices, int(axis), int(batch), cat("indices[...] is not in [0, ", size_text(l.b, x->dim(int(axis))), ")"))};
}

LoweredList gather_v2(LowerContext& l) {
  const auto axis = l.integer(2);
  return axis ? gather_along(l, *axis, l.attr<int64_t>("batch_dims")) : LoweredList();
}

LoweredList gather_nd(LowerContext& l) {
  const Value x = l.x(0), indices = l.x(1);
  if (!x || !indices) return {};
  if (x->rank() < 1) return l.fail(invalid_argument("params must be at least a vector"));
  if (indices->rank() < 1) return l.fail(invalid_argument("indices must be at least a vector"));
  const Dim& width = indices->dim(indices->rank() - 1);
  if (!width.is_const()) return l.unsupported("index tuples of open length");
  const int tuple = int(width.value());
  if (width.value() > x->rank())
    return l.fail(invalid_argument("index innermost dimension length must be <= params rank; saw: ", width.value(), " vs. ", x->rank()));
  const std::string& policy = l.attr<std::string>("bad_indices_policy");
  const bool ignore = policy == "IGNORE";
  const Dims dims = dims_of(x, 0, tuple);
  Dims rows = dims_of(x, tuple, x->rank());
  rows.insert(rows.begin(), ir::product(dims));
  const std::string text = cat("indices[...] does not index into param shape ", shape_text(l.b, x->type.dims), ", node name: ", l.node.name());
  return {l.b.gather(l.b.reshape(x, std::move(rows)), rows_of_tuples(l.b, indices, dims), 0, 0, ignore ? "" : text)};
}

}  // namespace

void lower_gather(Registry& r) {
  r.lower("Gather", [](LowerContext& l) -> LoweredList { return gather_along(l, 0, 0); });
  r.lower("GatherV2", gather_v2);
  r.lower("GatherNd", gather_nd);
}

}  // namespace weft_engine::ops

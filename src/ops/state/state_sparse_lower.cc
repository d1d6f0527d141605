// Parts of variables: rows gathered and scattered.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/lower_util.h"
#include "ops/state/state_updates_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

using ir::Dim;
using ir::Value;

namespace {

std::string outside(const Value x) { return cat("indices are not in [0, ", x->dim(0).to_string(), ")"); }

// Index tuples as numbers of rows of x with its first `depth` dimensions in one; out of range gives -1, which is outside for sure.
Value row_numbers(LowerContext& l, Value x, Value indices, int depth) {
  const int at = indices->rank() - 1;
  const Value wide = l.b.convert(indices, DType::kInt64);
  std::vector<Dim> dims(indices->type.dims.begin(), indices->type.dims.end() - 1);
  Value sum = l.b.fill(DType::kInt64, dims, 0), good = nullptr;
  for (int d = 0; d < depth; ++d) {
    const Value i = l.b.reshape(l.b.slice_axis(wide, at, Dim(d), Dim(1)), dims);
    const Value size = l.b.sizes({x->dim(d)}, DType::kInt64, true);
    const Value fits =
        l.b.binary(ir::Binary::kAnd, l.b.compare(ir::Compare::kGe, i, l.b.scalar_int(DType::kInt64, 0)), l.b.compare(ir::Compare::kLt, i, size));
    good = good ? l.b.binary(ir::Binary::kAnd, good, fits) : fits;
    sum = l.b.add(l.b.mul(sum, size), i);
  }
  return good ? l.b.select(good, sum, l.b.scalar_int(DType::kInt64, -1)) : sum;
}

LoweredList gather(LowerContext& l) {
  const Value x = l.read(), indices = l.x(1);
  const int batch = int(l.attr<int64_t>("batch_dims"));
  if (!x || !indices) return {};
  if (batch < 0 || batch > indices->rank() || batch >= x->rank()) return l.unsupported("this batch_dims");
  return {l.b.gather(x, indices, batch, batch, outside(x))};
}

LoweredList gather_nd(LowerContext& l) {
  const Value x = l.read(), indices = l.x(1);
  if (!x || !indices) return {};
  if (indices->rank() < 1 || !indices->dim(indices->rank() - 1).is_const()) return l.unsupported("indices of open depth");
  const int64_t depth = indices->dim(indices->rank() - 1).value();
  if (depth > x->rank()) return l.fail(invalid_argument("index innermost dimension length must be <= params rank ('", l.node.name(), "')"));
  std::vector<Dim> dims{product(std::span(x->type.dims).first(size_t(depth)))};
  dims.insert(dims.end(), x->type.dims.begin() + depth, x->type.dims.end());
  return {l.b.gather(l.b.reshape(x, dims), row_numbers(l, x, indices, int(depth)), 0, 0, "indices do not index into the variable's shape")};
}

LoweredList scatter(LowerContext& l) {
  l.assign(0, scatter_rows(l, l.read(), l.x(1), l.x(2), scatter_reduce(l.node.op())));
  return {};
}
LoweredList scatter_nd_into(LowerContext& l) {
  l.assign(0, scatter_nd(l, l.read(), l.x(1), l.x(2), scatter_reduce(l.node.op())));
  return {};
}

LoweredList slice_assign(LowerContext& l) {
  const Value x = l.read();
  if (!x) return {};
  const auto s = read_strided_slice(l, x->type.dims, 1);
  if (s) l.assign(0, strided_update(l, x, *s, l.x(4)));
  return {};
}

}  // namespace

ir::Reduce scatter_reduce(std::string_view op) {
  if (op.ends_with("Add")) return ir::Reduce::kSum;
  if (op.ends_with("Sub")) return ir::Reduce::kSub;
  if (op.ends_with("Mul")) return ir::Reduce::kProd;
  if (op.ends_with("Div")) return ir::Reduce::kDiv;
  if (op.ends_with("Min")) return ir::Reduce::kMin;
  if (op.ends_with("Max")) return ir::Reduce::kMax;
  return ir::Reduce::kSet;
}

Value scatter_rows(LowerContext& l, Value x, Value indices, Value updates, ir::Reduce reduce) {
  if (!x || !indices || !updates) return nullptr;
  if (x->rank() < 1) return l.b.fail(invalid_argument("a scalar has no rows to scatter to ('", l.node.name(), "')"));
  const Dim n = indices->type.elements();
  std::vector<Dim> dims = x->type.dims;
  dims[0] = n;
  const Value rows = updates->rank() == 0 ? l.b.broadcast_to(updates, dims) : l.b.reshape(updates, dims);
  return l.b.scatter(x, l.b.reshape(indices, {n}), rows, reduce, outside(x));
}

Value scatter_nd(LowerContext& l, Value x, Value indices, Value updates, ir::Reduce reduce) {
  if (!x || !indices || !updates) return nullptr;
  if (indices->rank() < 1 || !indices->dim(indices->rank() - 1).is_const())
    return l.b.fail(unimplemented("indices of open depth ('", l.node.name(), "')"));
  const int64_t depth = indices->dim(indices->rank() - 1).value();
  if (depth > x->rank()) return l.b.fail(invalid_argument("index innermost dimension length must be <= params rank ('", l.node.name(), "')"));
  const Value numbers = row_numbers(l, x, indices, int(depth));
  if (!numbers) return nullptr;
  const Dim n = numbers->type.elements();
  std::vector<Dim> dims{product(std::span(x->type.dims).first(size_t(depth)))}, rows{n};
  dims.insert(dims.end(), x->type.dims.begin() + depth, x->type.dims.end());
  rows.insert(rows.end(), x->type.dims.begin() + depth, x->type.dims.end());
  const Value flat = l.b.scatter(l.b.reshape(x, dims), l.b.reshape(numbers, {n}), l.b.reshape(updates, rows), reduce,
                                 "indices do not index into the variable's shape");
  return l.b.reshape(flat, x->type.dims);
}

void lower_state_sparse(op::Registry& r) {
  r.lower("ResourceGather", gather);
  r.lower("ResourceGatherNd", gather_nd);
  r.lower("ResourceStridedSliceAssign", slice_assign);
  for (const char* what : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Update"}) r.lower(cat("ResourceScatter", what), scatter);
  for (const char* what : {"Add", "Sub", "Min", "Max", "Update"}) r.lower(cat("ResourceScatterNd", what), scatter_nd_into);
}

}  // namespace weft_engine::ops

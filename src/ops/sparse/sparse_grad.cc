#include "ops/sparse/sparse_grad.h"

#include "op/emit.h"
#include "op/op_spec.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Grads cwise_grad(const GradContext& g, bool product) {
  Emitter& e = g.emitter();
  const Value y = g.x(3), y_shape = shape_of(y, DType::kInt64), one = ints(e, {1});
  const Value added = reshape(size_of(g.x(2)) - rank_of(y), one);
  const Value full[] = {fill(added, scalar(e, DType::kInt64, 1)), y_shape};
  const Value places = binary("FloorDiv", g.x(0), binary("FloorDiv", g.x(2), concat(full, 0)));
  const Value start[] = {ints(e, {0}), added};
  const Value inside = slice(places, concat(start, 0), ints(e, {-1, -1}));
  const Value values = g.one("GatherNd", {y, inside});
  const Value dx = product ? g.dy() * values : g.dy() / values;
  const Value dy = product ? g.dy() * g.x(1) : g.dy() * (-g.x(1) / unary("Square", values));
  return {{}, dx, {}, g.one("SparseTensorDenseAdd", {inside, dy, y_shape, zeros_like(y)})};
}

}  // namespace

Grads sparse_add_grad(const GradContext& g) {
  auto grads = g.apply("SparseAddGrad", std::vector<Value>{g.dy(1), g.x(0), g.x(3), g.y(0)});
  if (grads.size() < 2) return g.none();
  return {{}, grads[0], {}, {}, grads[1], {}, {}};
}

// Every value of a group gets the gradient of its sum.
Grads sparse_reduce_sum_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value shape = g.x(2), rank = size_of(shape);
  Value axes = reshape(cast(g.x(3), DType::kInt32), ints(e, {-1}));
  axes = binary("FloorMod", axes + rank, rank);
  const Value all = g.one("Range", {scalar(e, DType::kInt32, 0), rank, scalar(e, DType::kInt32, 1)});
  const Value parts[] = {all, axes, shape, g.one("Fill", {shape_of(axes), scalar(e, DType::kInt64, 1)})};
  auto kept = g.apply("DynamicStitch", parts, {{"N", int64_t(2)}});
  if (kept.empty()) return g.none();
  const Value places = binary("FloorDiv", g.x(0), binary("FloorDiv", shape, kept[0]));
  return {{}, g.one("GatherNd", {reshape(g.dy(), kept[0]), places}), {}, {}};
}

Grads sparse_softmax_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value sums = -g.one("SparseReduceSum", {g.x(0), g.y() * g.dy(), g.x(2), ints(e, {-1})}, {{"keep_dims", true}});
  return {{}, g.one("SparseDenseCwiseAdd", {g.x(0), g.dy(), g.x(2), sums}) * g.y(), {}};
}

Grads sparse_dense_mul_grad(const GradContext& g) { return cwise_grad(g, true); }
Grads sparse_dense_div_grad(const GradContext& g) { return cwise_grad(g, false); }

Grads sparse_dense_add_grad(const GradContext& g) { return {{}, g.one("GatherNd", {g.dy(), g.x(0)}), {}, g.dy()}; }

Grads sparse_dense_matmul_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const bool adj_a = g.attr<bool>("adjoint_a"), adj_b = g.attr<bool>("adjoint_b");
  const Value at = g.x(0), b = g.x(3), dy = g.dy();
  Value db = g.one("SparseTensorDenseMatMul", {at, g.x(1), g.x(2), dy}, {{"adjoint_a", !adj_a}});
  if (adj_b) db = adjoint(db);
  auto column = [&](int i) { return squeeze(slice(at, ints(e, {0, i}), ints(e, {-1, 1})), {1}); };
  const Value left = gather(dy, column(adj_a ? 1 : 0));
  const Value right = gather(adj_b ? transpose(b, ints(e, {1, 0})) : b, column(adj_a ? 0 : 1));
  Value dots;
  if (!adj_a && !adj_b) dots = batch_matmul(expand_dims(left, -2), expand_dims(right, -2), false, true);
  else if (!adj_b) dots = batch_matmul(expand_dims(left, -1), expand_dims(right, -1), true, false);
  else if (!adj_a) dots = batch_matmul(expand_dims(left, -2), expand_dims(right, -1));
  else dots = batch_matmul(expand_dims(left, -1), expand_dims(right, -2), true, true);
  return {{}, squeeze(dots, {-2, -1}), {}, db};
}

Grads no_sparse_gradient(const GradContext& g) { return g.fail(unimplemented("Gradient for ", g.node().spec().name, " is not implemented.")); }

}  // namespace weft_engine::ops

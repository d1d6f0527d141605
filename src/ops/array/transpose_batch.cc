// Orders of dimensions and repetitions.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched transposed(BatchContext& c) {
  if (c.has_rows(1)) return c.refused();
  Value perm = c.numbers(1) ? c.shifted_axes(1) : op::cast(c.inner(1), DType::kInt32) + c.scalar(1);
  return c.one(c.apply1(c.spec.name, {c.inner(0), c.join({c.list({0}), perm})}, c.typeless()));
}

Batched rolled(BatchContext& c) {
  if (c.has_rows_from(1)) return c.refused();
  c.attrs.erase("Taxis");
  return c.one(c.itself1({c.inner(0), c.inner(1), c.shifted_axes(2)}));
}

Batched tiled(BatchContext& c) {
  if (c.has_rows(1)) return c.refused();
  return c.one(c.apply1("Tile", {c.inner(0), c.join({c.list({1}), c.inner(1)})}, c.typeless()));
}

Batched broadcast_rows(BatchContext& c) {
  const PartialShape s = c.has_rows(1) ? PartialShape::unknown() : c.shape(1);
  if (!s.fully_known() || s.rank() != 1) return c.refused();
  WEFT_ASSIGN(Value v, c.aligned(0, int(s.dim(0))));
  return c.one(c.apply1("BroadcastTo", {v, c.join({c.rows_list(), c.inner(1)})}, c.typeless()));
}

}  // namespace

void batch_transpose(Registry& r) {
  r.batch("ReverseV2", batch_along_axes);
  for (const char* op : {"Transpose", "ConjugateTranspose"}) r.batch(op, transposed);
  r.batch("Roll", rolled);
  r.batch("Tile", tiled);
  r.batch("BroadcastTo", broadcast_rows);
}

}  // namespace weft_engine::ops

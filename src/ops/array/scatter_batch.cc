// Scatters: the row is one more index.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched scattered(BatchContext& c) {
  if (c.has_rows(2) || c.rank(0) < 1) return c.refused();
  return c.one(c.itself1({c.row_indices(0), c.with_rows(1), op::cast(c.join({c.rows_list(), c.inner(2)}), c.inputs[0].dtype())}));
}

Batched scattered_into(BatchContext& c) {
  if (c.rank(1) < 1) return c.refused();
  return c.one(c.itself1({c.with_rows(0), c.row_indices(1), c.with_rows(2)}));
}

}  // namespace

void batch_scatter(Registry& r) {
  r.batch("ScatterNd", scattered);
  for (const char* op : {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"})
    r.batch(op, scattered_into);
}

}  // namespace weft_engine::ops

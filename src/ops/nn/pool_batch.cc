// Pools: all rows are one larger batch.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched pool_gradient(BatchContext& c) {
  if (c.has_rows(0) || c.rank(1) < 1) return c.refused();
  return c.one(c.unfold(c.itself1({c.folded_sizes(0), c.fold(1)}), c.dims(1, 0, 1)));
}

}  // namespace

void batch_pool(Registry& r) {
  for (const char* op : {"AvgPoolGrad", "AvgPool3DGrad"}) r.batch(op, pool_gradient);
  for (const char* op : {"MaxPool", "MaxPoolV2", "AvgPool", "MaxPool3D", "AvgPool3D"}) r.batch(op, batch_folded<1>);
  for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad"}) r.batch(op, batch_folded<3>);
}

}  // namespace weft_engine::ops

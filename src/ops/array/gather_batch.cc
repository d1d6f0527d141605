// Gathers.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched gathered(BatchContext& c) {
  auto axes = c.numbers(2);
  if (!axes || axes->size() != 1 || c.rank(1) < 0) return c.refused();
  int64_t axis = (*axes)[0], shared = c.number("batch_dims");
  if (shared < 0) shared += c.rank(1);
  if (axis < 0) {
    if (c.rank(0) < 0) return c.refused();
    axis += c.rank(0);
  }
  c.attrs.erase("Taxis");
  if (!c.has_rows(0) && shared == 0) {
    Value v = c.itself1({c.inner(0), c.inner(1), c.scalar(axis)});
    if (!v.valid() || (axis && !v.shape().has_rank())) return c.refused();
    return c.one(c.to_front(v, int(axis)));
  }
  const bool together = c.has_rows(1) || shared > 0;
  c.attrs["batch_dims"] = together ? shared + 1 : 0;
  return c.one(c.itself1({c.with_rows(0), together ? c.with_rows(1) : c.inner(1), c.scalar(axis + 1)}));
}

Batched gathered_nd(BatchContext& c) {
  if (!c.has_rows(0)) return c.one(c.itself1({c.inner(0), c.inner(1)}));
  if (c.rank(1) < 1) return c.refused();
  return c.one(c.itself1({c.inner(0), c.row_indices(1)}));
}

}  // namespace

void batch_gather(Registry& r) {
  r.batch("GatherV2", gathered);
  r.batch("GatherNd", gathered_nd);
}

}  // namespace weft_engine::ops

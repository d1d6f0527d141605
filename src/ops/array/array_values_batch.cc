// Tensors made of sizes and numbers.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched filled(BatchContext& c) {
  const PartialShape s = c.has_rows(0) ? PartialShape::unknown() : c.shape(0);
  if (!s.fully_known() || s.rank() != 1) return c.refused();
  WEFT_ASSIGN(Value v, c.aligned(1, int(s.dim(0))));
  return c.one(c.apply1("BroadcastTo", {v, c.join({c.rows_list(), c.inner(0)})}));
}

Batched one_hot(BatchContext& c) {
  if (c.has_rows_from(1)) return c.refused();
  const int64_t axis = c.number("axis", -1);
  c.attrs["axis"] = axis + (axis >= 0 ? 1 : 0);
  return c.one(c.itself1({c.inner(0), c.inner(1), c.inner(2), c.inner(3)}));
}

}  // namespace

void batch_array_values(Registry& r) {
  for (const char* op : {"ZerosLike", "OnesLike"}) r.batch(op, batch_leading<1>);
  r.batch("Fill", filled);
  r.batch("OneHot", one_hot);
}

}  // namespace weft_engine::ops

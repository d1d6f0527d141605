// Unsorted segments.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Segments of different rows have different numbers.
Batched segments(BatchContext& c) {
  if (c.has_rows(2) || c.rank(1) < 0) return c.refused();
  const DType type = c.inputs[1].dtype();
  Value ids = c.with_rows(1), count = op::cast(c.inner(2), type);
  Value moved = ids + op::cast(c.row_numbers(c.rank(1)), type) * count;
  ids = op::where(op::binary("Less", ids, op::scalar(c.base, type, 0)), ids, moved);
  Value v = c.apply1(c.spec.name, {c.with_rows(0), ids, op::cast(c.inner(2), DType::kInt32) * c.emitter.rows()});
  return c.one(op::reshape(v, c.join({c.rows_list(), op::reshape(op::cast(c.inner(2), DType::kInt32), c.list({1})), c.dims(0, c.rank(1))})));
}

}  // namespace

void batch_segment(Registry& r) {
  for (const char* op : {"UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"}) r.batch(op, segments);
}

}  // namespace weft_engine::ops

// Choices whose inputs are not broadcast as usual.
#include <algorithm>

#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched clip(BatchContext& c) {  // bounds are scalars or as large as x
  if (c.rank(0) < 0) return c.refused();
  WEFT_ASSIGN(Value low, c.aligned(1, c.rank(0)));
  WEFT_ASSIGN(Value high, c.aligned(2, c.rank(0)));
  return c.one(op::binary("Minimum", op::binary("Maximum", c.with_rows(0), low), high));
}

// The condition may be a scalar, or say something of the first dimension.
Batched selected(BatchContext& c) {
  const int r = c.rank(1);
  if (r < 0 || c.rank(0) < 0) return c.refused();
  Value condition = c.with_rows(0);
  if (c.rank(0) < r) condition = op::reshape(condition, c.join({c.rows_list(), c.dims(0), c.list(std::vector<int64_t>(size_t(r - c.rank(0)), 1))}));
  return c.one(op::where(condition, c.with_rows(1), c.with_rows(2)));
}

// Shapes that do not fit may mean "not equal": one answer, of another shape than that of shapes that fit.
Batched equality(BatchContext& c) {
  if (!c.attrs.contains("incompatible_shape_error") || c.flag("incompatible_shape_error")) return batch_broadcasting(c);
  const PartialShape a = c.shape(0), b = c.shape(1);
  if (!a.fully_known() || !b.fully_known()) return c.refused();
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const int64_t m = a.dim(a.rank() - i), n = b.dim(b.rank() - i);
    if (m != n && m != 1 && n != 1) return c.refused();
  }
  return batch_broadcasting(c);
}

}  // namespace

void batch_compare(Registry& r) {
  r.batch("ClipByValue", clip);
  r.batch("Select", selected);
  for (const char* op : {"Equal", "NotEqual"}) r.batch(op, equality);
  for (const char* op : {"ApproximateEqual", "AccumulateNV2", "Cast"}) r.batch(op, batch_leading<-1>);
  r.batch("SelectV2", batch_broadcasting);
}

}  // namespace weft_engine::ops

// Concatenation and splitting: axes move by one.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched concatenated(BatchContext& c) {
  const size_t n = c.inputs.size() - 1;
  if (c.has_rows(n)) return c.refused();
  std::vector<Value> in;
  for (size_t i = 0; i < n; ++i) in.push_back(c.with_rows(i));
  in.push_back(c.shifted_axes(n));
  return c.one(c.apply1("ConcatV2", in));
}

Batched packed(BatchContext& c) {
  const int64_t axis = c.number("axis");
  c.attrs["axis"] = axis + (axis >= 0 ? 1 : 0);
  std::vector<Value> in;
  for (size_t i = 0; i < c.inputs.size(); ++i) in.push_back(c.with_rows(i));
  return c.all(c.itself(in));
}

Batched split_evenly(BatchContext& c) {
  if (c.has_rows(0)) return c.refused();
  return c.all(c.itself({c.shifted_axes(0), c.inner(1)}));
}

Batched split_v(BatchContext& c) {
  if (c.has_rows_from(1)) return c.refused();
  return c.all(c.itself({c.inner(0), c.inner(1), c.shifted_axes(2)}));
}

}  // namespace

void batch_concat(Registry& r) {
  r.batch("ConcatV2", concatenated);
  for (const char* op : {"Pack", "Unpack"}) r.batch(op, packed);
  r.batch("Split", split_evenly);
  r.batch("SplitV", split_v);
}

}  // namespace weft_engine::ops

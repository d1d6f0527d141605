// Padding.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched padded(BatchContext& c) {
  if (c.has_rows_from(1)) return c.refused();
  Value none = c.base.constant(Tensor::vector(std::vector<int32_t>{0, 0}));
  std::vector<Value> in{c.inner(0), op::concat(std::vector<Value>{op::reshape(none, c.list({1, 2})), op::cast(c.inner(1), DType::kInt32)}, 0)};
  if (c.inputs.size() > 2) in.push_back(c.inner(2));
  return c.one(c.apply1(c.spec.name, in, c.typeless()));
}

}  // namespace

void batch_pad(Registry& r) {
  for (const char* op : {"Pad", "PadV2", "MirrorPad"}) r.batch(op, padded);
}

}  // namespace weft_engine::ops

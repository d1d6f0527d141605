// Biases.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched bias_add(BatchContext& c) {
  if (!c.channels_last()) return batch_folded<1>(c);
  if (!c.has_rows(1)) return batch_leading<1>(c);
  if (c.rank(0) < 0) return c.refused();
  WEFT_ASSIGN(Value bias, c.aligned(1, c.rank(0)));
  return c.one(c.with_rows(0) + bias);
}

Batched bias_add_grad(BatchContext& c) {
  if (c.rank(0) < 1 || !c.channels_last()) return c.refused();
  std::vector<int64_t> axes;
  for (int i = 1; i < c.rank(0); ++i) axes.push_back(i);
  return c.one(axes.empty() ? c.inner(0) : op::reduce("Sum", c.inner(0), c.list(axes)));
}

}  // namespace

void batch_bias(Registry& r) {
  r.batch("BiasAdd", bias_add);
  r.batch("BiasAddGrad", bias_add_grad);
}

}  // namespace weft_engine::ops

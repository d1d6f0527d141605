// Random numbers: other ones in each row.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Other numbers in each row.
Batched random_rows(BatchContext& c) {
  const DType type = c.inputs[0].dtype();
  if (c.has_rows(0)) return c.refused();
  if (!c.has_rows_from(1)) {
    std::vector<Value> in{op::cast(c.join({c.rows_list(), c.inner(0)}), type)};
    for (size_t i = 1; i < c.inputs.size(); ++i) in.push_back(c.inner(i));
    return c.one(c.itself1(in));
  }
  // Parameters that differ by row: their shape is behind the one that is asked for.
  if (c.inputs.size() != 2 || !c.shape(0).fully_known()) return c.refused();
  Value v = c.itself1({c.inner(0), c.inner(1)});
  if (!v.valid() || !v.shape().has_rank()) return c.refused();
  return c.one(c.to_front(v, int(c.shape(0).dim(0))));
}

}  // namespace

void batch_random(Registry& r) {
  for (const char* op : {"RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "RandomGamma", "RandomPoissonV2"})
    r.batch(op, random_rows);
  r.batch("Multinomial", batch_folded<1>);
}

}  // namespace weft_engine::ops

// Normalisation.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Where statistics are given, all rows are one larger batch.
Batched with_given_statistics(BatchContext& c) {
  auto it = c.attrs.find("is_training");
  if (it == c.attrs.end() || !it->second.get<bool>() || *it->second.get<bool>() || c.has_rows_from(1) || c.rank(0) < 1) return c.refused();
  std::vector<Value> in{c.fold(0)};
  for (size_t i = 1; i < c.inputs.size(); ++i) in.push_back(c.inner(i));
  std::vector<Value> out = c.itself(in);
  if (out.empty()) return c.refused();
  out[0] = c.emitter.batched(c.unfold(out[0], c.dims(0, 0, 1)));
  for (size_t i = 1; i < out.size(); ++i) out[i] = c.shared(out[i]);
  return out;
}

}  // namespace

void batch_norm(Registry& r) {
  r.batch("FusedBatchNormV3", with_given_statistics);
  r.batch("LRN", batch_folded<1>);
}

}  // namespace weft_engine::ops

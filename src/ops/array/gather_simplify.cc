// Which dimension a gather takes of a shape that is known in part.
#include "graph/passes/util.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

bool gather_dims(const Node& n, int64_t, PickedDims& out) {
  auto at = const_int(n.input(1));
  if (!at || const_value(n.input(1))->rank() != 0) return false;
  out.first = *at;
  return true;
}

bool gather_v2_dims(const Node& n, int64_t rank, PickedDims& out) {
  return const_int(n.input(2)) == 0 && n.attr<int64_t>("batch_dims") == 0 && gather_dims(n, rank, out);
}

}  // namespace

void simplify_gather(Registry& r) {
  set_pick_dims(r, "Gather", gather_dims);
  set_pick_dims(r, "GatherV2", gather_v2_dims);
}

}  // namespace weft_engine::ops

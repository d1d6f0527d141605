// What is left of version 1 control flow once loops and branches are While and If (graph/raise_loops.h).
#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

LoweredList lower_to_bool(LowerContext& l) {
  const ir::Value x = l.x();
  if (!x) return {};
  if (x->rank() == 0) return {l.b.convert(x, DType::kBool)};
  // A tensor is true if it has elements.
  return {l.b.compare(ir::Compare::kGt, l.b.sizes({x->type.elements()}, DType::kInt64, true), l.b.scalar_int(DType::kInt64, 0))};
}

}  // namespace

void lower_control_flow(op::Registry& r) {
  r.lower("ControlTrigger", lower_to_nothing);
  r.lower("LoopCond", forward_inputs);
  r.lower("NoOp", lower_to_nothing);
  r.lower("ToBool", lower_to_bool);
  r.lower("_ArrayToList", forward_inputs);
  r.lower("_ListToArray", forward_inputs);
}

}  // namespace weft_engine::ops

// Reference variables of version 1. A reference is the state's number; nodes that want a value get it from the walk.
#include "op/registry.h"
#include "ops/lower_families.h"
#include "ops/state_updates_lower.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

LoweredList variable(LowerContext& l) { return {l.host.named_state(l.node)}; }
LoweredList give_ref(LowerContext& l, ir::Value now) {
  l.assign(0, now);
  return {l.input(0)};
}
LoweredList assign(LowerContext& l) { return give_ref(l, l.x(1)); }
LoweredList assign_add(LowerContext& l) { return give_ref(l, l.b.add(l.read(), l.x(1))); }
LoweredList assign_sub(LowerContext& l) { return give_ref(l, l.b.sub(l.read(), l.x(1))); }
LoweredList scatter(LowerContext& l) { return give_ref(l, scatter_rows(l, l.read(), l.x(1), l.x(2), scatter_reduce(l.node.op()))); }
LoweredList scatter_nd_into(LowerContext& l) { return give_ref(l, scatter_nd(l, l.read(), l.x(1), l.x(2), scatter_reduce(l.node.op()))); }
LoweredList is_initialized(LowerContext& l) { return {l.b.scalar_int(DType::kBool, 1)}; }

}  // namespace

void lower_state_ref(op::Registry& r) {
  r.lower("Variable", variable);
  r.lower("VariableV2", variable);
  r.lower("Assign", assign);
  r.lower("AssignAdd", assign_add);
  r.lower("AssignSub", assign_sub);
  r.lower("IsVariableInitialized", is_initialized);
  for (const char* what : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Update"}) r.lower(cat("Scatter", what), scatter);
  for (const char* what : {"Add", "Sub", "Min", "Max", "Update"}) r.lower(cat("ScatterNd", what), scatter_nd_into);
}

}  // namespace weft::ops

// Reference variables of version 1. A reference is the state's number; nodes that want a value get it from the walk.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/lower_util.h"
#include "ops/state/state_updates_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

LoweredList variable(LowerContext& l) { return {l.host.variable(l.node)}; }
LoweredList give_ref(LowerContext& l, ir::Value now) {
  l.assign(0, now);
  return {l.input(0)};
}
LoweredList assign(LowerContext& l) { return give_ref(l, l.x(1)); }
LoweredList assign_add(LowerContext& l) { return give_ref(l, l.b.add(l.read(), l.x(1))); }
LoweredList assign_sub(LowerContext& l) { return give_ref(l, l.b.sub(l.read(), l.x(1))); }
LoweredList scatter(LowerContext& l) { return give_ref(l, scatter_rows(l, l.read(), l.x(1), l.x(2), scatter_reduce(l.node.op()))); }
LoweredList scatter_nd_into(LowerContext& l) { return give_ref(l, scatter_nd(l, l.read(), l.x(1), l.x(2), scatter_reduce(l.node.op()))); }
// The number before it is counted up.
LoweredList count_up_to(LowerContext& l) {
  const ir::Value old = l.read();
  if (!old) return {};
  const int64_t limit = l.attr<int64_t>("limit");
  l.b.check(l.b.compare(ir::Compare::kLt, old, l.b.scalar_int(old->type.dtype, limit)), cat("Reached limit of ", limit));
  l.assign(0, l.b.add(old, 1));
  return {old};
}
LoweredList slice_assign(LowerContext& l) {
  const ir::Value x = l.read();
  if (!x) return {};
  const auto s = read_strided_slice(l, x->type.dims, 1);
  return s ? give_ref(l, strided_update(l, x, *s, l.x(4))) : LoweredList();
}
LoweredList is_initialized(LowerContext& l) { return {l.b.scalar_int(DType::kBool, 1)}; }

}  // namespace

void lower_state_ref(op::Registry& r) {
  r.lower("Variable", variable);
  r.lower("VariableV2", variable);
  r.lower("RefIdentity", forward_inputs);
  r.lower("Assign", assign);
  r.lower("AssignAdd", assign_add);
  r.lower("AssignSub", assign_sub);
  r.lower("StridedSliceAssign", slice_assign);
  r.lower("CountUpTo", count_up_to);
  r.lower("ResourceCountUpTo", count_up_to);
  r.lower("IsVariableInitialized", is_initialized);
  for (const char* what : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Update"}) r.lower(cat("Scatter", what), scatter);
  for (const char* what : {"Add", "Sub", "Min", "Max", "Update"}) r.lower(cat("ScatterNd", what), scatter_nd_into);
}

}  // namespace weft_engine::ops

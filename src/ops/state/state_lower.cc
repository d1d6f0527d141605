// Resource variables: the handle is a state's number; reading and writing are the host's.
#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

LoweredList handle(LowerContext& l) { return {l.host.variable(l.node)}; }
LoweredList read(LowerContext& l) { return {l.read()}; }
LoweredList read_all(LowerContext& l) {
  LoweredList out;
  for (int i = 0; i < l.num_inputs(); ++i) out.emplace_back(l.read(i));
  return out;
}
LoweredList assign(LowerContext& l) {
  l.assign(0, l.x(1));
  return {};
}

// The operand as one of the variable's shape.
ir::Value fitted(LowerContext& l, ir::Value to, ir::Value v) {
  if (!to || !v) return nullptr;
  return v->type.dims == to->type.dims ? v : l.b.broadcast_to(v, to->type.dims);
}
LoweredList assign_add(LowerContext& l) {
  const ir::Value old = l.read();
  l.assign(0, l.b.add(old, fitted(l, old, l.x(1))));
  return {};
}
LoweredList assign_sub(LowerContext& l) {
  const ir::Value old = l.read();
  l.assign(0, l.b.sub(old, fitted(l, old, l.x(1))));
  return {};
}
LoweredList is_initialized(LowerContext& l) { return {l.b.scalar_int(DType::kBool, 1)}; }
LoweredList shape(LowerContext& l) {
  const ir::Value v = l.read();
  if (!v) return {};
  return {l.b.sizes(v->type.dims, l.attr<DType>("out_type"))};
}

}  // namespace

void lower_state(op::Registry& r) {
  r.lower("VarHandleOp", handle);
  r.lower("ReadVariableOp", read);
  r.lower("_ReadVariablesOp", read_all);
  r.lower("AssignVariableOp", assign);
  r.lower("AssignAddVariableOp", assign_add);
  r.lower("AssignSubVariableOp", assign_sub);
  r.lower("VarIsInitializedOp", is_initialized);
  r.lower("VariableShape", shape);
  r.lower("DestroyResourceOp", lower_to_nothing);
  r.lower("DisableCopyOnRead", lower_to_nothing);
}

}  // namespace weft_engine::ops

// How kernels reach the variables behind their resource inputs; shared by the families that read or
// change variables (state, optimizer, random).
#pragma once

#include "op/kernel.h"
#include "op/variable.h"

namespace weft_engine::ops {

// A variable input. The handle, which the caller holds, keeps the object alive; `owner` does so when the
// handle came from outside and only names it.
struct VariableInput {
  op::Variable* variable = nullptr;
  const core::ResourceHandle::Info* info = nullptr;
  std::shared_ptr<op::Variable> owner;
  op::Variable* operator->() const { return variable; }
};

// Input i as a variable, perhaps one without a value yet. InvalidArgument for a handle of another kind.
core::Result<VariableInput> variable_input(const op::KernelContext& c, int i);

// With the variable's lock held: NotFound, in TensorFlow's words, before the first assignment.
inline core::Status check_exists(const op::KernelContext& c, const VariableInput& v) {
  if (v->tensor().valid()) [[likely]]
    return {};
  return c.resources().absent(v.info->container, op::Variable::kTypeName, v.info->name);
}

// Resource handles that were checked to be one scalar.
core::Result<const core::ResourceHandle::Info*> handle_input(const op::KernelContext& c, int i);

}  // namespace weft_engine::ops

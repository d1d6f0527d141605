#include "eager/copy.h"

#include "core/own_memory.h"
#include "eager/op.h"
#include "op/op_traits.h"

namespace weft_engine::eager {

Result<RefPtr<TensorHandle>> copy_to(Context& context, RefPtr<TensorHandle> value, Device* target) {
  if (dynamic_cast<RemoteDevice*>(target)) {
    Op identity(context);
    WEFT_RETURN_IF_ERROR(identity.reset(op_of(op::Role::kIdentity), target->name()));
    identity.add_input(std::move(value));
    std::vector<RefPtr<TensorHandle>> outputs;
    WEFT_RETURN_IF_ERROR(identity.execute(outputs));
    return std::move(outputs[0]);
  }
  WEFT_RETURN_IF_ERROR(value->wait());
  WEFT_ASSIGN(Tensor there, to_device(value->tensor(), *target));
  return TensorHandle::make(std::move(there), target);
}

}  // namespace weft_engine::eager

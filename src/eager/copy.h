// Values from one device to another, of this process or of others.
#pragma once

#include "eager/context.h"
#include "eager/tensor_handle.h"

namespace weft_engine::eager {

// The value on the device. What is there already is the same handle's value; a remote target gets it by an op there.
Result<RefPtr<TensorHandle>> copy_to(Context& context, RefPtr<TensorHandle> value, Device* target);

}  // namespace weft_engine::eager

// Where a result is: on the device in whose memory it lies.
#pragma once

#include "core/own_memory.h"
#include "eager/tensor_handle.h"

namespace weft_engine::eager {

inline RefPtr<TensorHandle> at_home(Tensor tensor, Device* host) {
  Device* const home = lies_elsewhere(tensor) ? memory_of(tensor) : host;
  return TensorHandle::make(std::move(tensor), home);
}

}  // namespace weft_engine::eager

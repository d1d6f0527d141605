// The handle of a result, and the device that it names: the one in whose memory the result lies.
#pragma once

#include "core/own_memory.h"
#include "eager/tensor_handle.h"

namespace weft_engine::eager {

// `device`: of a result in host memory.
inline Device* result_device(const Tensor& tensor, Device* device) { return lies_elsewhere(tensor) ? memory_of(tensor) : device; }

inline RefPtr<TensorHandle> result_handle(Tensor tensor, Device* device) {
  Device* const of_result = result_device(tensor, device);
  return TensorHandle::make(std::move(tensor), of_result);
}

}  // namespace weft_engine::eager

// Factorisations and linear systems by cuSOLVER and cuBLAS, in float and double.
#pragma once

#include "cuda/device.h"
#include "op/on_gpu.h"
#include "op/kernel.h"

namespace weft_engine::cuda {

// Queues the call, matrix by matrix. What the library finds wrong with a matrix is told when the host next waits, in TensorFlow's words. False: the library is not there, or
// the call is nothing for it; who calls does it otherwise, and says what is wrong with the inputs.
core::Result<bool> factorise(CudaDevice& device, op::KernelContext& c, const op::LibraryCall& call);

}  // namespace weft_engine::cuda

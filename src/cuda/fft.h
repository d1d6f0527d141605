// Fourier transforms by cuFFT.
#pragma once

#include "cuda/device.h"
#include "op/on_gpu.h"
#include "op/kernel.h"

namespace weft_engine::cuda {

// Queues the transform of input 0 along its last axes into output 0. False: cuFFT is not there, or has nothing for such a call; who calls does it otherwise, and says what is
// wrong with the inputs.
core::Result<bool> transform(CudaDevice& device, op::KernelContext& c, const op::LibraryCall& call);

}  // namespace weft_engine::cuda

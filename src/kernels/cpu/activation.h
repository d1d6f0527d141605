// Activations with a parameter, for half, bfloat16, float and double. In place is fine.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace weft_engine::kernels {

// y = x > 0 ? x : alpha x.
void leaky_relu(core::DType t, const void* x, void* y, int64_t n, float alpha);
// dx = x > 0 ? g : alpha g.
void leaky_relu_grad(core::DType t, const void* g, const void* x, void* dx, int64_t n, float alpha);

}  // namespace weft_engine::kernels

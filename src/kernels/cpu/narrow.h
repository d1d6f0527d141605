// half and bfloat16 in bulk, chosen by type; see narrow_simd.h.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace weft_engine::kernels {

// For DType kHalf and kBfloat16; null for the others.
using WidenLoop = void (*)(const uint16_t* narrow, float* wide, int64_t n);
using NarrowLoop = void (*)(const float* wide, uint16_t* narrow, int64_t n);
WidenLoop widen_loop(core::DType t);
NarrowLoop narrow_loop(core::DType t);

}  // namespace weft_engine::kernels

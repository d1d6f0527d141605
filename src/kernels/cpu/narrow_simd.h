// Rows of half and bfloat16 numbers to floats and back.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

WEFT_DECLARE_ISA(void half_to_floats(const uint16_t* from, float* to, int64_t n))
WEFT_DECLARE_ISA(void bfloat_to_floats(const uint16_t* from, float* to, int64_t n))
WEFT_DECLARE_ISA(void floats_to_half(const float* from, uint16_t* to, int64_t n))
WEFT_DECLARE_ISA(void floats_to_bfloat(const float* from, uint16_t* to, int64_t n))

}  // namespace weft_engine::kernels

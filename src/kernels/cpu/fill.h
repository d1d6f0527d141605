// Runs of 4-byte elements made from one: the same everywhere, or in even steps; or runs of equal ones; or a run turned around.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

WEFT_DECLARE_ISA(void fill_words(uint32_t value, uint32_t* to, int64_t n))
// to[i] = last[-i].
WEFT_DECLARE_ISA(void reverse_words(const uint32_t* last, uint32_t* to, int64_t n))
// to[i] = first + i * step, wrapping.
WEFT_DECLARE_ISA(void count_words(uint32_t first, uint32_t step, uint32_t* to, int64_t n))
// to[i] = start + step * (first + i), rounded twice.
WEFT_DECLARE_ISA(void space_floats(float start, float step, int32_t first, float* to, int64_t n))
// to[i] = from[(i + skip) / run], skip being less than run.
WEFT_DECLARE_ISA(void repeat_words(const uint32_t* from, int64_t run, int64_t skip, uint32_t* to, int64_t n))

}  // namespace weft_engine::kernels

// The sum of many arrays.
#pragma once

#include <cstdint>
#include <span>

#include "core/dtype.h"

namespace weft_engine::kernels {

// out[i] = the sum of the inputs' element i, first to last, for i in [begin, end). Two inputs at least; a
// number type; out may be the first input. Narrow floats are summed as float and rounded once.
void add_many(core::DType t, std::span<const void* const> inputs, void* out, int64_t begin, int64_t end);

}  // namespace weft_engine::kernels

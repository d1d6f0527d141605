// Adding a vector to every row of a matrix, or a number to every run.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// y = x + bias, with x as [rows, n]: bias[j] to column j, or with `runs` bias[(first + i) % channels] to all of row i.
// y may be x. False for types that cannot be added.
WEFT_DECLARE_ISA(bool add_bias(core::DType type, const void* x, const void* bias, void* y, int64_t rows, int64_t n))
WEFT_DECLARE_ISA(bool add_bias_runs(core::DType type, const void* x, const void* bias, void* y, int64_t first, int64_t rows, int64_t n,
                                    int64_t channels))

}  // namespace weft_engine::kernels

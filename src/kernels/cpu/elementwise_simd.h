// The hot loops of elementwise.h, compiled for each instruction set.
#pragma once

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/isa.h"

namespace weft::kernels {

// Null where the plain loop serves.
WEFT_DECLARE_ISA(BinaryLoop binary_loop(Binary op, core::DType t))
WEFT_DECLARE_ISA(UnaryLoop unary_loop(Unary op, core::DType t))
WEFT_DECLARE_ISA(BinaryRowsLoop binary_rows_loop(Binary op, core::DType t))
// y = x > 0 ? g : alpha g.
WEFT_DECLARE_ISA(void leaky_relu_floats(const float* g, const float* x, float* y, int64_t n, float alpha))

}  // namespace weft::kernels

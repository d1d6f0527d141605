// The hot loops of elementwise.h, compiled for each instruction set.
#pragma once

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// Null where the plain loop serves.
WEFT_DECLARE_ISA(BinaryLoop binary_loop(Binary op, core::DType t))
WEFT_DECLARE_ISA(BinaryLoop binary_math_loop(Binary op, core::DType t))
WEFT_DECLARE_ISA(UnaryLoop unary_loop(Unary op, core::DType t))
WEFT_DECLARE_ISA(BinaryRowsLoop binary_rows_loop(Binary op, core::DType t))
// out[i] = in[0][i] + in[1][i] + ... for i in [begin, end), from left to right; count is at least 2.
WEFT_DECLARE_ISA(void add_floats(const float* const* in, int64_t count, float* out, int64_t begin, int64_t end))
// y = x, but at most high, and then at least low; NaN stays.
WEFT_DECLARE_ISA(void clip_floats(const float* x, float* y, int64_t n, float low, float high))
// y = x > 0 ? g : alpha g.
WEFT_DECLARE_ISA(void leaky_relu_floats(const float* g, const float* x, float* y, int64_t n, float alpha))

}  // namespace weft_engine::kernels

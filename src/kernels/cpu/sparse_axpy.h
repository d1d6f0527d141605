// y += a * x, for the inner loop of sparse products.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

WEFT_DECLARE_ISA(void axpy_float(float a, const float* x, float* y, int64_t n))
WEFT_DECLARE_ISA(void axpy_double(double a, const double* x, double* y, int64_t n))

}  // namespace weft_engine::kernels

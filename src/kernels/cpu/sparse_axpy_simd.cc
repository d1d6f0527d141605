#include "kernels/cpu/sparse_axpy.h"

#include "kernels/cpu/isa_begin.h"

void axpy_float(float a, const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

void axpy_double(double a, const double* __restrict x, double* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

#include "kernels/cpu/isa_end.h"

#include "kernels/cpu/linalg_vectors.h"
#include "kernels/cpu/isa_begin.h"

namespace {

// Several sums side by side: one sum would be a chain that cannot be vectorised.
template <class T>
inline __attribute__((always_inline)) T dot_of(const T* __restrict x, const T* __restrict y, int64_t n) {
  constexpr int kSums = 128 / sizeof(T);
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (int k = 0; k < kSums; ++k) sums[k] += x[i + k] * y[i + k];
  }
  T total = 0;
  for (; i < n; ++i) total += x[i] * y[i];
  for (int width = kSums / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) sums[k] += sums[k + width];
  }
  return total + sums[0];
}

template <class T>
inline __attribute__((always_inline)) void axpy_of(T a, const T* __restrict x, T* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

template <class T>
inline __attribute__((always_inline)) void rotate_of(T c, T s, T* __restrict x, T* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T u = x[i], v = y[i];
    x[i] = c * u + s * v;
    y[i] = c * v - s * u;
  }
}

}  // namespace

float dot_floats(const float* x, const float* y, int64_t n) { return dot_of(x, y, n); }
double dot_doubles(const double* x, const double* y, int64_t n) { return dot_of(x, y, n); }
void axpy_floats(float a, const float* x, float* y, int64_t n) { axpy_of(a, x, y, n); }
void axpy_doubles(double a, const double* x, double* y, int64_t n) { axpy_of(a, x, y, n); }
void rotate_floats(float c, float s, float* x, float* y, int64_t n) { rotate_of(c, s, x, y, n); }
void rotate_doubles(double c, double s, double* x, double* y, int64_t n) { rotate_of(c, s, x, y, n); }

#include "kernels/cpu/isa_end.h"

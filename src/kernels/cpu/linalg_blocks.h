// What the decompositions in panels share: they factor kPanel columns at a time by loops along rows, and leave most of the work to matrix products.
#pragma once

#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

inline constexpr int64_t kPanel = 64;

// y -= a x. Short ones are rounded as Eigen's are.
template <class T>
void subtract(T a, const T* x, T* y, int64_t n) {
  constexpr int64_t kShort = 16;
  if (n >= kShort) return axpy(-a, x, y, n);
  for (int64_t i = 0; i < n; ++i) y[i] -= multiply(a, x[i]);
}

// c -= a b: a is [m, k], c [m, n]; lda, ldb and ldc are the distances between rows. c may be a part of the matrix that a and b are parts of, but must not
// overlap them.
template <class T>
void subtract_product(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc);

}  // namespace weft_engine::kernels

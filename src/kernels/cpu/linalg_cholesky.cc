#include "kernels/cpu/linalg_blocks.h"

namespace weft_engine::kernels {

// Its adjoint, upper triangular, row by row, so that every loop runs along memory; then transposed where it is. a and l may be the same.
template <class T>
bool cholesky_factor(const T* a, int64_t n, T* l) {
  std::vector<T> panel(n > kPanel ? size_t(n * kPanel) : 0);
  T* u = l;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) u[j * n + i] = conjugate(a[i * n + j]);
  }
  for (int64_t begin = 0; begin < n; begin += kPanel) {
    const int64_t end = std::min(begin + kPanel, n), size = end - begin;
    for (int64_t k = begin; k < end; ++k) {
      T* row = u + k * n;
      const RealOf<T> square = std::real(row[k]);
      if (square <= 0) return false;  // NaN passes, and shows in the result
      const RealOf<T> root = std::sqrt(square);
      row[k] = T(root);
      for (int64_t j = k + 1; j < n; ++j) row[j] /= root;
      for (int64_t i = k + 1; i < end; ++i) subtract(conjugate(row[i]), row + i, u + i * n + i, n - i);
    }
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t i = end; i < n; ++i) panel[size_t((i - end) * size + k - begin)] = conjugate(u[k * n + i]);
    }
    for (int64_t i = end; i < n; i += kPanel)
      subtract_product(std::min(kPanel, n - i), n - i, size, panel.data() + (i - end) * size, size, u + begin * n + i, n, u + i * n + i, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      l[i * n + j] = conjugate(u[j * n + i]);
      u[j * n + i] = T(0);
    }
  }
  return true;
}

#define X(T) template bool cholesky_factor(const T*, int64_t, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels

#include "kernels/cpu/linalg_blocks.h"

#include "kernels/cpu/gemm.h"

namespace weft_engine::kernels {
namespace {

void add_product(int64_t m, int64_t n, int64_t k, const float* a, const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate) {
  sgemm(false, false, m, n, k, a, k, b, ldb, c, ldc, accumulate);
}
void add_product(int64_t m, int64_t n, int64_t k, const double* a, const double* b, int64_t ldb, double* c, int64_t ldc, bool accumulate) {
  dgemm(false, false, m, n, k, a, k, b, ldb, c, ldc, accumulate);
}

// Real and imaginary parts apart, each times `sign`.
template <class Real>
struct Planes {
  std::vector<Real> real, imag;
  Planes(const std::complex<Real>* x, int64_t rows, int64_t columns, int64_t stride, Real sign) : real(size_t(rows * columns)), imag(real.size()) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        real[size_t(i * columns + j)] = sign * x[i * stride + j].real();
        imag[size_t(i * columns + j)] = sign * x[i * stride + j].imag();
      }
    }
  }
};

}  // namespace

template <class T>
void subtract_product(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  using Real = RealOf<T>;
  if constexpr (std::is_same_v<T, Real>) {
    std::vector<T> negative(size_t(m * k));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < k; ++j) negative[size_t(i * k + j)] = -a[i * lda + j];
    }
    add_product(m, n, k, negative.data(), b, ldb, c, ldc, true);
  } else {
    Planes<Real> x(a, m, k, lda, Real(-1)), y(b, k, n, ldb, Real(1));
    std::vector<Real> real(size_t(m * n)), imag(real.size());
    const auto add = [&](const std::vector<Real>& p, const std::vector<Real>& q, std::vector<Real>& out, bool accumulate) {
      add_product(m, n, k, p.data(), q.data(), n, out.data(), n, accumulate);
    };
    add(x.real, y.real, real, false);
    add(x.real, y.imag, imag, false);
    add(x.imag, y.real, imag, true);
    for (Real& v : x.imag) v = -v;
    add(x.imag, y.imag, real, true);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] += T(real[size_t(i * n + j)], imag[size_t(i * n + j)]);
    }
  }
}

#define X(T) template void subtract_product(int64_t, int64_t, int64_t, const T*, int64_t, const T*, int64_t, T*, int64_t);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels

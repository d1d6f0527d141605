#include "kernels/cpu/sparse_matmul.h"

#include <type_traits>

#include "kernels/cpu/sparse_axpy.h"

namespace weft_engine::kernels {

namespace {

using core::is_complex;

// Complex products are written out: the operator checks for infinities, which costs far more than the product.
template <class T, class W>
void add_scaled(W a, const T* x, W* y, int64_t n) {
  if constexpr (is_complex<W>) {
    for (int64_t i = 0; i < n; ++i) y[i] += W(a.real() * x[i].real() - a.imag() * x[i].imag(), a.real() * x[i].imag() + a.imag() * x[i].real());
  } else if constexpr (std::is_integral_v<W>) {
    for (int64_t i = 0; i < n; ++i) y[i] = W(uint32_t(y[i]) + uint32_t(a) * uint32_t(x[i]));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] += a * W(x[i]);
  }
}

template <class T, class W, class Axpy>
void multiply(const SparseProduct<T, W>& p, Axpy axpy) {
  for (int64_t i = 0; i < p.n; ++i) {
    const int64_t row = p.indices[2 * i + p.swapped], column = p.indices[2 * i + !p.swapped];
    W a = W(p.values[i]);
    if constexpr (is_complex<W>) {
      if (p.conjugate) a = std::conj(a);
    }
    axpy(a, p.b + column * p.columns + p.begin, p.sums + row * p.columns + p.begin, p.end - p.begin);
  }
}

}  // namespace

void multiply_sparse_dense(const SparseProduct<float, float>& p) { multiply(p, WEFT_BEST_ISA(axpy_float)); }
void multiply_sparse_dense(const SparseProduct<double, double>& p) { multiply(p, WEFT_BEST_ISA(axpy_double)); }
void multiply_sparse_dense(const SparseProduct<int32_t, int32_t>& p) { multiply(p, add_scaled<int32_t, int32_t>); }
void multiply_sparse_dense(const SparseProduct<core::complex64, core::complex64>& p) { multiply(p, add_scaled<core::complex64, core::complex64>); }
void multiply_sparse_dense(const SparseProduct<core::complex128, core::complex128>& p) {
  multiply(p, add_scaled<core::complex128, core::complex128>);
}
void multiply_sparse_dense(const SparseProduct<core::half, float>& p) { multiply(p, add_scaled<core::half, float>); }
void multiply_sparse_dense(const SparseProduct<core::bfloat16, float>& p) { multiply(p, add_scaled<core::bfloat16, float>); }

}  // namespace weft_engine::kernels

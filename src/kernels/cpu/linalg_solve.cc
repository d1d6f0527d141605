// Solvers built on the decompositions.
#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

template <class T>
void triangular_solve(const T* a, const T* b, int64_t n, int64_t k, bool lower, bool adjoint, T* x) {
  const bool forward = lower != adjoint;
  if (x != b) std::copy(b, b + n * k, x);
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step, begin = forward ? 0 : i + 1, end = forward ? i : n;
    T* row = x + i * k;
    if (k == 1 && !adjoint) {
      T sum = row[0];
      if constexpr (std::is_same_v<T, RealOf<T>>) sum -= dot(a + i * n + begin, x + begin, end - begin);
      else
        for (int64_t j = begin; j < end; ++j) sum -= multiply(a[i * n + j], x[j]);
      row[0] = sum;
    } else if (!adjoint) {
      for (int64_t j = begin; j < end; ++j) axpy(-a[i * n + j], x + j * k, row, k);
    }
    const T d = adjoint ? conjugate(a[i * n + i]) : a[i * n + i];
    for (int64_t c = 0; c < k; ++c) row[c] /= d;
    if (adjoint) {  // columns of a are rows here: what is known goes into the rows to come
      const int64_t from = forward ? i + 1 : 0, to = forward ? n : i;
      for (int64_t j = from; j < to; ++j) axpy(-conjugate(a[i * n + j]), row, x + j * k, k);
    }
  }
}

template <class T>
void cholesky(const T* a, int64_t n, T* l) {
  if (cholesky_factor(a, n, l)) return;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) l[i * n + j] = j <= i ? T(std::numeric_limits<RealOf<T>>::quiet_NaN()) : T(0);
  }
}

// Murray, "Differentiation of the Cholesky decomposition" (arXiv 1602.07527): with P the lower half of
// l^T dl, its diagonal halved, da = l^-T (P + P^T) l^-1 / 2.
template <class T>
void cholesky_grad(const T* l, const T* dl, int64_t n, T* da) {
  std::vector<T> p(size_t(n * n), T(0)), q(size_t(n * n), T(0));
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t i = 0; i <= r; ++i) axpy(l[r * n + i], dl + r * n, p.data() + i * n, std::min(i, r) + 1);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) p[size_t(j * n + i)] = p[size_t(i * n + j)];
  }
  triangular_solve(l, p.data(), n, n, true, true, p.data());
  transpose(p.data(), n, n, q.data());
  triangular_solve(l, q.data(), n, n, true, true, q.data());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) da[i * n + j] = (q[size_t(i * n + j)] + q[size_t(j * n + i)]) * T(0.25);
  }
}
template void cholesky_grad(const float*, const float*, int64_t, float*);
template void cholesky_grad(const double*, const double*, int64_t, double*);

template <class T>
bool least_squares_fast(const T* a, const T* b, int64_t m, int64_t n, int64_t k, double l2, T* x) {
  const bool tall = m >= n;
  const int64_t p = std::min(m, n);
  std::vector<T> gram(size_t(p * p), T(0)), factor(size_t(p * p), T(0)), z(size_t(p * k), T(0));
  // a^H a, or a a^H
  for (int64_t i = 0; i < m; ++i) {
    const T* row = a + i * n;
    if (tall) {
      for (int64_t j = 0; j < n; ++j) axpy(conjugate(row[j]), row, gram.data() + j * n, n);
    } else {
      for (int64_t j = 0; j < m; ++j) gram[size_t(i * m + j)] = dot(a + j * n, row, n);
    }
  }
  for (int64_t i = 0; i < p; ++i) gram[size_t(i * p + i)] += T(RealOf<T>(l2));
  if (!cholesky_factor(gram.data(), p, factor.data())) return false;
  if (tall) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) axpy(conjugate(a[i * n + j]), b + i * k, z.data() + j * k, k);
    }
  } else {
    std::copy(b, b + m * k, z.begin());
  }
  triangular_solve(factor.data(), z.data(), p, k, true, false, z.data());
  triangular_solve(factor.data(), z.data(), p, k, true, true, z.data());
  if (tall) {
    std::copy(z.begin(), z.end(), x);
    return true;
  }
  std::fill(x, x + n * k, T(0));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) axpy(conjugate(a[i * n + j]), z.data() + i * k, x + j * k, k);
  }
  return true;
}

// By singular values: small ones count as zero, with the threshold of TensorFlow's decomposition.
template <class T>
void least_squares_robust(const T* a, const T* b, int64_t m, int64_t n, int64_t k, T* x) {
  using Real = RealOf<T>;
  const int64_t p = std::min(m, n);
  std::fill(x, x + n * k, T(0));
  for (int64_t i = 0; i < m * n; ++i) {
    if (!std::isfinite(std::abs(a[i]))) return;
  }
  std::vector<T> s(size_t(p), T(0)), u(size_t(m * p), T(0)), v(size_t(n * p), T(0)), z(size_t(p * k), T(0));
  svd(a, m, n, false, s.data(), u.data(), v.data());
  const Real least = std::real(s[0]) * std::numeric_limits<Real>::epsilon() * Real(p);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < p; ++j) axpy(conjugate(u[size_t(i * p + j)]), b + i * k, z.data() + j * k, k);
  }
  for (int64_t j = 0; j < p; ++j) {
    const Real value = std::real(s[size_t(j)]);
    if (!(value > least)) continue;
    for (int64_t c = 0; c < k; ++c) z[size_t(j * k + c)] /= value;
    for (int64_t i = 0; i < n; ++i) axpy(v[size_t(i * p + j)], z.data() + j * k, x + i * k, k);
  }
}

#define X(T)                                                                                   \
  template void triangular_solve(const T*, const T*, int64_t, int64_t, bool, bool, T*);        \
  template void cholesky(const T*, int64_t, T*);                                               \
  template bool least_squares_fast(const T*, const T*, int64_t, int64_t, int64_t, double, T*); \
  template void least_squares_robust(const T*, const T*, int64_t, int64_t, int64_t, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels

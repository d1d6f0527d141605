// Householder reduction to a real tridiagonal matrix, then QR steps with Wilkinson's shift (Golub and Van
// Loan, 8.3), in the order and with the signs of Eigen's solver.
#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

namespace {

constexpr int kMaxSteps = 30;  // for each eigenvalue

// A plane rotation that takes (p, q) to (r, 0) as c p - s q = r.
template <class Real>
struct Givens {
  Real c, s;
  Givens(Real p, Real q) {
    if (q == 0) {
      c = p < 0 ? Real(-1) : Real(1);
      s = 0;
    } else if (p == 0) {
      c = 0;
      s = q < 0 ? Real(1) : Real(-1);
    } else if (std::abs(p) > std::abs(q)) {
      const Real t = q / p, u = std::copysign(std::sqrt(1 + t * t), p);
      c = 1 / u;
      s = -t * c;
    } else {
      const Real t = p / q, u = std::copysign(std::sqrt(1 + t * t), q);
      s = -1 / u;
      c = -t * s;
    }
  }
};

// One implicit step on the rows [start, end] of the tridiagonal matrix; vectors are the rows of q.
template <class T, class Real = RealOf<T>>
void qr_step(Real* d, Real* e, int64_t start, int64_t end, T* q, int64_t n) {
  const Real td = (d[end - 1] - d[end]) / 2, last = e[end - 1];
  Real shift = d[end];
  if (td == 0) {
    shift -= std::abs(last);
  } else if (last != 0) {
    const Real square = last * last, h = std::hypot(td, last), sum = td + (td > 0 ? h : -h);
    shift -= square == 0 ? last / (sum / last) : square / sum;
  }
  Real x = d[start] - shift, z = e[start];
  for (int64_t k = start; k < end && z != 0; ++k) {
    const auto [c, s] = Givens<Real>(x, z);
    const Real sdk = s * d[k] + c * e[k], dkp1 = s * e[k] + c * d[k + 1];
    d[k] = c * (c * d[k] - s * e[k]) - s * (c * e[k] - s * d[k + 1]);
    d[k + 1] = s * sdk + c * dkp1;
    e[k] = c * sdk - s * dkp1;
    if (k > start) e[k - 1] = c * e[k - 1] - s * z;
    x = e[k];
    if (k < end - 1) {
      z = -s * e[k + 1];
      e[k + 1] = c * e[k + 1];
    }
    if (q) rotate(c, -s, q + k * n, q + (k + 1) * n, n);
  }
}

template <class T, class Real = RealOf<T>>
bool diagonalize(Real* d, Real* e, T* q, int64_t n) {
  const Real tiny = std::numeric_limits<Real>::min(), inverse = 1 / std::numeric_limits<Real>::epsilon();
  int64_t start = 0, end = n - 1, steps = 0;
  while (end > 0) {
    for (int64_t i = start; i < end; ++i) {
      const Real scaled = inverse * e[i];
      if (std::abs(e[i]) < tiny || scaled * scaled <= std::abs(d[i]) + std::abs(d[i + 1])) e[i] = 0;
    }
    while (end > 0 && e[end - 1] == 0) --end;
    if (end <= 0) break;
    if (++steps > kMaxSteps * n) return false;
    start = end - 1;
    while (start > 0 && e[start - 1] != 0) --start;
    qr_step(d, e, start, end, q, n);
  }
  return true;
}

// a (full, Hermitian, row after row) to diagonals d and e; row i keeps the vector of reflection i, from
// column i + 1 on; their tau come back.
template <class T, class Real = RealOf<T>>
std::vector<T> tridiagonalize(T* a, int64_t n, Real* d, Real* e) {
  std::vector<T> tau(size_t(std::max<int64_t>(n - 1, 0)), T(0)), v(size_t(n), T(0)), w(size_t(n), T(0));
  for (int64_t i = 0; i + 1 < n; ++i) {
    const int64_t m = n - i - 1;
    for (int64_t j = 0; j < m; ++j) v[size_t(j)] = a[(i + 1 + j) * n + i];
    const Reflection<T> r = make_reflection(v.data(), m);
    v[0] = T(1);
    e[i] = r.beta;
    tau[size_t(i)] = r.tau;
    // a -= v w^H + w v^H
    const T h = conjugate(r.tau);
    for (int64_t j = 0; j < m; ++j) {
      const T* row = a + (i + 1 + j) * n + i + 1;
      T sum(0);
      if constexpr (std::is_same_v<T, Real>) sum = dot(row, v.data(), m);
      else
        for (int64_t k = 0; k < m; ++k) sum += multiply(row[k], v[size_t(k)]);
      w[size_t(j)] = multiply(h, sum);
    }
    axpy(multiply(h, T(Real(-0.5)) * dot(w.data(), v.data(), m)), v.data(), w.data(), m);
    for (int64_t j = 0; j < m; ++j) {
      T* row = a + (i + 1 + j) * n + i + 1;
      const T vj = v[size_t(j)], wj = w[size_t(j)];
      if constexpr (std::is_same_v<T, Real>) {
        axpy(-vj, w.data(), row, m);
        axpy(-wj, v.data(), row, m);
      } else {
        for (int64_t k = 0; k < m; ++k) row[k] -= multiply(vj, conjugate(w[size_t(k)])) + multiply(wj, conjugate(v[size_t(k)]));
      }
    }
    for (int64_t j = 0; j < m; ++j) a[i * n + i + 1 + j] = v[size_t(j)];
  }
  for (int64_t i = 0; i < n; ++i) d[i] = std::real(a[i * n + i]);
  return tau;
}

}  // namespace

template <class T>
bool self_adjoint_eig(const T* a, int64_t n, T* values, T* vectors) {
  using Real = RealOf<T>;
  std::vector<T> work(size_t(n * n), T(0)), q;
  Real scale = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const Real size = std::abs(a[i * n + j]);
      if (std::isnan(size)) return false;
      scale = std::max(scale, size);
    }
  }
  if (scale == 0) scale = 1;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const T v = a[i * n + j] / scale;
      work[size_t(j * n + i)] = conjugate(v);
      work[size_t(i * n + j)] = v;
    }
  }
  std::vector<Real> d(size_t(n), Real(0)), e(size_t(n), Real(0));
  const std::vector<T> tau = tridiagonalize(work.data(), n, d.data(), e.data());
  if (vectors) {
    // Row k of q is to be eigenvector k: the rows of Q's transpose, columns of Q = H0^H H1^H ... .
    q.assign(size_t(n * n), T(0));
    for (int64_t i = 0; i < n; ++i) q[size_t(i * n + i)] = T(1);
    for (int64_t i = n - 2; i >= 0; --i) {
      for (int64_t j = i + 1; j < n; ++j) reflect(conjugate(tau[size_t(i)]), work.data() + i * n + i + 1, q.data() + j * n + i + 1, n - i - 1);
    }
  }
  if (!diagonalize(d.data(), e.data(), vectors ? q.data() : nullptr, n)) return false;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t least = std::min_element(d.begin() + i, d.end()) - d.begin();
    if (least != i) {
      std::swap(d[size_t(i)], d[size_t(least)]);
      if (vectors) std::swap_ranges(q.begin() + i * n, q.begin() + (i + 1) * n, q.begin() + least * n);
    }
    values[i] = T(d[size_t(i)] * scale);
  }
  if (vectors) transpose(q.data(), n, n, vectors);
  return true;
}

#define X(T) template bool self_adjoint_eig(const T*, int64_t, T*, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels

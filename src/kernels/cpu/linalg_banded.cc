#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

namespace {

template <class T>
RealOf<T> real_part(T v) {
  return std::real(v);
}

// to -= factor * from
template <class T>
void subtract(T* to, T factor, const T* from, int64_t k) {
  for (int64_t i = 0; i < k; ++i) to[i] -= factor * from[i];
}

}  // namespace

template <class T>
void banded_triangular_solve(const T* bands, const T* b, int64_t count, int64_t n, int64_t k, bool lower, bool adjoint, T* x) {
  // The element that ties unknown i to unknown j, and the main diagonal. An adjoint swaps the two, and
  // with them the direction of the solution.
  const auto at = [&](int64_t i, int64_t j) {
    if (adjoint) std::swap(i, j);
    const int64_t row = lower ? i - j : count - 1 - (j - i);
    const T v = bands[row * n + i];
    return adjoint ? conjugate(v) : v;
  };
  const bool forward = lower != adjoint;
  std::copy(b, b + n * k, x);
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    const int64_t begin = forward ? std::max<int64_t>(0, i - count + 1) : i + 1, end = forward ? i : std::min(n, i + count);
    for (int64_t j = begin; j < end; ++j) subtract(x + i * k, at(i, j), x + j * k, k);
    const T d = at(i, i);
    for (int64_t c = 0; c < k; ++c) x[i * k + c] /= d;
  }
}

namespace {

// The three diagonals of U in P A = L U: main, first and second above.
template <class T>
struct Upper {
  explicit Upper(int64_t n) : main(size_t(n), T(0)), first(size_t(n), T(0)), second(size_t(n), T(0)) {}
  std::vector<T> main, first, second;
};

template <class T>
void fill_nan(T* x, int64_t n) {
  std::fill(x, x + n, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}

template <class T>
void thomas(const T* super, const T* main, const T* sub, const T* b, int64_t n, int64_t k, T* x) {
  std::vector<T> u(size_t(n), T(0));
  if (main[0] == T(0)) return fill_nan(x, n * k);
  u[0] = super[0] / main[0];
  for (int64_t c = 0; c < k; ++c) x[c] = b[c] / main[0];
  for (int64_t i = 1; i < n; ++i) {
    const T denominator = main[i] - sub[i] * u[size_t(i - 1)];
    if (denominator == T(0)) return fill_nan(x, n * k);
    u[size_t(i)] = super[i] / denominator;
    for (int64_t c = 0; c < k; ++c) x[i * k + c] = (b[i * k + c] - sub[i] * x[(i - 1) * k + c]) / denominator;
  }
  for (int64_t i = n - 2; i >= 0; --i) subtract(x + i * k, u[size_t(i)], x + (i + 1) * k, k);
}

// As LAPACK's xGTSV.
template <class T>
void pivoting(const T* super, const T* main, const T* sub, const T* b, int64_t n, int64_t k, T* x) {
  Upper<T> u(n);
  u.main[0] = main[0];
  u.first[0] = super[0];
  std::copy(b, b + k, x);
  for (int64_t i = 0; i + 1 < n; ++i) {
    const size_t s = size_t(i);
    T *row = x + i * k, *next = x + (i + 1) * k;
    const T* rhs = b + (i + 1) * k;
    if (std::abs(u.main[s]) >= std::abs(sub[i + 1])) {
      if (u.main[s] == T(0)) return fill_nan(x, n * k);
      const T factor = sub[i + 1] / u.main[s];
      u.main[s + 1] = main[i + 1] - factor * u.first[s];
      u.first[s + 1] = super[i + 1];
      std::copy(rhs, rhs + k, next);
      subtract(next, factor, row, k);
    } else {  // the rows change places
      const T factor = u.main[s] / sub[i + 1];
      u.main[s] = sub[i + 1];
      u.main[s + 1] = u.first[s] - factor * main[i + 1];
      u.first[s] = main[i + 1];
      std::copy(row, row + k, next);
      subtract(next, factor, rhs, k);
      std::copy(rhs, rhs + k, row);
      if (i != n - 2) {
        u.second[s] = super[i + 1];
        u.first[s + 1] = -factor * super[i + 1];
      }
    }
  }
  if (u.main[size_t(n - 1)] == T(0)) return fill_nan(x, n * k);
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t s = size_t(i);
    if (i + 1 < n) subtract(x + i * k, u.first[s], x + (i + 1) * k, k);
    if (i + 2 < n) subtract(x + i * k, u.second[s], x + (i + 2) * k, k);
    for (int64_t c = 0; c < k; ++c) x[i * k + c] /= u.main[s];
  }
}

// Moves a pivot away from zero until neither 1 / pivot nor row / pivot overflow (LAPACK's xLAGTS).
template <class T>
void perturb(RealOf<T> step, T& pivot, T* row, int64_t k) {
  using Real = RealOf<T>;
  const Real safe = std::numeric_limits<Real>::min(), big = 1 / safe;
  Real size = std::abs(pivot);
  if (!(size < 1)) return;
  step = std::copysign(std::max(std::abs(step), safe), real_part(pivot));
  Real most = 0;
  for (int64_t c = 0; c < k; ++c) most = std::max(most, std::abs(row[c]));
  while (size < 1) {
    if (size < safe && size != 0 && !(most * safe > size)) {
      pivot *= big;
      for (int64_t c = 0; c < k; ++c) row[c] *= big;
      return;
    }
    if (size >= safe && !(most > size * big)) return;
    pivot += step;
    step *= 2;
    size = std::abs(pivot);
  }
}

// As LAPACK's xLAGTF and xLAGTS: singular matrices are solved as if perturbed in the last place.
template <class T>
void perturbing(const T* super, const T* main, const T* sub, const T* b, int64_t n, int64_t k, T* x) {
  using Real = RealOf<T>;
  const Real eps = std::numeric_limits<Real>::epsilon();
  Upper<T> u(n);
  u.main[0] = main[0];
  std::copy(b, b + k, x);
  Real tolerance = eps * std::abs(main[0]);
  if (n > 1) {
    u.first[0] = super[0];
    Real largest = std::max(std::abs(u.main[0]), std::abs(u.first[0])), scale = std::abs(u.main[0]) + std::abs(u.first[0]);
    for (int64_t i = 0; i + 1 < n; ++i) {
      const size_t s = size_t(i);
      T *row = x + i * k, *next = x + (i + 1) * k;
      const T* rhs = b + (i + 1) * k;
      u.main[s + 1] = main[i + 1];
      Real next_scale = std::abs(sub[i + 1]) + std::abs(main[i + 1]);
      if (i < n - 2) next_scale += std::abs(super[i + 1]);
      const Real here = u.main[s] == T(0) ? Real(0) : std::abs(u.main[s]) / scale;
      if (sub[i + 1] == T(0) || std::abs(sub[i + 1]) / next_scale <= here) {
        scale = next_scale;
        const T factor = sub[i + 1] == T(0) ? T(0) : sub[i + 1] / u.main[s];
        if (factor != T(0)) u.main[s + 1] -= factor * u.first[s];
        u.first[s + 1] = super[i + 1];
        std::copy(rhs, rhs + k, next);
        if (factor != T(0)) subtract(next, factor, row, k);
      } else {
        const T factor = u.main[s] / sub[i + 1];
        u.main[s] = sub[i + 1];
        u.main[s + 1] = u.first[s] - factor * main[i + 1];
        u.first[s] = main[i + 1];
        if (i < n - 2) {
          u.second[s] = super[i + 1];
          u.first[s + 1] = -factor * super[i + 1];
        }
        std::copy(row, row + k, next);
        subtract(next, factor, rhs, k);
        std::copy(rhs, rhs + k, row);
      }
      if (i < n - 2) largest = std::max({largest, std::abs(u.main[s]), std::abs(u.first[s]), std::abs(u.second[s])});
    }
    tolerance = eps * std::max(largest, std::abs(u.main[size_t(n - 1)]));
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t s = size_t(i);
    T* row = x + i * k;
    if (i + 1 < n) subtract(row, u.first[s], row + k, k);
    if (i + 2 < n) subtract(row, u.second[s], row + 2 * k, k);
    T pivot = u.main[s];
    perturb(tolerance, pivot, row, k);
    const T inverse = T(1) / pivot;
    for (int64_t c = 0; c < k; ++c) row[c] *= inverse;
  }
}

}  // namespace

template <class T>
void tridiagonal_solve(TridiagonalMethod method, const T* diagonals, const T* b, int64_t n, int64_t k, T* x) {
  const T *super = diagonals, *main = diagonals + n, *sub = diagonals + 2 * n;
  if (n == 0 || k == 0) return;
  switch (method) {
    case TridiagonalMethod::kThomas: return thomas(super, main, sub, b, n, k, x);
    case TridiagonalMethod::kPivoting: return pivoting(super, main, sub, b, n, k, x);
    case TridiagonalMethod::kPerturbing: return perturbing(super, main, sub, b, n, k, x);
  }
}

template <class T>
void tridiagonal_matmul(const T* super, const T* main, const T* sub, const T* b, int64_t n, int64_t k, T* x) {
  for (int64_t i = 0; i < n; ++i) {
    const T* row = b + i * k;
    for (int64_t c = 0; c < k; ++c) {
      T sum = main[i] * row[c];
      if (i > 0) sum += sub[i] * row[c - k];
      if (i + 1 < n) sum += super[i] * row[c + k];
      x[i * k + c] = sum;
    }
  }
}

#define X(T)                                                                                            \
  template void banded_triangular_solve(const T*, const T*, int64_t, int64_t, int64_t, bool, bool, T*); \
  template void tridiagonal_solve(TridiagonalMethod, const T*, const T*, int64_t, int64_t, T*);         \
  template void tridiagonal_matmul(const T*, const T*, const T*, const T*, int64_t, int64_t, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels

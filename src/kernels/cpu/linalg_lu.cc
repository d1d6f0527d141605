#include "kernels/cpu/linalg_eigen.h"

#include <Eigen/LU>

#include <cmath>

namespace weft_engine::kernels {

namespace {

template <class T>
using Lu = Eigen::PartialPivLU<Dense<T>>;

// NaN is not zero: it passes, and shows in the result.
template <class T>
bool has_zero_pivot(const Lu<T>& lu) {
  for (int64_t i = 0; i < lu.rows(); ++i) {
    if (lu.matrixLU()(i, i) == T(0)) return true;
  }
  return false;
}

template <class T>
Lu<T> decompose(const T* a, int64_t n, bool adjoint) {
  Dense<T> m = matrix(a, n, n);
  if (adjoint) m.adjointInPlace();
  return Lu<T>(m);
}

}  // namespace

template <class T>
bool lu_inverse(const T* a, int64_t n, bool adjoint, T* x) {
  const Lu<T> lu = decompose(a, n, adjoint);
  if (has_zero_pivot(lu)) return false;
  matrix(x, n, n) = lu.solve(Dense<T>::Identity(n, n));
  return true;
}

template <class T>
bool lu_solve(const T* a, const T* b, int64_t n, int64_t k, bool adjoint, T* x) {
  const Lu<T> lu = decompose(a, n, adjoint);
  if (has_zero_pivot(lu)) return false;
  matrix(x, n, k) = lu.solve(Dense<T>(matrix(b, n, k)));
  return true;
}

template <class T>
bool lu_factor(const T* a, int64_t n, T* out, int64_t* permutation) {
  const Lu<T> lu = decompose(a, n, false);
  matrix(out, n, n) = lu.matrixLU();
  // Eigen says where each row goes; asked for is where each row comes from.
  for (int64_t i = 0; i < n; ++i) permutation[lu.permutationP().indices()(i)] = i;
  return !has_zero_pivot(lu);
}

template <class T>
RealOf<T> lu_log_determinant(const T* a, int64_t n, T* sign) {
  *sign = T(1);
  RealOf<T> log = 0;
  if (n == 0) return log;
  const Lu<T> lu = decompose(a, n, false);
  *sign = T(RealOf<T>(lu.permutationP().determinant()));
  for (int64_t i = 0; i < n; ++i) {
    const T d = lu.matrixLU()(i, i);
    const RealOf<T> size = std::abs(d);
    log += std::log(size);
    if constexpr (std::is_same_v<T, RealOf<T>>) {
      *sign *= d > 0 ? T(1) : d < 0 ? T(-1) : d;  // zero and NaN stay
    } else {
      *sign *= size == 0 ? T(0) : d / size;
    }
  }
  return log;
}

#define X(T)                                                              \
  template bool lu_inverse(const T*, int64_t, bool, T*);                  \
  template bool lu_solve(const T*, const T*, int64_t, int64_t, bool, T*); \
  template bool lu_factor(const T*, int64_t, T*, int64_t*);               \
  template RealOf<T> lu_log_determinant(const T*, int64_t, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels

// Decompositions and solvers for one matrix. Matrices are dense, row after row. Eigen stands behind some of
// them, in the linalg_*.cc files alone; the others follow the same algorithms, being much quicker to compile.
// TensorFlow uses Eigen too, so signs and orders agree.
// T is float, double, complex64 or complex128 unless said otherwise; sizes may be zero only where said.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

namespace weft_engine::kernels {

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class T>
using RealOf = typename RealPart<T>::type;

// The factor alone: false, and any l, where a is not positive definite.
template <class T>
bool cholesky_factor(const T* a, int64_t n, T* l);
// l l^H = a, from the lower half of a. Where a is not positive definite the lower half of l is NaN.
template <class T>
void cholesky(const T* a, int64_t n, T* l);
// The symmetric gradient for a, from l and the gradient for l. float and double.
template <class T>
void cholesky_grad(const T* l, const T* dl, int64_t n, T* da);
// x = argmin |a x - b|^2 + l2 |x|^2 (m >= n), or the shortest x that solves (m < n), by the normal
// equations; false when they are not positive definite. a is [m, n], b is [m, k].
template <class T>
bool least_squares_fast(const T* a, const T* b, int64_t m, int64_t n, int64_t k, double l2, T* x);
// The shortest least squares solution; zero for a matrix with numbers that are not finite.
template <class T>
void least_squares_robust(const T* a, const T* b, int64_t m, int64_t n, int64_t k, T* x);
// b is [n, k]; the other half of a is not read.
template <class T>
void triangular_solve(const T* a, const T* b, int64_t n, int64_t k, bool lower, bool adjoint, T* x);

// LU with row pivots; false when a pivot is zero.
template <class T>
bool lu_inverse(const T* a, int64_t n, bool adjoint, T* x);
template <class T>
bool lu_solve(const T* a, const T* b, int64_t n, int64_t k, bool adjoint, T* x);
template <class T>
bool lu_factor(const T* a, int64_t n, T* lu, int64_t* permutation);
template <class T>
RealOf<T> lu_log_determinant(const T* a, int64_t n, T* sign);

// a = q r: q is [m, m] and r [m, n] in full, else [m, p] and [p, n] with p = min(m, n).
template <class T>
void qr(const T* a, int64_t m, int64_t n, bool full, T* q, T* r);

// Ascending values e (n numbers of type T) and vectors in the columns of v, which may be null; false when
// it did not converge.
template <class T>
bool self_adjoint_eig(const T* a, int64_t n, T* e, T* v);
// complex64 and complex128.
template <class T>
bool eig(const T* a, int64_t n, T* e, T* v);

// float and double.
template <class T>
bool real_eig(const T* a, int64_t n, std::complex<T>* e, std::complex<T>* v);

// u is [m, m] in full, else [m, p]; v [n, n] or [n, p]; null for the values alone. A matrix with numbers
// that are not finite gives NaN.
template <class T>
void svd(const T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v);

// False where the numbers are not finite.
template <class T>
bool matrix_exponential(const T* a, int64_t n, T* x);
void matrix_square_root(const std::complex<double>* a, int64_t n, std::complex<double>* x);
// NaN for a singular matrix.
void matrix_logarithm(const std::complex<double>* a, int64_t n, std::complex<double>* x);

// Band matrices: row i of `bands` (of `count`, width n) holds a diagonal, the main one first if lower,
// last if upper.
template <class T>
void banded_triangular_solve(const T* bands, const T* b, int64_t count, int64_t n, int64_t k, bool lower, bool adjoint, T* x);
// diagonals: [3, n] as super-, main and subdiagonal; `x` NaN where it is singular.
enum class TridiagonalMethod { kThomas, kPivoting, kPerturbing };
template <class T>
void tridiagonal_solve(TridiagonalMethod method, const T* diagonals, const T* b, int64_t n, int64_t k, T* x);
template <class T>
void tridiagonal_matmul(const T* super, const T* main, const T* sub, const T* b, int64_t n, int64_t k, T* x);

}  // namespace weft_engine::kernels

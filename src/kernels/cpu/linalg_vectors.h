// Loops over contiguous vectors that the hand-written decompositions consist of, and Householder
// reflections. Matrices are kept column after column there, so that every loop runs along memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/linalg.h"

namespace weft_engine::kernels {

WEFT_DECLARE_ISA(float dot_floats(const float* x, const float* y, int64_t n))
WEFT_DECLARE_ISA(double dot_doubles(const double* x, const double* y, int64_t n))
WEFT_DECLARE_ISA(void axpy_floats(float a, const float* x, float* y, int64_t n))
WEFT_DECLARE_ISA(void axpy_doubles(double a, const double* x, double* y, int64_t n))
WEFT_DECLARE_ISA(void rotate_floats(float c, float s, float* x, float* y, int64_t n))
WEFT_DECLARE_ISA(void rotate_doubles(double c, double s, double* x, double* y, int64_t n))

template <class T>
T conjugate(T v) {
  if constexpr (std::is_same_v<T, RealOf<T>>) return v;
  else return std::conj(v);
}

// The product by hand: operator* of std::complex asks whether the result is NaN.
template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_same_v<T, RealOf<T>>) return a * b;
  else return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

// sum of conj(x) y
template <class T>
T dot(const T* x, const T* y, int64_t n) {
  if constexpr (std::is_same_v<T, float>) return WEFT_BEST_ISA(dot_floats)(x, y, n);
  if constexpr (std::is_same_v<T, double>) return WEFT_BEST_ISA(dot_doubles)(x, y, n);
  T sum(0);
  for (int64_t i = 0; i < n; ++i) sum += multiply(conjugate(x[i]), y[i]);
  return sum;
}

// y += a x
template <class T>
void axpy(T a, const T* x, T* y, int64_t n) {
  if constexpr (std::is_same_v<T, float>) return WEFT_BEST_ISA(axpy_floats)(a, x, y, n);
  else if constexpr (std::is_same_v<T, double>) return WEFT_BEST_ISA(axpy_doubles)(a, x, y, n);
  else
    for (int64_t i = 0; i < n; ++i) y[i] += multiply(a, x[i]);
}

// x, y = c x + s y, c y - s x, with real c and s.
template <class T>
void rotate(RealOf<T> c, RealOf<T> s, T* x, T* y, int64_t n) {
  using Real = RealOf<T>;
  n *= int64_t(sizeof(T) / sizeof(Real));
  if constexpr (std::is_same_v<Real, float>) WEFT_BEST_ISA(rotate_floats)(c, s, reinterpret_cast<float*>(x), reinterpret_cast<float*>(y), n);
  else WEFT_BEST_ISA(rotate_doubles)(c, s, reinterpret_cast<double*>(x), reinterpret_cast<double*>(y), n);
}

template <class T>
RealOf<T> squared_norm(const T* x, int64_t n) {
  return std::real(dot(x, x, n));
}

// H = 1 - tau v v^H with v[0] = 1 and H x = beta e1, beta real. The tail of v replaces that of x.
template <class T>
struct Reflection {
  T tau;
  RealOf<T> beta;
};
template <class T>
Reflection<T> make_reflection(T* x, int64_t n) {
  using Real = RealOf<T>;
  const Real tiny = std::numeric_limits<Real>::min(), tail = n > 1 ? squared_norm(x + 1, n - 1) : Real(0);
  const T head = x[0];
  if (tail <= tiny && std::imag(head) * std::imag(head) <= tiny) {
    std::fill(x + 1, x + n, T(0));
    return {T(0), std::real(head)};
  }
  Real beta = std::sqrt(std::norm(head) + tail);
  if (std::real(head) >= 0) beta = -beta;
  const T scale = T(1) / (head - beta);
  for (int64_t i = 1; i < n; ++i) x[i] = multiply(x[i], scale);
  return {conjugate((beta - head) / beta), beta};
}

// column -= tau v (v^H column); v[0] counts as 1.
template <class T>
void reflect(T tau, const T* v, T* column, int64_t n) {
  if (tau == T(0)) return;
  const T w = multiply(tau, column[0] + dot(v + 1, column + 1, n - 1));
  column[0] -= w;
  axpy(-w, v + 1, column + 1, n - 1);
}

// QR of a column-major [m, n] matrix in place: R above, the reflections' vectors below; their tau.
template <class T>
std::vector<T> qr_in_place(T* a, int64_t m, int64_t n) {
  std::vector<T> tau(size_t(std::min(m, n)), T(0));
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    T* column = a + k * m + k;
    const Reflection<T> r = make_reflection(column, m - k);
    column[0] = T(r.beta);
    tau[size_t(k)] = r.tau;
    for (int64_t j = k + 1; j < n; ++j) reflect(r.tau, column, a + j * m + k, m - k);
  }
  return tau;
}

// q, column-major [m, p], becomes Q times the [p, p] matrix in its first rows.
template <class T>
void apply_q(const T* a, const std::vector<T>& tau, int64_t m, T* q, int64_t p) {
  for (int64_t k = int64_t(tau.size()) - 1; k >= 0; --k) {
    for (int64_t j = 0; j < p; ++j) reflect(conjugate(tau[size_t(k)]), a + k * m + k, q + j * m + k, m - k);
  }
}

// out[j, i] = in[i, j], conjugated if asked; in is [rows, columns] row after row.
template <class T>
void transpose(const T* in, int64_t rows, int64_t columns, T* out, bool conj = false) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) out[j * rows + i] = conj ? conjugate(in[i * columns + j]) : in[i * columns + j];
  }
}

#define WEFT_FOR_SCALARS(X) X(float) X(double) X(std::complex<float>) X(std::complex<double>)

}  // namespace weft_engine::kernels

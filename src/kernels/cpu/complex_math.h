// Complex arithmetic as TensorFlow's: the school formulas, without C99's rescue of infinities, which
// costs a library call for every product.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace weft_engine::kernels {

template <class T>
std::complex<T> multiply(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
std::complex<T> divide(std::complex<T> a, std::complex<T> b) {
  // Scaled by the larger part (Smith), so that |b|^2 does not overflow.
  if (std::abs(b.real()) >= std::abs(b.imag())) {
    const T r = b.imag() / b.real(), d = b.real() + b.imag() * r;
    return {(a.real() + a.imag() * r) / d, (a.imag() - a.real() * r) / d};
  }
  const T r = b.real() / b.imag(), d = b.real() * r + b.imag();
  return {(a.real() * r + a.imag()) / d, (a.imag() * r - a.real()) / d};
}

// 1 / z; NaN for infinite z, and infinite only in the real part of 1 / sqrt(0), as in TensorFlow.
template <class T>
std::complex<T> reciprocal(std::complex<T> z) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(z.real()) || std::isinf(z.imag())) return {kNan, kNan};
  return divide(std::complex<T>(1), z);
}
template <class T>
std::complex<T> reciprocal_sqrt(std::complex<T> z) {
  if (z == T(0)) return {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
  if (std::isinf(z.real()) || std::isinf(z.imag())) return {};
  return divide(std::complex<T>(1), std::sqrt(z));
}

// log(1 + z) without loss for small z: |1 + z|^2 - 1 = x (2 + x) + y^2.
template <class T>
std::complex<T> complex_log1p(std::complex<T> z) {
  const T x = z.real(), y = z.imag();
  const std::complex<T> u(T(1) + x, y);
  if (u == T(0) || std::isinf(y)) {  // TensorFlow's formula, log(u) z / (u - 1), ends in NaN here
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    return {u == T(0) ? -std::numeric_limits<T>::infinity() : kNan, kNan};
  }
  if (std::abs(x) > T(0.5) || std::abs(y) > T(0.5)) return std::log(u);
  return {T(0.5) * std::log1p(x * (T(2) + x) + y * y), std::atan2(y, T(1) + x)};
}

// exp(z) - 1: e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y/2).
template <class T>
std::complex<T> complex_expm1(std::complex<T> z) {
  const T x = z.real(), y = z.imag(), s = std::sin(T(0.5) * y);
  if (std::isinf(std::exp(x))) return {std::numeric_limits<T>::quiet_NaN(), std::exp(x) * std::sin(y)};  // as TensorFlow
  return {std::expm1(x) * std::cos(y) - T(2) * s * s, std::exp(x) * std::sin(y)};
}

template <class T>
std::complex<T> complex_pow(std::complex<T> a, std::complex<T> b) {
  if (a == T(0)) {
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    return b == T(0) ? std::complex<T>(kNan, kNan) : std::complex<T>();
  }
  return std::exp(multiply(b, std::log(a)));
}

}  // namespace weft_engine::kernels

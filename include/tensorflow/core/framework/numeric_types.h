// SPDX-License-Identifier: Apache-2.0
//
// Element types that C++ does not have. Eigen::half and Eigen::bfloat16 are Eigen's own where Eigen's tensors are on the include path
// (Debian: libeigen3-dev and -I/usr/include/eigen3; WEFT_NO_EIGEN ignores it), and small ones of ours where not.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NUMERIC_TYPES_H_
#define TENSORFLOW_CORE_FRAMEWORK_NUMERIC_TYPES_H_

#include <complex>
#include <cstring>

#include "tensorflow/core/platform/types.h"

#if !defined(WEFT_NO_EIGEN) && __has_include(<unsupported/Eigen/CXX11/Tensor>)
#define WEFT_WITH_EIGEN 1
#ifndef EIGEN_USE_THREADS
#define EIGEN_USE_THREADS
#endif
#include <unsupported/Eigen/CXX11/Tensor>
namespace Eigen {
struct GpuDevice;
}
#else
namespace Eigen {

struct ThreadPoolDevice;
struct GpuDevice;

namespace weft {

inline std::uint32_t BitsOf(float f) {
  std::uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
inline float FloatOf(std::uint32_t u) {
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
// Rounds to nearest, ties to even.
inline std::uint16_t ToBfloat16(float f) {
  const std::uint32_t u = BitsOf(f);
  if (f != f) return static_cast<std::uint16_t>((u >> 16) | 0x40);
  return static_cast<std::uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
inline std::uint16_t ToHalf(float f) {
  const std::uint32_t u = BitsOf(f), sign = (u >> 16) & 0x8000, magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);       // not a number
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);      // 65520 and more
  if (magnitude < 0x38800000) {                                                       // below the least normal one: let the adder round
    const float sum = FloatOf(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (BitsOf(sum) - BitsOf(0.5f)));
  }
  const std::uint32_t rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}
inline float FromHalf(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31, fraction = h & 0x3ff;
  if (exponent == 0) {
    const float f = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -f : f;
  }
  if (exponent == 31) return FloatOf(sign | 0x7f800000 | (fraction << 13));
  return FloatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
}

// Arithmetic in float, one rounding for each operation.
template <class Self>
struct SmallFloat {
  friend Self operator+(Self a, Self b) { return Self(float(a) + float(b)); }
  friend Self operator-(Self a, Self b) { return Self(float(a) - float(b)); }
  friend Self operator*(Self a, Self b) { return Self(float(a) * float(b)); }
  friend Self operator/(Self a, Self b) { return Self(float(a) / float(b)); }
  friend Self operator-(Self a) { return Self(-float(a)); }
  friend Self& operator+=(Self& a, Self b) { return a = a + b; }
  friend Self& operator-=(Self& a, Self b) { return a = a - b; }
  friend Self& operator*=(Self& a, Self b) { return a = a * b; }
  friend Self& operator/=(Self& a, Self b) { return a = a / b; }
  friend bool operator==(Self a, Self b) { return float(a) == float(b); }
  friend bool operator!=(Self a, Self b) { return float(a) != float(b); }
  friend bool operator<(Self a, Self b) { return float(a) < float(b); }
  friend bool operator>(Self a, Self b) { return float(a) > float(b); }
  friend bool operator<=(Self a, Self b) { return float(a) <= float(b); }
  friend bool operator>=(Self a, Self b) { return float(a) >= float(b); }
};

}  // namespace weft

struct half : weft::SmallFloat<half> {
  std::uint16_t x = 0;
  half() = default;
  template <class T, class = decltype(static_cast<float>(std::declval<T>()))>
  explicit half(T v) : x(weft::ToHalf(static_cast<float>(v))) {}
  operator float() const { return weft::FromHalf(x); }  // NOLINT: as Eigen's
};
struct bfloat16 : weft::SmallFloat<bfloat16> {
  std::uint16_t value = 0;
  bfloat16() = default;
  template <class T, class = decltype(static_cast<float>(std::declval<T>()))>
  explicit bfloat16(T v) : value(weft::ToBfloat16(static_cast<float>(v))) {}
  operator float() const { return weft::FloatOf(std::uint32_t(value) << 16); }  // NOLINT
};

}  // namespace Eigen
#endif

namespace tensorflow {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;
using bfloat16 = Eigen::bfloat16;
using half = Eigen::half;

#define WEFT_QUANTIZED(name, type)                                        \
  struct name {                                                           \
    type value = 0;                                                       \
    name() = default;                                                     \
    explicit name(type v) : value(v) {}                                   \
    operator int() const { return static_cast<int>(value); } /* NOLINT */ \
  };
WEFT_QUANTIZED(qint8, int8)
WEFT_QUANTIZED(quint8, uint8)
WEFT_QUANTIZED(qint16, int16)
WEFT_QUANTIZED(quint16, uint16)
WEFT_QUANTIZED(qint32, int32)
#undef WEFT_QUANTIZED

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_NUMERIC_TYPES_H_

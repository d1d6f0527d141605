// The narrow number types of TensorFlow that C++ lacks: half, bfloat16, the float8 and float4 family,
// 4- and 2-bit integers (one per byte, as TensorFlow stores them) and the quantised integers.
// They convert to float implicitly and from numbers explicitly; arithmetic rounds after each operation.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft_engine::core {

namespace detail {

inline float half_to_float(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000u) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24, exact in float.
  float magnitude = float(mantissa) * 5.9604644775390625e-8f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

inline uint16_t float_to_half(float f) {
  uint32_t x = std::bit_cast<uint32_t>(f), sign = (x >> 16) & 0x8000u;
  x &= 0x7fffffffu;
  if (x > 0x7f800000u) return uint16_t(sign | 0x7e00u);
  if (x >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // rounds to infinity from 65520 up
  if (x < 0x38800000u) {
    // Adding 0.5 leaves exactly the half-subnormal bits, rounded to even, at the bottom of the float.
    float shifted = std::bit_cast<float>(x) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  uint32_t odd = (x >> 13) & 1;
  return uint16_t(sign | ((x + 0xfffu + odd - 0x38000000u) >> 13));
}

inline uint16_t float_to_bfloat(float f) {
  uint32_t x = std::bit_cast<uint32_t>(f);
  if ((x & 0x7fffffffu) > 0x7f800000u) return uint16_t(((x >> 16) & 0x8000u) | 0x7fc0u);
  return uint16_t((x + 0x7fffu + ((x >> 16) & 1)) >> 16);
}

// A small float with a sign bit, E exponent bits and M mantissa bits. `Fn`: no infinities (all ones is
// NaN). `Uz`: no infinities and no negative zero; 0x80 is NaN.
float small_to_float(uint8_t bits, int e, int m, int bias, bool fn, bool uz, bool has_nan);
uint8_t float_to_small(float f, int e, int m, int bias, bool fn, bool uz, bool has_nan);

}  // namespace detail

// Derived adds: static float decode(Bits), static Bits encode(float).
template <class Derived, class Bits>
struct NarrowFloat {
  Bits bits = 0;
  NarrowFloat() = default;
  operator float() const { return Derived::decode(bits); }  // NOLINT: implicit on purpose
  static Derived from_bits(Bits b) {
    Derived d;
    d.bits = b;
    return d;
  }
};

#define WEFT_NARROW_OPERATORS(T)                                                                   \
  T() = default;                                                                                   \
  template <class U>                                                                               \
    requires(std::is_arithmetic_v<U>)                                                              \
  explicit T(U v) {                                                                                \
    bits = encode(static_cast<float>(v));                                                          \
  }                                                                                                \
  template <class U>                                                                               \
    requires(!std::is_arithmetic_v<U> && std::is_convertible_v<U, float> && !std::is_same_v<U, T>) \
  explicit T(const U& v) {                                                                         \
    bits = encode(static_cast<float>(v));                                                          \
  }                                                                                                \
  friend T operator+(T a, T b) { return T(float(a) + float(b)); }                                  \
  friend T operator-(T a, T b) { return T(float(a) - float(b)); }                                  \
  friend T operator*(T a, T b) { return T(float(a) * float(b)); }                                  \
  friend T operator/(T a, T b) { return T(float(a) / float(b)); }                                  \
  friend T operator-(T a) { return T(-float(a)); }                                                 \
  friend bool operator==(T a, T b) { return float(a) == float(b); }                                \
  friend bool operator!=(T a, T b) { return float(a) != float(b); }                                \
  friend bool operator<(T a, T b) { return float(a) < float(b); }                                  \
  friend bool operator>(T a, T b) { return float(a) > float(b); }                                  \
  friend bool operator<=(T a, T b) { return float(a) <= float(b); }                                \
  friend bool operator>=(T a, T b) { return float(a) >= float(b); }                                \
  T& operator+=(T b) { return *this = *this + b; }                                                 \
  T& operator-=(T b) { return *this = *this - b; }                                                 \
  T& operator*=(T b) { return *this = *this * b; }                                                 \
  T& operator/=(T b) { return *this = *this / b; }

struct half : NarrowFloat<half, uint16_t> {
  WEFT_NARROW_OPERATORS(half)
  static float decode(uint16_t b) { return detail::half_to_float(b); }
  static uint16_t encode(float f) { return detail::float_to_half(f); }
};

struct bfloat16 : NarrowFloat<bfloat16, uint16_t> {
  WEFT_NARROW_OPERATORS(bfloat16)
  static float decode(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }
  static uint16_t encode(float f) { return detail::float_to_bfloat(f); }
};

#define WEFT_SMALL_FLOAT(T, e, m, bias, fn, uz, nan)                                              \
  struct T : NarrowFloat<T, uint8_t> {                                                            \
    WEFT_NARROW_OPERATORS(T)                                                                      \
    static float decode(uint8_t b) { return detail::small_to_float(b, e, m, bias, fn, uz, nan); } \
    static uint8_t encode(float f) { return detail::float_to_small(f, e, m, bias, fn, uz, nan); } \
  };
WEFT_SMALL_FLOAT(float8_e5m2, 5, 2, 15, false, false, true)
WEFT_SMALL_FLOAT(float8_e4m3fn, 4, 3, 7, true, false, true)
WEFT_SMALL_FLOAT(float8_e4m3fnuz, 4, 3, 8, true, true, true)
WEFT_SMALL_FLOAT(float8_e4m3b11fnuz, 4, 3, 11, true, true, true)
WEFT_SMALL_FLOAT(float8_e5m2fnuz, 5, 2, 16, true, true, true)
WEFT_SMALL_FLOAT(float4_e2m1fn, 2, 1, 1, true, false, false)
#undef WEFT_SMALL_FLOAT

// N-bit integers, one in the low bits of each byte; the high bits are kept as a sign extension.
template <int N, bool Signed>
struct NarrowInt {
  using Byte = std::conditional_t<Signed, int8_t, uint8_t>;
  Byte value = 0;
  NarrowInt() = default;
  template <class U>
    requires(std::is_arithmetic_v<U>)
  explicit NarrowInt(U v) {
    value = wrap(static_cast<int>(v));
  }
  template <class U>
    requires(!std::is_arithmetic_v<U> && std::is_convertible_v<U, float> && !std::is_same_v<U, NarrowInt>)
  explicit NarrowInt(const U& v) {
    value = wrap(static_cast<int>(static_cast<float>(v)));
  }
  operator int() const { return value; }  // NOLINT: implicit on purpose
  static Byte wrap(int v) {
    constexpr int kMask = (1 << N) - 1;
    v &= kMask;
    if (Signed && (v >> (N - 1))) v -= 1 << N;
    return static_cast<Byte>(v);
  }
};
using int4 = NarrowInt<4, true>;
using uint4 = NarrowInt<4, false>;
using int2 = NarrowInt<2, true>;
using uint2 = NarrowInt<2, false>;

// Quantised integers: the plain integer with a type of its own.
template <class I, int Tag>
struct Quantized {
  I value = 0;
  Quantized() = default;
  template <class U>
    requires(std::is_arithmetic_v<U>)
  explicit Quantized(U v) : value(static_cast<I>(v)) {}
  operator I() const { return value; }  // NOLINT: implicit on purpose
};
using qint8 = Quantized<int8_t, 11>;
using quint8 = Quantized<uint8_t, 12>;
using qint32 = Quantized<int32_t, 13>;
using qint16 = Quantized<int16_t, 15>;
using quint16 = Quantized<uint16_t, 16>;

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

template <class T>
inline constexpr bool is_narrow_float =
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || std::is_same_v<T, float8_e5m2> || std::is_same_v<T, float8_e4m3fn> ||
    std::is_same_v<T, float8_e4m3fnuz> || std::is_same_v<T, float8_e4m3b11fnuz> || std::is_same_v<T, float8_e5m2fnuz> ||
    std::is_same_v<T, float4_e2m1fn>;
template <class T>
inline constexpr bool is_complex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || is_narrow_float<T>;

// The type to compute in: float for narrow floats, T otherwise.
template <class T>
using Wide = std::conditional_t<is_narrow_float<T>, float, T>;

}  // namespace weft_engine::core

namespace std {
template <>
struct numeric_limits<weft_engine::core::half> {
  using half = weft_engine::core::half;
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true, has_quiet_NaN = true;
  static half lowest() { return half::from_bits(0xfbff); }
  static half max() { return half::from_bits(0x7bff); }
  static half min() { return half::from_bits(0x0400); }
  static half infinity() { return half::from_bits(0x7c00); }
  static half quiet_NaN() { return half::from_bits(0x7e00); }
  static half epsilon() { return half::from_bits(0x1400); }
};
template <>
struct numeric_limits<weft_engine::core::bfloat16> {
  using bfloat16 = weft_engine::core::bfloat16;
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true, has_quiet_NaN = true;
  static bfloat16 lowest() { return bfloat16::from_bits(0xff7f); }
  static bfloat16 max() { return bfloat16::from_bits(0x7f7f); }
  static bfloat16 min() { return bfloat16::from_bits(0x0080); }
  static bfloat16 infinity() { return bfloat16::from_bits(0x7f80); }
  static bfloat16 quiet_NaN() { return bfloat16::from_bits(0x7fc0); }
  static bfloat16 epsilon() { return bfloat16::from_bits(0x3c00); }
};
}  // namespace std

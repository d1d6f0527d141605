// Data types and shapes as the C++ API speaks of them.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "weft/export.h"

namespace weft {

// TensorFlow's types under their Python names; the numbers are TensorFlow's.
enum class DType : int {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  boolean = 10,
  qint8 = 11,
  quint8 = 12,
  qint32 = 13,
  bfloat16 = 14,
  qint16 = 15,
  quint16 = 16,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  resource = 20,
  variant = 21,
  uint32 = 22,
  uint64 = 23,
  float8_e5m2 = 24,
  float8_e4m3fn = 25,
  float8_e4m3fnuz = 26,
  float8_e4m3b11fnuz = 27,
  float8_e5m2fnuz = 28,
  int4 = 29,
  uint4 = 30,
  int2 = 31,
  uint2 = 32,
  float4_e2m1fn = 33,
};

// "float", "int32", ... as TensorFlow prints them.
WEFT_API std::string to_string(DType t);

// A shape whose dimensions (-1), or whose rank, may be unknown.
struct PartialShape {
  PartialShape() = default;  // unknown rank
  PartialShape(std::initializer_list<int64_t> d) : known_rank(true), dims(d) {}
  PartialShape(std::vector<int64_t> d) : known_rank(true), dims(std::move(d)) {}  // NOLINT: implicit on purpose
  bool known_rank = false;
  std::vector<int64_t> dims;
};

// The DType of a C++ number type.
template <class T>
struct dtype_of;
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct dtype_of<int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct dtype_of<int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct dtype_of<int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct dtype_of<int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct dtype_of<uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct dtype_of<uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct dtype_of<uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct dtype_of<uint64_t> {
  static constexpr DType value = DType::uint64;
};
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct dtype_of<std::complex<float>> {
  static constexpr DType value = DType::complex64;
};
template <>
struct dtype_of<std::complex<double>> {
  static constexpr DType value = DType::complex128;
};

}  // namespace weft

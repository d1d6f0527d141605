// SPDX-License-Identifier: Apache-2.0
//
// For tests that are written with GoogleTest: tensors of given values, and expectations about two tensors.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_TESTUTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_TESTUTIL_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <type_traits>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/span.h"
#include "tensorflow/core/platform/test.h"

namespace tensorflow {
namespace test {

template <class T>
Tensor AsScalar(const T& value) {
  Tensor made(DataTypeToEnum<T>::value, TensorShape({}));
  made.scalar<T>()() = value;
  return made;
}
template <class T>
Tensor AsTensor(gtl::ArraySlice<T> values) {
  Tensor made(DataTypeToEnum<T>::value, TensorShape({static_cast<int64>(values.size())}));
  std::copy(values.begin(), values.end(), made.flat<T>().data());
  return made;
}
template <class T>
Tensor AsTensor(gtl::ArraySlice<T> values, const TensorShape& shape) {
  Tensor made;
  CHECK(made.CopyFrom(AsTensor<T>(values), shape)) << values.size() << " values for shape " << shape.DebugString();
  return made;
}

// All elements, in order.
template <class T>
void FillValues(Tensor* tensor, gtl::ArraySlice<T> values) {
  auto flat = tensor->flat<T>();
  CHECK_EQ(static_cast<size_t>(flat.size()), values.size());
  std::copy(values.begin(), values.end(), flat.data());
}
template <class T, class Source>
void FillValues(Tensor* tensor, std::initializer_list<Source> values) {
  auto flat = tensor->flat<T>();
  CHECK_EQ(static_cast<size_t>(flat.size()), values.size());
  T* to = flat.data();
  for (const Source& value : values) *to++ = T(value);
}
// first, first + 1, ...
template <class T>
void FillIota(Tensor* tensor, const T& first) {
  auto flat = tensor->flat<T>();
  std::iota(flat.data(), flat.data() + flat.size(), first);
}
template <class T>
void FillFn(Tensor* tensor, std::function<T(int)> value) {
  auto flat = tensor->flat<T>();
  for (int64 i = 0; i < static_cast<int64>(flat.size()); ++i) flat.data()[i] = value(static_cast<int>(i));
}

enum class Tolerance { kNone, kDefault };

inline ::testing::AssertionResult IsSameType(const Tensor& x, const Tensor& y) {
  if (x.dtype() == y.dtype()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "Tensors have different dtypes (" << DataTypeString(x.dtype()) << " vs " << DataTypeString(y.dtype())
                                       << ")";
}
inline ::testing::AssertionResult IsSameShape(const Tensor& x, const Tensor& y) {
  if (x.shape() == y.shape()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "Tensors have different shapes (" << x.shape().DebugString() << " vs " << y.shape().DebugString() << ")";
}

namespace internal_test {

// Numbers of 16 bits, as far apart as the integers that order them alike.
template <class T>
int OrderOfBits(T value) {
  static_assert(sizeof(T) == sizeof(uint16));
  uint16 bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof bits);
  return bits & 0x8000 ? 0x8000 - (bits & 0x7fff) : 0x8000 + bits;
}
template <class T>
struct IsSmall : std::bool_constant<std::is_same_v<T, Eigen::half> || std::is_same_v<T, bfloat16>> {};
template <class T>
constexpr double Epsilon() {
  if constexpr (std::is_same_v<T, Eigen::half>) return 0x1p-13;  // Eigen's
  else if constexpr (std::is_same_v<T, bfloat16>) return 0x1p-7;
  else return static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
bool Same(const T& x, const T& y, Tolerance tolerance) {
  if constexpr (std::is_floating_point_v<T>) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return true;
    return tolerance == Tolerance::kDefault && ::testing::internal::FloatingPoint<T>(x).AlmostEquals(::testing::internal::FloatingPoint<T>(y));
  } else if constexpr (IsSmall<T>::value) {
    const float a = static_cast<float>(x), b = static_cast<float>(y);
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    return tolerance == Tolerance::kDefault && !std::isnan(a) && !std::isnan(b) && std::abs(OrderOfBits(x) - OrderOfBits(y)) <= 4;
  } else {
    return x == y;
  }
}
template <class T>
bool Same(const std::complex<T>& x, const std::complex<T>& y, Tolerance tolerance) {
  return Same(x.real(), y.real(), tolerance) && Same(x.imag(), y.imag(), tolerance);
}
// What numbers of the type are told apart by where the caller names no tolerance.
template <class T>
double Allowed(double given) {
  return given < 0 ? 5 * Epsilon<T>() : given;
}
template <class T>
::testing::AssertionResult IsClose(T x, T y, double atol = -1, double rtol = -1) {
  const double a = static_cast<double>(x), b = static_cast<double>(y);
  if (a == b || (std::isnan(a) && std::isnan(b))) return ::testing::AssertionSuccess();
  if (std::fabs(a - b) <= Allowed<T>(atol) + Allowed<T>(rtol) * std::fabs(a)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << a << " not close to " << b;
}
template <class T>
::testing::AssertionResult IsClose(const std::complex<T>& x, const std::complex<T>& y, double atol = -1, double rtol = -1) {
  if (IsClose(x.real(), y.real(), atol, rtol) && IsClose(x.imag(), y.imag(), atol, rtol)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << x << " not close to " << y;
}

// Says for each element that does not fit what it is, ten at most.
template <class T, class Fits>
void ExpectElements(const Tensor& x, const Tensor& y, Fits fits, int* failed = nullptr) {
  const T* const a = x.unaligned_flat<T>().data();
  const T* const b = y.unaligned_flat<T>().data();
  int failures = 0;
  for (int64 i = 0; i < x.NumElements(); ++i) {
    const ::testing::AssertionResult result = fits(a[i], b[i]);
    if (result) continue;
    ADD_FAILURE() << result.message() << " at i = " << i;
    if (failed) ++*failed;
    ASSERT_LT(++failures, 10) << "Too many mismatches, giving up.";
  }
}
template <class T>
void ExpectSame(const Tensor& x, const Tensor& y, Tolerance tolerance) {
  ExpectElements<T>(x, y, [&](const T& a, const T& b) {
    if (Same(a, b, tolerance)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << ::testing::PrintToString(a) << " not equal to " << ::testing::PrintToString(b);
  });
}
template <class T>
void ExpectNear(const Tensor& x, const Tensor& y, double atol, double rtol) {
  int failed = 0;
  ExpectElements<T>(x, y, [&](const T& a, const T& b) { return IsClose(a, b, atol, rtol); }, &failed);
  EXPECT_EQ(failed, 0) << "Mismatches detected (atol = " << atol << " rtol = " << rtol << ").";
}

}  // namespace internal_test

// Of the same type and shape, and with the same elements: numbers with a fraction within four units in the last place.
inline void ExpectEqual(const Tensor& x, const Tensor& y, Tolerance tolerance = Tolerance::kDefault) {
  ASSERT_TRUE(IsSameType(x, y));
  ASSERT_TRUE(IsSameShape(x, y));
#define WEFT_EXPECT_SAME(ENUM, ...) \
  case ENUM: return internal_test::ExpectSame<__VA_ARGS__>(x, y, tolerance)
  switch (x.dtype()) {
    WEFT_EXPECT_SAME(DT_FLOAT, float);
    WEFT_EXPECT_SAME(DT_DOUBLE, double);
    WEFT_EXPECT_SAME(DT_INT32, int32);
    WEFT_EXPECT_SAME(DT_UINT32, uint32);
    WEFT_EXPECT_SAME(DT_UINT16, uint16);
    WEFT_EXPECT_SAME(DT_UINT8, uint8);
    WEFT_EXPECT_SAME(DT_INT16, int16);
    WEFT_EXPECT_SAME(DT_INT8, int8);
    WEFT_EXPECT_SAME(DT_STRING, tstring);
    WEFT_EXPECT_SAME(DT_COMPLEX64, complex64);
    WEFT_EXPECT_SAME(DT_COMPLEX128, complex128);
    WEFT_EXPECT_SAME(DT_INT64, int64);
    WEFT_EXPECT_SAME(DT_UINT64, uint64);
    WEFT_EXPECT_SAME(DT_BOOL, bool);
    WEFT_EXPECT_SAME(DT_QINT8, qint8);
    WEFT_EXPECT_SAME(DT_QUINT8, quint8);
    WEFT_EXPECT_SAME(DT_QINT16, qint16);
    WEFT_EXPECT_SAME(DT_QUINT16, quint16);
    WEFT_EXPECT_SAME(DT_QINT32, qint32);
    WEFT_EXPECT_SAME(DT_BFLOAT16, bfloat16);
    WEFT_EXPECT_SAME(DT_HALF, Eigen::half);
    default: ADD_FAILURE() << "Unsupported type : " << DataTypeString(x.dtype());
  }
#undef WEFT_EXPECT_SAME
}
// |x - y| <= atol + rtol * |x| for each element; below 0 they are 5 times the type's epsilon.
inline void ExpectClose(const Tensor& x, const Tensor& y, double atol = -1, double rtol = -1) {
  ASSERT_TRUE(IsSameType(x, y));
  ASSERT_TRUE(IsSameShape(x, y));
  switch (x.dtype()) {
    case DT_HALF: return internal_test::ExpectNear<Eigen::half>(x, y, atol, rtol);
    case DT_BFLOAT16: return internal_test::ExpectNear<bfloat16>(x, y, atol, rtol);
    case DT_FLOAT: return internal_test::ExpectNear<float>(x, y, atol, rtol);
    case DT_DOUBLE: return internal_test::ExpectNear<double>(x, y, atol, rtol);
    case DT_COMPLEX64: return internal_test::ExpectNear<complex64>(x, y, atol, rtol);
    case DT_COMPLEX128: return internal_test::ExpectNear<complex128>(x, y, atol, rtol);
    default: ADD_FAILURE() << "Unsupported type : " << DataTypeString(x.dtype());
  }
}
template <class T>
void ExpectTensorEqual(const Tensor& x, const Tensor& y) {
  EXPECT_EQ(x.dtype(), DataTypeToEnum<T>::value);
  ExpectEqual(x, y);
}
template <class T>
void ExpectTensorEqual(const Tensor& x, const Tensor& y, std::function<bool(const T&, const T&)> is_equal) {
  EXPECT_EQ(x.dtype(), DataTypeToEnum<T>::value);
  ASSERT_TRUE(IsSameType(x, y));
  ASSERT_TRUE(IsSameShape(x, y));
  internal_test::ExpectElements<T>(x, y, [&](const T& a, const T& b) {
    return is_equal(a, b) ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "the elements differ";
  });
}
template <class T>
void ExpectTensorNear(const Tensor& x, const Tensor& y, double atol) {
  EXPECT_EQ(x.dtype(), DataTypeToEnum<T>::value);
  ExpectClose(x, y, atol, 0.0);
}

}  // namespace test
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_TESTUTIL_H_

// Conversions worth a vector loop. A float that does not fit an integer type gives what x86's scalar
// instructions give; the range is tested first, since C++ leaves the plain cast undefined.
#include "kernels/cpu/cast_simd.h"

#include "kernels/cpu/isa_begin.h"
namespace {

using core::DType;

template <class A, class B>
B convert(A x) {
  if constexpr (std::is_same_v<B, bool>) {
    return x != A(0);
  } else if constexpr (std::is_floating_point_v<A> && std::is_same_v<B, int32_t>) {
    return x >= A(-2147483648.0) && x < A(2147483648.0) ? int32_t(x) : INT32_MIN;
  } else if constexpr (std::is_floating_point_v<A> && std::is_same_v<B, int64_t>) {
    return x >= A(-9223372036854775808.0) && x < A(9223372036854775808.0) ? int64_t(x) : INT64_MIN;
  } else if constexpr (std::is_floating_point_v<A> && std::is_same_v<B, uint64_t>) {
    // Values from 2^63 up are converted less 2^63, the others as signed numbers.
    const bool high = x >= A(9223372036854775808.0);
    return uint64_t(convert<A, int64_t>(high ? x - A(9223372036854775808.0) : x)) | (high ? uint64_t(1) << 63 : 0);
  } else if constexpr (std::is_floating_point_v<A> && std::is_same_v<B, uint32_t>) {
    return uint32_t(convert<A, int64_t>(x));
  } else if constexpr (std::is_floating_point_v<A> && std::is_integral_v<B>) {
    return B(convert<A, int32_t>(x));
  } else {
    return B(x);
  }
}

template <class A, class B>
void loop(const void* vin, void* vout, int64_t n) {
  const A* __restrict in = static_cast<const A*>(vin);
  B* __restrict out = static_cast<B*>(vout);
  for (int64_t i = 0; i < n; ++i) out[i] = convert<A, B>(in[i]);
}

template <class A>
CastLoop from_float(DType to) {
  switch (to) {
    case DType::kFloat: return &loop<A, float>;
    case DType::kDouble: return &loop<A, double>;
    case DType::kBool: return &loop<A, bool>;
    case DType::kInt8: return &loop<A, int8_t>;
    case DType::kUint8: return &loop<A, uint8_t>;
    case DType::kInt16: return &loop<A, int16_t>;
    case DType::kUint16: return &loop<A, uint16_t>;
    case DType::kInt32: return &loop<A, int32_t>;
    case DType::kUint32: return &loop<A, uint32_t>;
    case DType::kInt64: return &loop<A, int64_t>;
    case DType::kUint64: return &loop<A, uint64_t>;
    default: return nullptr;
  }
}

template <class A>
CastLoop from_integer(DType to) {
  switch (to) {
    case DType::kFloat: return &loop<A, float>;
    case DType::kDouble: return &loop<A, double>;
    case DType::kInt32: return &loop<A, int32_t>;
    case DType::kInt64: return &loop<A, int64_t>;
    default: return nullptr;
  }
}

}  // namespace

CastLoop cast_loop(DType from, DType to) {
  switch (from) {
    case DType::kFloat: return from_float<float>(to);
    case DType::kDouble: return from_float<double>(to);
    case DType::kBool: return from_integer<uint8_t>(to);
    case DType::kInt8: return from_integer<int8_t>(to);
    case DType::kUint8: return from_integer<uint8_t>(to);
    case DType::kInt16: return from_integer<int16_t>(to);
    case DType::kUint16: return from_integer<uint16_t>(to);
    case DType::kInt32: return from_integer<int32_t>(to);
    case DType::kUint32: return from_integer<uint32_t>(to);
    case DType::kInt64: return from_integer<int64_t>(to);
    case DType::kUint64: return from_integer<uint64_t>(to);
    default: return nullptr;
  }
}

#include "kernels/cpu/isa_end.h"

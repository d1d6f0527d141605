// Plain loops that the compiler turns into vector code. `ivdep` instead of __restrict, since a loop may
// work in place.
#include <cmath>
#include <type_traits>

#include "kernels/cpu/elementwise_simd.h"

#include "kernels/cpu/isa_begin.h"
namespace {

using core::DType;

#if defined(__clang__)
#define WEFT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_IVDEP _Pragma("GCC ivdep")
#endif

template <class T, class R, class Op>
bool loop(const void* va, const void* vb, void* vo, int64_t n, int stride_a, int stride_b) {
  const T* a = static_cast<const T*>(va);
  const T* b = static_cast<const T*>(vb);
  R* o = static_cast<R*>(vo);
  const Op op;
  if (stride_a & stride_b) {
    WEFT_IVDEP
    for (int64_t i = 0; i < n; ++i) o[i] = op(a[i], b[i]);
  } else if (stride_b) {
    const T x = *a;
    WEFT_IVDEP
    for (int64_t i = 0; i < n; ++i) o[i] = op(x, b[i]);
  } else {
    const T y = *b;
    WEFT_IVDEP
    for (int64_t i = 0; i < n; ++i) o[i] = op(a[i], y);
  }
  return true;
}

// A matrix against a row, a column or a matrix of other stride; one inner stride may be 0.
template <class T, class Op>
void rows_loop(const void* va, const void* vb, void* vo, const BinaryRows& g) {
  const T* a = static_cast<const T*>(va);
  const T* b = static_cast<const T*>(vb);
  T* o = static_cast<T*>(vo);
  const Op op;
  const int64_t n = g.n;
  for (int64_t r = 0; r < g.rows; ++r, a += g.row_stride[0], b += g.row_stride[1], o += n) {
    if (g.inner_stride[0] && g.inner_stride[1]) {
      WEFT_IVDEP
      for (int64_t i = 0; i < n; ++i) o[i] = op(a[i], b[i]);
    } else if (g.inner_stride[1]) {
      const T x = *a;
      WEFT_IVDEP
      for (int64_t i = 0; i < n; ++i) o[i] = op(x, b[i]);
    } else {
      const T y = *b;
      WEFT_IVDEP
      for (int64_t i = 0; i < n; ++i) o[i] = op(a[i], y);
    }
  }
}

#define WEFT_OP(Name, expr)           \
  struct Name {                       \
    template <class T>                \
    auto operator()(T a, T b) const { \
      return expr;                    \
    }                                 \
  };
WEFT_OP(Add, T(a + b))
WEFT_OP(Sub, T(a - b))
WEFT_OP(Mul, T(a* b))
// A NaN on either side is the result.
WEFT_OP(Maximum, (a > b || a != a) ? a : b)
WEFT_OP(Minimum, (a < b || a != a) ? a : b)
WEFT_OP(SquaredDifference, T((a - b) * (a - b)))
WEFT_OP(FloorDiv, std::floor(a / b))
WEFT_OP(TruncateDiv, std::trunc(a / b))
WEFT_OP(SeluGrad, b < 0 ? a * (b + T(1.7580993408473768599402175208123)) : a * T(1.0507009873554804934193349852946))
WEFT_OP(Equal, uint8_t(a == b))
WEFT_OP(NotEqual, uint8_t(a != b))
WEFT_OP(Less, uint8_t(a < b))
WEFT_OP(LessEqual, uint8_t(a <= b))
WEFT_OP(Greater, uint8_t(a > b))
WEFT_OP(GreaterEqual, uint8_t(a >= b))
WEFT_OP(And, T(a& b))
WEFT_OP(Or, T(a | b))
WEFT_OP(Xor, T(a ^ b))
#define WEFT_BINARY_FORMULA WEFT_OP
#include "kernels/cpu/scalar_functions.inc"
#undef WEFT_OP

struct LeftShift {
  template <class T>
  T operator()(T a, T b) const {
    constexpr T kTop = sizeof(T) * 8 - 1;
    return T(std::make_unsigned_t<T>(a) << (b < 0 ? 0 : b > kTop ? kTop : b));
  }
};
struct RightShift {
  template <class T>
  T operator()(T a, T b) const {
    constexpr T kTop = sizeof(T) * 8 - 1;
    return T(a >> (b < 0 ? 0 : b > kTop ? kTop : b));
  }
};

// Quotients of int32 in double, which separates any two of them. A divisor of 0 is an error; the lowest number divided by -1 wraps around to itself.
template <bool kFloor>
double quotient(int32_t a, int32_t b) {
  const double q = double(a) / double(b), cut = kFloor ? std::floor(q) : q;
  return cut == 2147483648.0 ? -2147483648.0 : cut;
}
template <bool kFloor, bool kRest, int kStrideA, int kStrideB>
bool divide_loop(const int32_t* a, const int32_t* b, int32_t* o, int64_t n) {
  uint32_t zeros = 0;
  WEFT_IVDEP
  for (int64_t i = 0; i < n; ++i) {
    const int32_t x = a[i * kStrideA], y = b[i * kStrideB], by = y == 0 ? 1 : y;
    const uint32_t q = uint32_t(int32_t(quotient<kFloor>(x, by)));
    o[i] = kRest ? int32_t(uint32_t(x) - q * uint32_t(by)) : int32_t(q);
    zeros |= uint32_t(y == 0);
  }
  return zeros == 0;
}
template <bool kFloor, bool kRest>
bool divide_int32(const void* va, const void* vb, void* vo, int64_t n, int stride_a, int stride_b) {
  const int32_t* a = static_cast<const int32_t*>(va);
  const int32_t* b = static_cast<const int32_t*>(vb);
  int32_t* o = static_cast<int32_t*>(vo);
  if (stride_a & stride_b) return divide_loop<kFloor, kRest, 1, 1>(a, b, o, n);
  return stride_b ? divide_loop<kFloor, kRest, 0, 1>(a, b, o, n) : divide_loop<kFloor, kRest, 1, 0>(a, b, o, n);
}

template <class Op>
BinaryLoop of_floats(DType t) {
  if (t == DType::kFloat) return &loop<float, float, Op>;
  if (t == DType::kDouble) return &loop<double, double, Op>;
  return nullptr;
}

// Integers of both signs share a loop where the bits of the result are the same.
template <class Op>
BinaryLoop of_wrapping(DType t) {
  if (t == DType::kInt32 || t == DType::kUint32) return &loop<uint32_t, uint32_t, Op>;
  if (t == DType::kInt64 || t == DType::kUint64) return &loop<uint64_t, uint64_t, Op>;
  return of_floats<Op>(t);
}

template <class Op>
BinaryLoop of_bits(DType t) {
  if (t == DType::kInt32 || t == DType::kUint32) return &loop<uint32_t, uint32_t, Op>;
  if (t == DType::kInt64 || t == DType::kUint64) return &loop<uint64_t, uint64_t, Op>;
  return nullptr;
}

template <class Op>
BinaryLoop of_shifts(DType t) {
  if (t == DType::kInt32) return &loop<int32_t, int32_t, Op>;
  if (t == DType::kInt64) return &loop<int64_t, int64_t, Op>;
  return nullptr;
}

template <class Op>
BinaryLoop of_ordered(DType t) {
  if (t == DType::kInt32) return &loop<int32_t, int32_t, Op>;
  if (t == DType::kInt64) return &loop<int64_t, int64_t, Op>;
  return of_floats<Op>(t);
}

template <class Op>
BinaryLoop of_compared(DType t) {
  if (t == DType::kFloat) return &loop<float, uint8_t, Op>;
  if (t == DType::kDouble) return &loop<double, uint8_t, Op>;
  if (t == DType::kInt32) return &loop<int32_t, uint8_t, Op>;
  if (t == DType::kInt64) return &loop<int64_t, uint8_t, Op>;
  return nullptr;
}

}  // namespace

BinaryLoop binary_loop(Binary op, DType t) {
  if (t == DType::kInt32) {
    switch (op) {
      case Binary::kFloorDiv: return &divide_int32<true, false>;
      case Binary::kFloorMod: return &divide_int32<true, true>;
      case Binary::kDiv:
      case Binary::kTruncateDiv: return &divide_int32<false, false>;
      case Binary::kTruncateMod: return &divide_int32<false, true>;
      default: break;
    }
  }
  switch (op) {
#define WEFT_BINARY_FORMULA(Name, ...) \
  case Binary::k##Name: return of_floats<Name>(t);
#include "kernels/cpu/scalar_functions.inc"
    case Binary::kAdd: return of_wrapping<Add>(t);
    case Binary::kSub: return of_wrapping<Sub>(t);
    case Binary::kMul: return of_wrapping<Mul>(t);
    case Binary::kMaximum: return of_ordered<Maximum>(t);
    case Binary::kMinimum: return of_ordered<Minimum>(t);
    case Binary::kSquaredDifference: return of_wrapping<SquaredDifference>(t);
    case Binary::kFloorDiv: return of_floats<FloorDiv>(t);
    case Binary::kTruncateDiv: return of_floats<TruncateDiv>(t);
    case Binary::kSeluGrad: return of_floats<SeluGrad>(t);
    case Binary::kBitwiseAnd: return of_bits<And>(t);
    case Binary::kBitwiseOr: return of_bits<Or>(t);
    case Binary::kBitwiseXor: return of_bits<Xor>(t);
    case Binary::kLeftShift: return of_shifts<LeftShift>(t);
    case Binary::kRightShift: return of_shifts<RightShift>(t);
    case Binary::kEqual: return of_compared<Equal>(t);
    case Binary::kNotEqual: return of_compared<NotEqual>(t);
    case Binary::kLess: return of_compared<Less>(t);
    case Binary::kLessEqual: return of_compared<LessEqual>(t);
    case Binary::kGreater: return of_compared<Greater>(t);
    case Binary::kGreaterEqual: return of_compared<GreaterEqual>(t);
    case Binary::kLogicalAnd: return &loop<uint8_t, uint8_t, And>;
    case Binary::kLogicalOr: return &loop<uint8_t, uint8_t, Or>;
    default: return nullptr;
  }
}

namespace {

// K arrays in one pass; the first may be the output itself.
template <int K>
void add_some(const float* const* in, float* out, int64_t begin, int64_t end) {
  const float* p[K];
  for (int k = 0; k < K; ++k) p[k] = in[k];
  WEFT_IVDEP
  for (int64_t i = begin; i < end; ++i) {
    float sum = p[0][i];
#pragma GCC unroll 8
    for (int k = 1; k < K; ++k) sum += p[k][i];
    out[i] = sum;
  }
}

}  // namespace

void add_floats(const float* const* in, int64_t count, float* out, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 2048;
  constexpr decltype(&add_some<2>) kSome[] = {&add_some<2>, &add_some<3>, &add_some<4>, &add_some<5>};
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t stop = i + kBlock < end ? i + kBlock : end;
    int64_t done = count < 5 ? count : 5;
    kSome[done - 2](in, out, i, stop);
    while (done < count) {  // the sum so far, and four more
      const int64_t more = count - done < 4 ? count - done : 4;
      const float* next[5] = {out};
      for (int64_t k = 0; k < more; ++k) next[k + 1] = in[done + k];
      kSome[more - 1](next, out, i, stop);
      done += more;
    }
  }
}

BinaryRowsLoop binary_rows_loop(Binary op, DType t) {
  if (t != DType::kFloat) return nullptr;
  switch (op) {
    case Binary::kAdd: return &rows_loop<float, Add>;
    case Binary::kSub: return &rows_loop<float, Sub>;
    case Binary::kMul: return &rows_loop<float, Mul>;
    case Binary::kDiv: return &rows_loop<float, Div>;
    case Binary::kMaximum: return &rows_loop<float, Maximum>;
    case Binary::kMinimum: return &rows_loop<float, Minimum>;
    case Binary::kSquaredDifference: return &rows_loop<float, SquaredDifference>;
    default: return nullptr;
  }
}

void clip_floats(const float* x, float* y, int64_t n, float low, float high) {
  WEFT_IVDEP
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i], upper = high < v ? high : v;
    y[i] = upper < low ? low : upper;
  }
}

void leaky_relu_floats(const float* g, const float* x, float* y, int64_t n, float alpha) {
  WEFT_IVDEP
  for (int64_t i = 0; i < n; ++i) {
    const float v = g[i];
    y[i] = x[i] > 0 ? v : alpha * v;
  }
}

#include "kernels/cpu/isa_end.h"

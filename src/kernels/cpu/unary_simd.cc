#include "kernels/cpu/intrinsics.h"

#include <cmath>

#include "kernels/cpu/elementwise_simd.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/vector_inverse.h"
#include "kernels/cpu/vector_double.h"
namespace {

using core::DType;

#if defined(__clang__)
#define WEFT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_IVDEP _Pragma("GCC ivdep")
#endif

template <class T, class R, class Op>
void loop(const void* vin, void* vout, int64_t n) {
  const T* in = static_cast<const T*>(vin);
  R* out = static_cast<R*>(vout);
  const Op op;
  WEFT_IVDEP
  for (int64_t i = 0; i < n; ++i) out[i] = op(in[i]);
}

#define WEFT_OP(Name, expr)      \
  struct Name {                  \
    template <class T>           \
    auto operator()(T x) const { \
      return expr;               \
    }                            \
  };
WEFT_OP(Neg, T(-x))
WEFT_OP(Abs, std::fabs(x))
WEFT_OP(AbsInt, T(x >> (sizeof(T) * 8 - 1) ? -x : x))  // of the unsigned type: the lowest value wraps
WEFT_OP(Square, T(x* x))
WEFT_OP(Rsqrt, T(1) / std::sqrt(x))
WEFT_OP(IsNan, uint8_t(x != x))
WEFT_OP(IsInf, uint8_t(std::fabs(x) == T(__builtin_inf())))
WEFT_OP(IsFinite, uint8_t(std::fabs(x) < T(__builtin_inf())))
WEFT_OP(Not, uint8_t(x ^ 1))
WEFT_OP(Invert, T(~x))
WEFT_OP(SignInt, T((x > 0) - (x < 0)))
#define WEFT_UNARY_FORMULA WEFT_OP
#include "kernels/cpu/scalar_functions.inc"
#undef WEFT_OP

// Bits in pairs, in fours, in bytes; the product adds the bytes.
struct CountBits {
  uint8_t operator()(uint32_t x) const {
    x = x - ((x >> 1) & 0x55555555u);
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return uint8_t((((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24);
  }
};

// One of the two parts of complex numbers.
template <class T, int kPart>
void part_loop(const void* vin, void* vout, int64_t n) {
  const T* in = static_cast<const T*>(vin) + kPart;
  T* out = static_cast<T*>(vout);
  WEFT_IVDEP
  for (int64_t i = 0; i < n; ++i) out[i] = in[2 * i];
}
template <int kPart>
UnaryLoop part_of(DType t) {
  if (t == DType::kComplex64) return &part_loop<float, kPart>;
  if (t == DType::kComplex128) return &part_loop<double, kPart>;
  return nullptr;
}

// exp(x) - 1, as TensorFlow has it, and not expm1.
inline Floats velu(Floats x) { return x < 0.f ? vexp(x) - 1.f : x; }
inline Floats vselu(Floats x) { return x < 0.f ? 1.75809934f * (vexp(x) - 1.f) : 1.05070099f * x; }

float exact_sin(float x) { return std::sin(x); }
float exact_cos(float x) { return std::cos(x); }
float exact_tan(float x) { return std::tan(x); }
inline Floats wide_tan(Floats x) { return within_trig_limit<vtan, exact_tan>(x); }
inline Floats wide_sin(Floats x) { return within_trig_limit<vsin, exact_sin>(x); }
inline Floats wide_cos(Floats x) { return within_trig_limit<vcos, exact_cos>(x); }

// f of one number needs no way through memory: numbers in a chain wait for each other.
template <Floats (*f)(Floats)>
void each_float(const void* in, void* out, int64_t n) {
  if (n != 1) return map_floats<f>(in, out, n);
  *static_cast<float*>(out) = f(all(*static_cast<const float*>(in)))[0];
}

template <class Op>
UnaryLoop of_floats(DType t) {
  if (t == DType::kFloat) return &loop<float, float, Op>;
  if (t == DType::kDouble) return &loop<double, double, Op>;
  return nullptr;
}
template <class Op>
UnaryLoop of_wrapping(DType t) {
  if (t == DType::kInt32 || t == DType::kUint32) return &loop<uint32_t, uint32_t, Op>;
  if (t == DType::kInt64 || t == DType::kUint64) return &loop<uint64_t, uint64_t, Op>;
  return of_floats<Op>(t);
}
template <class Op>
UnaryLoop to_bool(DType t) {
  if (t == DType::kFloat) return &loop<float, uint8_t, Op>;
  if (t == DType::kDouble) return &loop<double, uint8_t, Op>;
  return nullptr;
}
UnaryLoop if_float(DType t, UnaryLoop f) { return t == DType::kFloat ? f : nullptr; }

}  // namespace

UnaryLoop unary_loop(Unary op, DType t) {
  const bool int32 = t == DType::kInt32, int64 = t == DType::kInt64;
  if (op == Unary::kSign && int32) return &loop<int32_t, int32_t, SignInt>;
  if (op == Unary::kSign && int64) return &loop<int64_t, int64_t, SignInt>;
  switch (op) {
#define WEFT_UNARY_FORMULA(Name, ...) \
  case Unary::k##Name: return of_floats<Name>(t);
#include "kernels/cpu/scalar_functions.inc"
    case Unary::kInvert:
      return int32 || t == DType::kUint32   ? &loop<uint32_t, uint32_t, Invert>
             : int64 || t == DType::kUint64 ? &loop<uint64_t, uint64_t, Invert>
                                            : nullptr;
    case Unary::kPopulationCount: return int32 || t == DType::kUint32 ? &loop<uint32_t, uint8_t, CountBits> : nullptr;
    case Unary::kReal: return part_of<0>(t);
    case Unary::kImag: return part_of<1>(t);
    case Unary::kNeg: return of_wrapping<Neg>(t);
    case Unary::kAbs:
      if (t == DType::kInt32) return &loop<uint32_t, uint32_t, AbsInt>;
      if (t == DType::kInt64) return &loop<uint64_t, uint64_t, AbsInt>;
      return of_floats<Abs>(t);
    case Unary::kSquare: return of_wrapping<Square>(t);
    case Unary::kRsqrt: return t == DType::kFloat ? &each_float<vrsqrt> : of_floats<Rsqrt>(t);
    case Unary::kIsNan: return to_bool<IsNan>(t);
    case Unary::kIsInf: return to_bool<IsInf>(t);
    case Unary::kIsFinite: return to_bool<IsFinite>(t);
    case Unary::kLogicalNot: return &loop<uint8_t, uint8_t, Not>;
    case Unary::kExp: return if_float(t, &each_float<vexp>);
    case Unary::kExpm1: return if_float(t, &each_float<vexpm1>);
    case Unary::kLog: return t == DType::kDouble ? &map_doubles<vlog> : if_float(t, &each_float<vlog>);
    case Unary::kLog1p: return if_float(t, &each_float<vlog1p>);
    case Unary::kTanh: return t == DType::kDouble ? &map_doubles<vtanh> : if_float(t, &each_float<vtanh>);
    case Unary::kSigmoid: return if_float(t, &each_float<vsigmoid>);
    case Unary::kErf: return if_float(t, &each_float<verf>);
    case Unary::kErfc: return if_float(t, &each_float<verfc>);
    case Unary::kSin: return if_float(t, &each_float<wide_sin>);
    case Unary::kCos: return if_float(t, &each_float<wide_cos>);
    case Unary::kTan: return if_float(t, &each_float<wide_tan>);
    case Unary::kAsin: return if_float(t, &each_float<vasin>);
    case Unary::kAcos: return if_float(t, &each_float<vacos>);
    case Unary::kAtan: return if_float(t, &each_float<vatan>);
    case Unary::kSinh: return if_float(t, &each_float<vsinh>);
    case Unary::kCosh: return if_float(t, &each_float<vcosh>);
    case Unary::kAtanh: return if_float(t, &each_float<vatanh>);
    case Unary::kErfinv: return if_float(t, &each_float<verfinv>);
    case Unary::kNdtri: return if_float(t, &each_float<vndtri>);
    case Unary::kElu: return if_float(t, &each_float<velu>);
    case Unary::kSelu: return if_float(t, &each_float<vselu>);
    case Unary::kSoftplus: return if_float(t, &each_float<vsoftplus>);
    default: return nullptr;
  }
}

#include "kernels/cpu/isa_end.h"

// Floating-point operations that are not worth a vector loop, and all of the complex ones.
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/cpu/binary_loops.h"
#include "kernels/cpu/complex_math.h"

namespace weft_engine::kernels {
namespace {

using core::DType;

#define WEFT_OP(Name, expr)        \
  struct Name {                    \
    template <class T>             \
    T operator()(T a, T b) const { \
      return expr;                 \
    }                              \
  };
WEFT_OP(Pow, std::pow(a, b))
#define WEFT_BINARY_PLAIN WEFT_OP
#include "kernels/cpu/scalar_functions.inc"
#undef WEFT_OP

// The quotient is rounded to the type before it is rounded to an integer, so half and bfloat16 cannot
// be computed as float.
struct FloorDiv {
  template <class T>
  T operator()(T a, T b) const {
    return T(std::floor(core::Wide<T>(a / b)));
  }
};
struct TruncateDiv {
  template <class T>
  T operator()(T a, T b) const {
    return T(std::trunc(core::Wide<T>(a / b)));
  }
};
struct TruncateMod {
  template <class T>
  T operator()(T a, T b) const {
    return T(std::fmod(core::Wide<T>(a), core::Wide<T>(b)));
  }
};
struct FloorMod {
  template <class T>
  T operator()(T a, T b) const {
    const core::Wide<T> m = std::fmod(core::Wide<T>(a), core::Wide<T>(b)), y = b;
    return T(m != 0 && (m < 0) != (y < 0) ? m + y : m);
  }
};

// x^2, x^3 and 1/x are what most calls ask for, and need no logarithm.
template <class T>
bool pow_loop(const void* va, const void* vb, void* vo, int64_t n, int stride_a, int stride_b) {
  const T* a = static_cast<const T*>(va);
  T* o = static_cast<T*>(vo);
  const T y = *static_cast<const T*>(vb);
  if (stride_b || !stride_a || !(y == 2 || y == 3 || y == -1)) return strided_loop<T, T, Pow>(va, vb, vo, n, stride_a, stride_b);
  if (y == 2) {
    for (int64_t i = 0; i < n; ++i) o[i] = a[i] * a[i];
  } else if (y == 3) {
    for (int64_t i = 0; i < n; ++i) o[i] = a[i] * a[i] * a[i];
  } else {
    for (int64_t i = 0; i < n; ++i) o[i] = 1 / a[i];
  }
  return true;
}

template <class Op>
BinaryLoop of_wide(DType t) {
  if (t == DType::kFloat) return &strided_loop<float, float, Op>;
  if (t == DType::kDouble) return &strided_loop<double, double, Op>;
  return nullptr;
}
template <class Op>
BinaryLoop of_narrow(DType t) {
  if (t == DType::kHalf) return &strided_loop<core::half, core::half, Op>;
  if (t == DType::kBfloat16) return &strided_loop<core::bfloat16, core::bfloat16, Op>;
  return nullptr;
}
template <class Op>
BinaryLoop of_all(DType t) {
  const BinaryLoop f = of_narrow<Op>(t);
  return f ? f : of_wide<Op>(t);
}

struct MakeComplex {
  template <class T>
  std::complex<T> operator()(T a, T b) const {
    return {a, b};
  }
};

#define WEFT_OP(Name, expr)                                                  \
  struct Name {                                                              \
    template <class T>                                                       \
    std::complex<T> operator()(std::complex<T> a, std::complex<T> b) const { \
      return expr;                                                           \
    }                                                                        \
  };
WEFT_OP(ComplexAdd, a + b)
WEFT_OP(ComplexSub, a - b)
WEFT_OP(ComplexMul, multiply(a, b))
WEFT_OP(ComplexDiv, divide(a, b))
WEFT_OP(ComplexDivNoNan, b == T(0) ? std::complex<T>() : divide(a, b))
WEFT_OP(ComplexMulNoNan, b == T(0) ? std::complex<T>() : multiply(a, b))
WEFT_OP(ComplexXdivy, a == T(0) ? std::complex<T>() : divide(a, b))
WEFT_OP(ComplexXlogy, a == T(0) ? std::complex<T>() : multiply(a, std::log(b)))
WEFT_OP(ComplexXlog1py, a == T(0) ? std::complex<T>() : multiply(a, complex_log1p(b)))
WEFT_OP(ComplexPow, complex_pow(a, b))
// |a - b|^2, as a complex number.
WEFT_OP(ComplexSquaredDifference, multiply(a - b, std::conj(a - b)))
WEFT_OP(ComplexReciprocalGrad, b == T(0) ? std::complex<T>() : multiply(-b, std::conj(multiply(a, a))))
WEFT_OP(ComplexSqrtGrad, b == T(0) ? std::complex<T>() : divide(b * T(0.5), std::conj(a)))
WEFT_OP(ComplexRsqrtGrad, b == T(0) ? std::complex<T>() : multiply(b * T(-0.5), std::conj(multiply(multiply(a, a), a))))
// These two are not conjugated in TensorFlow.
WEFT_OP(ComplexTanhGrad, multiply(b, T(1) - multiply(a, a)))
WEFT_OP(ComplexSigmoidGrad, multiply(multiply(b, a), T(1) - a))
#undef WEFT_OP

struct ComplexEqual {
  template <class T>
  bool operator()(std::complex<T> a, std::complex<T> b) const {
    return a == b;
  }
};
struct ComplexNotEqual {
  template <class T>
  bool operator()(std::complex<T> a, std::complex<T> b) const {
    return a != b;
  }
};

template <class Op>
BinaryLoop of_complex(DType t) {
  if (t == DType::kComplex64) return &strided_loop<core::complex64, core::complex64, Op>;
  if (t == DType::kComplex128) return &strided_loop<core::complex128, core::complex128, Op>;
  return nullptr;
}
template <class Op>
BinaryLoop of_complex_to_bool(DType t) {
  if (t == DType::kComplex64) return &strided_loop<core::complex64, bool, Op>;
  if (t == DType::kComplex128) return &strided_loop<core::complex128, bool, Op>;
  return nullptr;
}

}  // namespace

BinaryLoop float_binary_loop(Binary op, DType t) {
  switch (op) {
#define WEFT_BINARY_PLAIN(Name, ...) \
  case Binary::k##Name: return of_wide<Name>(t);
#include "kernels/cpu/scalar_functions.inc"
    case Binary::kPow: return t == DType::kFloat ? &pow_loop<float> : t == DType::kDouble ? &pow_loop<double> : nullptr;
    case Binary::kFloorDiv: return of_narrow<FloorDiv>(t);
    case Binary::kFloorMod: return of_all<FloorMod>(t);
    case Binary::kTruncateDiv: return of_narrow<TruncateDiv>(t);
    case Binary::kTruncateMod: return of_all<TruncateMod>(t);
    case Binary::kComplex:
      if (t == DType::kFloat) return &strided_loop<float, core::complex64, MakeComplex>;
      if (t == DType::kDouble) return &strided_loop<double, core::complex128, MakeComplex>;
      return nullptr;
    default: return nullptr;
  }
}

BinaryLoop complex_binary_loop(Binary op, DType t) {
  switch (op) {
    case Binary::kAdd: return of_complex<ComplexAdd>(t);
    case Binary::kSub: return of_complex<ComplexSub>(t);
    case Binary::kMul: return of_complex<ComplexMul>(t);
    case Binary::kDiv: return of_complex<ComplexDiv>(t);
    case Binary::kDivNoNan: return of_complex<ComplexDivNoNan>(t);
    case Binary::kMulNoNan: return of_complex<ComplexMulNoNan>(t);
    case Binary::kXdivy: return of_complex<ComplexXdivy>(t);
    case Binary::kXlogy: return of_complex<ComplexXlogy>(t);
    case Binary::kXlog1py: return of_complex<ComplexXlog1py>(t);
    case Binary::kPow: return of_complex<ComplexPow>(t);
    case Binary::kSquaredDifference: return of_complex<ComplexSquaredDifference>(t);
    case Binary::kReciprocalGrad: return of_complex<ComplexReciprocalGrad>(t);
    case Binary::kSqrtGrad: return of_complex<ComplexSqrtGrad>(t);
    case Binary::kRsqrtGrad: return of_complex<ComplexRsqrtGrad>(t);
    case Binary::kTanhGrad: return of_complex<ComplexTanhGrad>(t);
    case Binary::kSigmoidGrad: return of_complex<ComplexSigmoidGrad>(t);
    case Binary::kEqual: return of_complex_to_bool<ComplexEqual>(t);
    case Binary::kNotEqual: return of_complex_to_bool<ComplexNotEqual>(t);
    default: return nullptr;
  }
}

}  // namespace weft_engine::kernels

// Unary operations that have no vector loop: the rest of the floats through <cmath>, integers, complex
// numbers.
#include <bit>
#include <cmath>
#include <complex>
#include <type_traits>

#include "kernels/cpu/complex_math.h"
#include "kernels/cpu/unary_loops.h"

namespace weft_engine::kernels {
namespace {

using core::DType;

#define WEFT_OP(Name, expr)      \
  struct Name {                  \
    template <class T>           \
    auto operator()(T x) const { \
      return expr;               \
    }                            \
  };
WEFT_OP(Exp, std::exp(x))
WEFT_OP(Expm1, std::expm1(x))
WEFT_OP(Log, std::log(x))
WEFT_OP(Log1p, std::log1p(x))
WEFT_OP(Sin, std::sin(x))
WEFT_OP(Cos, std::cos(x))
WEFT_OP(Tan, std::tan(x))
WEFT_OP(Asin, std::asin(x))
WEFT_OP(Acos, std::acos(x))
WEFT_OP(Atan, std::atan(x))
WEFT_OP(Sinh, std::sinh(x))
WEFT_OP(Cosh, std::cosh(x))
WEFT_OP(Tanh, std::tanh(x))
WEFT_OP(Asinh, std::asinh(x))
WEFT_OP(Acosh, std::acosh(x))
WEFT_OP(Atanh, std::atanh(x))
WEFT_OP(Sigmoid, x < 0 ? std::exp(x) / (T(1) + std::exp(x)) : T(1) / (T(1) + std::exp(-x)))
WEFT_OP(Elu, x < 0 ? std::exp(x) - T(1) : x)
WEFT_OP(Selu, x < 0 ? T(1.7580993408473768599) * (std::exp(x) - T(1)) : T(1.0507009873554804934) * x)
WEFT_OP(Softplus, x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)))

// Integers. Through the unsigned type: the lowest value has no opposite and stays as it is.
template <class T>
using Modular = std::conditional_t<(sizeof(T) < 4), unsigned, std::make_unsigned_t<T>>;
WEFT_OP(IntNeg, T(Modular<T>(0) - Modular<T>(x)))
WEFT_OP(IntAbs, x < 0 ? T(Modular<T>(0) - Modular<T>(x)) : x)
WEFT_OP(IntSign, T((x > 0) - (x < 0)))
WEFT_OP(IntSquare, T(Modular<T>(x) * Modular<T>(x)))
WEFT_OP(IntInvert, T(~x))
WEFT_OP(IntRelu, x > 0 ? x : T(0))
WEFT_OP(IntRelu6, x > 6 ? T(6) : x > 0 ? x : T(0))
// TensorFlow 2.21 rounds every integer to 0; tf.round never asks it to.
WEFT_OP(IntRound, x& T(0))
WEFT_OP(PopulationCount, uint8_t(std::popcount(x)))

// Complex numbers; T is the complex type.
WEFT_OP(ComplexNeg, -x)
WEFT_OP(ComplexSquare, multiply(x, x))
WEFT_OP(ComplexReciprocal, reciprocal(x))
WEFT_OP(ComplexRsqrt, reciprocal_sqrt(x))
WEFT_OP(ComplexSign, x == T(0) ? T(0) : x / std::abs(x))
WEFT_OP(ComplexSigmoid, divide(T(1), T(1) + std::exp(-x)))
WEFT_OP(ComplexLog1p, complex_log1p(x))
WEFT_OP(ComplexExpm1, complex_expm1(x))
WEFT_OP(Sqrt, std::sqrt(x))
WEFT_OP(Conj, std::conj(x))
WEFT_OP(Magnitude, std::abs(x))
WEFT_OP(Angle, std::arg(x))
WEFT_OP(Real, x.real())
WEFT_OP(Imag, x.imag())
#undef WEFT_OP

template <class Op>
UnaryLoop of_floats(DType t) {
  if (t == DType::kFloat) return &map_loop<float, float, Op>;
  if (t == DType::kDouble) return &map_loop<double, double, Op>;
  return nullptr;
}
template <class Op>
UnaryLoop of_complex(DType t) {
  if (t == DType::kComplex64) return &map_loop<core::complex64, core::complex64, Op>;
  if (t == DType::kComplex128) return &map_loop<core::complex128, core::complex128, Op>;
  return nullptr;
}
template <class Op>
UnaryLoop of_both(DType t) {
  if (UnaryLoop f = of_floats<Op>(t)) return f;
  return of_complex<Op>(t);
}
template <class Op>
UnaryLoop complex_to_real(DType t) {
  if (t == DType::kComplex64) return &map_loop<core::complex64, float, Op>;
  if (t == DType::kComplex128) return &map_loop<core::complex128, double, Op>;
  return nullptr;
}
template <class Op>
UnaryLoop by_size(DType t) {
  switch (core::dtype_size(t)) {
    case 1: return &map_loop<uint8_t, uint8_t, Op>;
    case 2: return &map_loop<uint16_t, uint16_t, Op>;
    case 4: return &map_loop<uint32_t, uint32_t, Op>;
    case 8: return &map_loop<uint64_t, uint64_t, Op>;
    default: return nullptr;
  }
}
template <class Op>
UnaryLoop signed_by_type(DType t) {
  switch (t) {
    case DType::kInt8: return &map_loop<int8_t, int8_t, Op>;
    case DType::kInt16: return &map_loop<int16_t, int16_t, Op>;
    case DType::kInt32: return &map_loop<int32_t, int32_t, Op>;
    case DType::kInt64: return &map_loop<int64_t, int64_t, Op>;
    default: return nullptr;
  }
}
template <class Op>
UnaryLoop by_type(DType t) {
  if (UnaryLoop f = signed_by_type<Op>(t)) return f;
  return by_size<Op>(t);
}
UnaryLoop population_count(DType t) {
  switch (core::dtype_size(t)) {
    case 1: return &map_loop<uint8_t, uint8_t, PopulationCount>;
    case 2: return &map_loop<uint16_t, uint8_t, PopulationCount>;
    case 4: return &map_loop<uint32_t, uint8_t, PopulationCount>;
    case 8: return &map_loop<uint64_t, uint8_t, PopulationCount>;
    default: return nullptr;
  }
}

UnaryLoop integer_loop(Unary op, DType t) {
  switch (op) {
    case Unary::kNeg: return by_size<IntNeg>(t);
    case Unary::kAbs: return signed_by_type<IntAbs>(t);
    case Unary::kSign: return signed_by_type<IntSign>(t);
    case Unary::kSquare: return by_size<IntSquare>(t);
    case Unary::kInvert: return by_size<IntInvert>(t);
    case Unary::kRint: return by_size<IntRound>(t);
    case Unary::kRelu: return by_type<IntRelu>(t);
    case Unary::kRelu6: return by_type<IntRelu6>(t);
    case Unary::kPopulationCount: return population_count(t);
    default: return nullptr;
  }
}

}  // namespace

UnaryLoop plain_unary_loop(Unary op, DType t) {
  if (core::is_integer_type(t)) return integer_loop(op, t);
  switch (op) {
    case Unary::kExp: return of_both<Exp>(t);
    case Unary::kLog: return of_both<Log>(t);
    case Unary::kSin: return of_both<Sin>(t);
    case Unary::kCos: return of_both<Cos>(t);
    case Unary::kTan: return of_both<Tan>(t);
    case Unary::kAsin: return of_both<Asin>(t);
    case Unary::kAcos: return of_both<Acos>(t);
    case Unary::kAtan: return of_both<Atan>(t);
    case Unary::kSinh: return of_both<Sinh>(t);
    case Unary::kCosh: return of_both<Cosh>(t);
    case Unary::kTanh: return of_both<Tanh>(t);
    case Unary::kAsinh: return of_both<Asinh>(t);
    case Unary::kAcosh: return of_both<Acosh>(t);
    case Unary::kAtanh: return of_both<Atanh>(t);
    case Unary::kExpm1: return core::is_complex_type(t) ? of_complex<ComplexExpm1>(t) : of_floats<Expm1>(t);
    case Unary::kLog1p: return core::is_complex_type(t) ? of_complex<ComplexLog1p>(t) : of_floats<Log1p>(t);
    case Unary::kSigmoid: return core::is_complex_type(t) ? of_complex<ComplexSigmoid>(t) : of_floats<Sigmoid>(t);
    case Unary::kElu: return of_floats<Elu>(t);
    case Unary::kSelu: return of_floats<Selu>(t);
    case Unary::kSoftplus: return of_floats<Softplus>(t);
    case Unary::kNeg: return of_complex<ComplexNeg>(t);
    case Unary::kSign: return of_complex<ComplexSign>(t);
    case Unary::kSquare: return of_complex<ComplexSquare>(t);
    case Unary::kSqrt: return of_complex<Sqrt>(t);
    case Unary::kRsqrt: return of_complex<ComplexRsqrt>(t);
    case Unary::kReciprocal: return of_complex<ComplexReciprocal>(t);
    case Unary::kConj: return of_complex<Conj>(t);
    case Unary::kComplexAbs: return complex_to_real<Magnitude>(t);
    case Unary::kAngle: return complex_to_real<Angle>(t);
    case Unary::kReal: return complex_to_real<Real>(t);
    case Unary::kImag: return complex_to_real<Imag>(t);
    default: return nullptr;
  }
}

}  // namespace weft_engine::kernels

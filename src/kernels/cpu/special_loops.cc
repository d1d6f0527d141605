#include <cmath>

#include "kernels/cpu/binary_loops.h"
#include "kernels/cpu/special_math.h"
#include "kernels/cpu/unary_loops.h"

namespace weft_engine::kernels {
namespace {

using core::DType;

template <double (*f)(double)>
struct Map {
  template <class T>
  T operator()(T x) const {
    return T(f(double(x)));
  }
};
template <double (*f)(double, double)>
struct Combine {
  template <class T>
  T operator()(T a, T b) const {
    return T(f(double(a), double(b)));
  }
};

// `narrow`: made for floats, where it is quicker.
template <float (*narrow)(float)>
struct MapFloat {
  float operator()(float x) const { return narrow(x); }
};
template <float (*narrow)(float, float)>
struct CombineFloats {
  float operator()(float a, float b) const { return narrow(a, b); }
};

template <double (*f)(double)>
UnaryLoop one(DType t) {
  if (t == DType::kFloat) return &map_loop<float, float, Map<f>>;
  if (t == DType::kDouble) return &map_loop<double, double, Map<f>>;
  return nullptr;
}
template <double (*f)(double), float (*narrow)(float)>
UnaryLoop one(DType t) {
  return t == DType::kFloat ? &map_loop<float, float, MapFloat<narrow>> : one<f>(t);
}
template <double (*f)(double, double)>
BinaryLoop two(DType t) {
  if (t == DType::kFloat) return &strided_loop<float, float, Combine<f>>;
  if (t == DType::kDouble) return &strided_loop<double, double, Combine<f>>;
  return nullptr;
}

template <double (*f)(double, double), float (*narrow)(float, float)>
BinaryLoop two(DType t) {
  return t == DType::kFloat ? &strided_loop<float, float, CombineFloats<narrow>> : two<f>(t);
}

// NaN where x^2 overflows: so does TensorFlow.
double erf_of(double x) { return std::isinf(x * x) ? NAN : std::erf(x); }
double erfc_of(double x) { return std::erfc(x); }
double fresnel_cos(double x) { return fresnel(x).c; }
double fresnel_sin(double x) { return fresnel(x).s; }

// NaN at 0, where the double function has -inf: so does TensorFlow.
struct FloatY1 {
  float operator()(float x) const { return x == 0 ? NAN : float(bessel_y1(double(x))); }
};

}  // namespace

BinaryLoop special_binary_loop(Binary op, DType t) {
  switch (op) {
    case Binary::kIgamma: return two<igamma, igamma>(t);
    case Binary::kIgammac: return two<igammac, igammac>(t);
    case Binary::kIgammaGradA: return two<igamma_grad_a>(t);
    case Binary::kZeta: return two<zeta>(t);
    case Binary::kPolygamma: return two<polygamma>(t);
    default: return nullptr;
  }
}

UnaryLoop special_unary_loop(Unary op, DType t) {
  switch (op) {
    case Unary::kErf: return one<erf_of>(t);
    case Unary::kErfc: return one<erfc_of>(t);
    case Unary::kErfinv: return one<erfinv>(t);
    case Unary::kNdtri: return one<ndtri>(t);
    case Unary::kLgamma: return one<lgamma>(t);
    case Unary::kDigamma: return one<digamma, digamma>(t);
    case Unary::kDawsn: return one<dawsn>(t);
    case Unary::kExpint: return one<expint>(t);
    case Unary::kFresnelCos: return one<fresnel_cos>(t);
    case Unary::kFresnelSin: return one<fresnel_sin>(t);
    case Unary::kSpence: return one<spence>(t);
    case Unary::kBesselI0: return one<bessel_i0>(t);
    case Unary::kBesselI0e: return one<bessel_i0e>(t);
    case Unary::kBesselI1: return one<bessel_i1>(t);
    case Unary::kBesselI1e: return one<bessel_i1e>(t);
    case Unary::kBesselJ0: return one<bessel_j0>(t);
    case Unary::kBesselJ1: return one<bessel_j1>(t);
    case Unary::kBesselK0: return one<bessel_k0>(t);
    case Unary::kBesselK0e: return one<bessel_k0e>(t);
    case Unary::kBesselK1: return one<bessel_k1>(t);
    case Unary::kBesselK1e: return one<bessel_k1e>(t);
    case Unary::kBesselY0: return one<bessel_y0>(t);
    case Unary::kBesselY1:
      if (t == DType::kFloat) return &map_loop<float, float, FloatY1>;
      return one<bessel_y1>(t);
    default: return nullptr;
  }
}

}  // namespace weft_engine::kernels

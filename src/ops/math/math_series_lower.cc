// Special functions of one number, computed in double: polynomials that are fitted, when a rule runs, to the kernels' own functions, each over a range
// where what is left of the function after its logarithms, roots and waves are taken out is smooth.
#include <cmath>
#include <limits>

#include "kernels/cpu/special_math.h"
#include "op/registry.h"
#include "ops/math/math_lower.h"
#include "ops/math/math_special_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using C = ir::Compare;
using U = ir::Unary;
using V = ir::Value;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

// f over [low, high] by its Chebyshev polynomial of degree n - 1, evaluated by Clenshaw's recurrence.
template <class F>
V fitted(Doubles d, V x, double low, double high, int n, F f) {
  std::vector<double> at(static_cast<size_t>(n)), c(at.size());
  for (int k = 0; k < n; ++k) at[size_t(k)] = f(0.5 * (low + high) + 0.5 * (high - low) * std::cos(kPi * (k + 0.5) / n));
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) c[size_t(j)] += at[size_t(k)] * std::cos(kPi * j * (k + 0.5) / n) * 2 / n;
  }
  ir::Builder& b = d.b;
  const V t = b.mul(b.sub(x, 0.5 * (low + high)), 2 / (high - low)), twice = b.mul(t, 2.0);
  V one = d.k(0), two = d.k(0);
  for (int j = n - 1; j > 0; --j) {
    const V next = b.add(b.sub(b.mul(twice, one), two), c[size_t(j)]);
    two = one;
    one = next;
  }
  return b.add(b.sub(b.mul(t, one), two), 0.5 * c[0]);
}

V odd(Doubles d, V x, V of_size) { return d.where(d.is(C::kLt, x, 0), d.b.neg(of_size), of_size); }
V size(Doubles d, V x) { return d.b.unary(U::kAbs, x); }
V root(Doubles d, V x) { return d.b.sqrt(x); }

// ---- modified Bessel functions

template <int order>
V scaled_i(Doubles d, V x) {
  const auto f = [](double v) { return order ? kernels::bessel_i1e(v) : kernels::bessel_i0e(v); };
  const V a = size(d, x), near = fitted(d, a, 0, 8, 34, f);
  const V far = d.b.div(fitted(d, d.over(8, a), 0, 1, 30, [&](double u) { return f(8 / u) * std::sqrt(8 / u); }), root(d, a));
  const V y = d.where(d.is(C::kLe, a, 8), near, far);
  return order ? odd(d, x, y) : y;
}

template <int order>
V bessel_i(Doubles d, V x) {
  return d.b.mul(scaled_i<order>(d, x), d.b.exp(size(d, x)));
}

// Near 0 what is left beside the logarithm is a function of x^2.
template <int order, bool scaled>
V bessel_k(Doubles d, V x) {
  ir::Builder& b = d.b;
  const V l = b.log(b.mul(x, 0.5)), i = bessel_i<order>(d, x), z = b.square(x);
  V near = nullptr;
  if (order == 0) {
    near = b.sub(fitted(d, z, 0, 4, 20,
                        [](double v) { return kernels::bessel_k0(std::sqrt(v)) + std::log(std::sqrt(v) / 2) * kernels::bessel_i0(std::sqrt(v)); }),
                 b.mul(l, i));
  } else {
    const auto rest = [](double v) {
      return std::sqrt(v) * (kernels::bessel_k1(std::sqrt(v)) - std::log(std::sqrt(v) / 2) * kernels::bessel_i1(std::sqrt(v)));
    };
    near = b.add(b.div(fitted(d, z, 0, 4, 20, rest), x), b.mul(l, i));
  }
  const auto f = [](double v) { return order ? kernels::bessel_k1e(v) : kernels::bessel_k0e(v); };
  V far = b.div(fitted(d, d.over(2, x), 0, 1, 40, [&](double u) { return f(2 / u) * std::sqrt(2 / u); }), root(d, x));
  if (scaled) near = b.mul(near, b.exp(x));
  else far = b.mul(far, b.exp(b.neg(x)));
  V y = d.where(d.is(C::kLe, x, 2), near, far);
  y = d.where(d.is(C::kEq, x, kInf), d.k(0), y);
  return d.where(d.is(C::kLe, x, 0), d.k(kInf), y);
}

// ---- Bessel functions: beyond 8 a wave whose size and delay are functions of 1 / x^2

template <int order>
struct Wave {
  static double j(double x) { return order ? kernels::bessel_j1(x) : kernels::bessel_j0(x); }
  static double y(double x) { return order ? kernels::bessel_y1(x) : kernels::bessel_y0(x); }
  static constexpr double kDelay = order ? 0.75 * kPi : 0.25 * kPi;

  V p, q, scale, cosine, sine;
  Wave(Doubles d, V x) {
    ir::Builder& b = d.b;
    const V u = b.square(d.over(8, x)), angle = b.sub(x, kDelay);
    const auto at = [](double v) { return 8 / std::sqrt(v); };
    p = fitted(d, u, 0, 1, 22, [&](double v) {
      const double w = at(v), c = std::cos(w - kDelay), s = std::sin(w - kDelay);
      return std::sqrt(kPi * w / 2) * (j(w) * c + y(w) * s);
    });
    q = b.div(fitted(d, u, 0, 1, 22,
                     [&](double v) {
                       const double w = at(v), c = std::cos(w - kDelay), s = std::sin(w - kDelay);
                       return std::sqrt(kPi * w / 2) * (y(w) * c - j(w) * s) * w;
                     }),
              x);
    scale = root(d, d.over(2 / kPi, x));
    cosine = b.unary(U::kCos, angle);
    sine = b.unary(U::kSin, angle);
  }
};

template <int order>
V near_j(Doubles d, V x) {
  const V z = d.b.square(x);
  if (order == 0) return fitted(d, z, 0, 64, 30, [](double v) { return kernels::bessel_j0(std::sqrt(v)); });
  return d.b.mul(fitted(d, z, 0, 64, 30, [](double v) { return kernels::bessel_j1(std::sqrt(v)) / std::sqrt(v); }), x);
}

template <int order>
V bessel_j(Doubles d, V x) {
  ir::Builder& b = d.b;
  const V a = size(d, x);
  const Wave<order> w(d, a);
  const V far = b.mul(w.scale, b.sub(b.mul(w.p, w.cosine), b.mul(w.q, w.sine)));
  const V y = d.where(d.is(C::kLe, a, 8), near_j<order>(d, a), far);
  return order ? odd(d, x, y) : y;
}

template <int order>
V bessel_y(Doubles d, V x) {
  ir::Builder& b = d.b;
  const V l = b.mul(b.log(b.mul(x, 0.5)), 2 / kPi), wave = b.mul(l, near_j<order>(d, x)), z = b.square(x);
  V near = nullptr;
  if (order == 0) {
    near = b.add(
        fitted(d, z, 0, 64, 34,
               [](double v) { return kernels::bessel_y0(std::sqrt(v)) - 2 / kPi * std::log(std::sqrt(v) / 2) * kernels::bessel_j0(std::sqrt(v)); }),
        wave);
  } else {
    const auto rest = [](double v) {
      const double w = std::sqrt(v);
      return (kernels::bessel_y1(w) - 2 / kPi * (std::log(w / 2) * kernels::bessel_j1(w) - 1 / w)) / w;
    };
    near = b.sub(b.add(b.mul(fitted(d, z, 0, 64, 34, rest), x), wave), d.over(2 / kPi, x));
  }
  const Wave<order> w(d, x);
  const V far = b.mul(w.scale, b.add(b.mul(w.p, w.sine), b.mul(w.q, w.cosine)));
  const V y = d.where(d.is(C::kLe, x, 8), near, far);
  return d.where(d.is(C::kLe, x, 0), d.k(-kInf), y);
}

// TensorFlow has NaN at 0 but for double.
LoweredList bessel_y1(LowerContext& l) {
  const LoweredList y = in_double<bessel_y<1>>(l);
  if (!l.ok() || l.out_type() == DType::kDouble) return y;
  const V x = l.x();
  return {l.b.select(l.b.compare(C::kEq, x, l.b.scalar(x->type.dtype, 0)), l.b.scalar(l.out_type(), kNan), y[0].tensor())};
}

// ---- integrals

V dawsn(Doubles d, V x) {
  ir::Builder& b = d.b;
  const V a = size(d, x), near = b.mul(fitted(d, b.square(a), 0, 16, 60, [](double v) { return kernels::dawsn(std::sqrt(v)) / std::sqrt(v); }), a);
  const V far = b.div(fitted(d, b.square(d.over(4, a)), 0, 1, 60, [](double v) { return kernels::dawsn(4 / std::sqrt(v)) * 4 / std::sqrt(v); }), a);
  return odd(d, x, d.where(d.is(C::kLe, a, 4), near, far));
}

V expint(Doubles d, V x) {
  ir::Builder& b = d.b;
  constexpr double kEuler = 0.57721566490153286061;
  const V near = b.add(b.add(fitted(d, x, 0, 8, 40, [](double v) { return kernels::expint(v) - std::log(v) - kEuler; }), b.log(x)), kEuler);
  const V rest = fitted(d, d.over(8, x), 0, 1, 60, [](double u) {
    return 8 / u > 600 ? 1 + u / 8 + u * u / 32 + 6 * u * u * u / 512 : kernels::expint(8 / u) * std::exp(-8 / u) * 8 / u;
  });
  const V far = b.mul(b.div(b.exp(x), x), rest);
  const V y = d.where(d.is(C::kEq, x, 0), d.k(-kInf), d.where(d.is(C::kLe, x, 8), near, far));
  return d.where(b.binary(ir::Binary::kAnd, d.is(C::kGe, x, 0), d.is(C::kLt, x, kInf)), y, d.k(kNan));
}

// Of 1 / x above 2, of 1 - x below a half; in between a series in log x.
V spence(Doubles d, V x) {
  ir::Builder& b = d.b;
  constexpr double kBernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                   -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
  const V large = d.is(C::kGt, x, 2), y = d.where(large, d.over(1, x), x), low = d.is(C::kLt, y, 0.5), w = d.where(low, d.minus(1, y), y);
  const V u = b.neg(b.unary(U::kLog1p, b.sub(w, 1.0))), u2 = b.square(u);
  V sum = b.sub(u, b.mul(u2, 0.25)), power = u;
  for (int k = 1; k <= 10; ++k) {
    power = b.div(b.mul(power, u2), double(2 * k * (2 * k + 1)));
    sum = b.add(sum, b.mul(power, kBernoulli[k - 1]));
  }
  const V mirrored = b.sub(d.minus(kPi * kPi / 6, b.mul(b.log(y), b.unary(U::kLog1p, b.neg(y)))), sum);
  V r = d.where(low, mirrored, sum);
  r = d.where(large, b.sub(b.mul(b.square(b.log(x)), -0.5), r), r);
  r = d.where(d.is(C::kEq, x, 0), d.k(kPi * kPi / 6), r);
  return d.where(b.binary(ir::Binary::kAnd, d.is(C::kGe, x, 0), d.is(C::kLt, x, kInf)), r, d.k(kNan));
}

// Near 0 functions of x^4; further out waves around a half whose sizes are.
template <bool cosine>
V fresnel(Doubles d, V x) {
  ir::Builder& b = d.b;
  const V a = size(d, x), a2 = b.square(a), z = b.square(a2);
  const auto root4 = [](double v) { return std::sqrt(std::sqrt(v)); };
  V near = nullptr;
  if (cosine) near = b.mul(fitted(d, z, 0, 6.5536, 24, [&](double v) { return kernels::fresnel(root4(v)).c / root4(v); }), a);
  else near = b.mul(fitted(d, z, 0, 6.5536, 24, [&](double v) { return kernels::fresnel(root4(v)).s / std::pow(root4(v), 3); }), b.mul(a, a2));
  const V u = b.square(b.square(d.over(1.6, a)));
  const auto parts = [&](double v, bool first) {
    const double w = 1.6 / root4(v), phase = kPi / 2 * std::fmod(w * w, 4), c = std::cos(phase), s = std::sin(phase);
    const kernels::Fresnel k = kernels::fresnel(w);
    return first ? ((0.5 - k.s) * c - (0.5 - k.c) * s) * w : ((0.5 - k.c) * c + (0.5 - k.s) * s) * w * w * w;
  };
  const V f = b.div(fitted(d, u, 0, 1, 40, [&](double v) { return parts(v, true); }), a);
  const V g = b.div(fitted(d, u, 0, 1, 40, [&](double v) { return parts(v, false); }), b.mul(a, a2));
  const V phase = b.mul(b.binary(ir::Binary::kMod, a2, d.k(4)), kPi / 2), c = b.unary(U::kCos, phase), s = b.unary(U::kSin, phase);
  const V wave = cosine ? b.sub(b.mul(f, s), b.mul(g, c)) : b.neg(b.add(b.mul(f, c), b.mul(g, s)));
  V y = d.where(d.is(C::kLt, a, 1.6), near, b.add(wave, 0.5));
  y = d.where(d.is(C::kGt, a, 36974), d.k(0.5), y);
  return odd(d, x, y);
}

}  // namespace

void lower_math_series(Registry& r) {
  r.lower("BesselI0", in_double<bessel_i<0>>);
  r.lower("BesselI0e", in_double<scaled_i<0>>);
  r.lower("BesselI1", in_double<bessel_i<1>>);
  r.lower("BesselI1e", in_double<scaled_i<1>>);
  r.lower("BesselJ0", in_double<bessel_j<0>>);
  r.lower("BesselJ1", in_double<bessel_j<1>>);
  r.lower("BesselK0", in_double<bessel_k<0, false>>);
  r.lower("BesselK0e", in_double<bessel_k<0, true>>);
  r.lower("BesselK1", in_double<bessel_k<1, false>>);
  r.lower("BesselK1e", in_double<bessel_k<1, true>>);
  r.lower("BesselY0", in_double<bessel_y<0>>);
  r.lower("BesselY1", bessel_y1);
  r.lower("Dawsn", in_double<dawsn>);
  r.lower("Expint", in_double<expint>);
  r.lower("FresnelCos", in_double<fresnel<true>>);
  r.lower("FresnelSin", in_double<fresnel<false>>);
  r.lower("Spence", in_double<spence>);
}

}  // namespace weft_engine::ops

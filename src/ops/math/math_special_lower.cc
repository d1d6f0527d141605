// Special functions, computed in double and rounded once.
#include <cmath>
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"
#include "ops/math/math_special_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using C = ir::Compare;
using V = ir::Value;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// ln and the asymptotic series from 12 up; smaller numbers are moved there, negative ones mirrored.
V digamma(Doubles d, V x) {
  ir::Builder& b = d.b;
  const V low = d.is(C::kLe, x, 0);
  V y = d.where(low, d.minus(1, x), x), shift = d.k(0);
  for (int i = 0; i < 12; ++i) {
    const V small = d.is(C::kLt, y, 12);
    shift = b.add(shift, d.where(small, d.over(1, y), d.k(0)));
    y = d.where(small, b.add(y, 1.0), y);
  }
  const V z = d.over(1, b.square(y));
  V tail = d.k(1.0 / 12);
  for (double c : {691.0 / 32760, 1.0 / 132, 1.0 / 240, 1.0 / 252, 1.0 / 120, 1.0 / 12}) tail = d.minus(c, b.mul(z, tail));
  const V positive = b.sub(b.sub(b.sub(b.log(y), d.over(0.5, y)), b.mul(z, tail)), shift);
  // pi cot(pi x), from the fraction alone.
  const V fraction = b.sub(x, b.unary(ir::Unary::kFloor, x)), angle = b.mul(fraction, M_PI);
  const V mirrored = b.sub(positive, b.div(b.mul(b.unary(ir::Unary::kCos, angle), M_PI), b.unary(ir::Unary::kSin, angle)));
  const V result = d.where(low, d.where(d.is(C::kEq, fraction, 0), d.k(kNan), mirrored), positive);
  return d.where(d.is(C::kEq, x, kInf), x, d.where(d.is(C::kEq, x, -kInf), d.k(kNan), result));
}

// Abramowitz and Stegun 26.2.23, then Halley's method on the distribution itself.
V ndtri(Doubles d, V p) {
  ir::Builder& b = d.b;
  const V below = d.is(C::kLt, p, 0.5), q = d.where(below, p, d.minus(1, p));
  const V t = b.sqrt(b.mul(b.log(q), -2.0));
  const V top = b.add(b.mul(b.add(b.mul(t, 0.010328), 0.802853), t), 2.515517);
  const V bottom = b.add(b.mul(b.add(b.mul(b.add(b.mul(t, 0.001308), 0.189269), t), 1.432788), t), 1.0);
  V x = b.sub(t, b.div(top, bottom));
  for (int i = 0; i < 3; ++i) {
    const V error = b.sub(b.mul(b.unary(ir::Unary::kErfc, b.mul(x, M_SQRT1_2)), 0.5), q);
    const V u = b.mul(b.mul(error, -std::sqrt(2 * M_PI)), b.exp(b.mul(b.square(x), 0.5)));
    x = b.sub(x, b.div(u, b.add(b.mul(b.mul(x, u), 0.5), 1.0)));
  }
  V result = d.where(below, b.neg(x), x);
  result = d.where(d.is(C::kEq, p, 0.5), d.k(0), result);
  result = d.where(d.is(C::kEq, p, 0), d.k(-kInf), d.where(d.is(C::kEq, p, 1), d.k(kInf), result));
  return d.where(b.binary(ir::Binary::kAnd, d.is(C::kGe, p, 0), d.is(C::kLe, p, 1)), result, d.k(kNan));
}

V erfinv(Doubles d, V y) {
  ir::Builder& b = d.b;
  const V size = b.unary(ir::Unary::kAbs, y);
  const V far = b.mul(ndtri(d, b.mul(d.minus(1, size), 0.5)), -M_SQRT1_2);
  V z = b.mul(b.mul(y, b.add(b.mul(b.square(y), M_PI / 12), 1.0)), 0.5 * std::sqrt(M_PI));
  for (int i = 0; i < 3; ++i) {
    const V u = b.mul(b.mul(b.sub(b.unary(ir::Unary::kErf, z), y), 0.5 * std::sqrt(M_PI)), b.exp(b.square(z)));
    z = b.sub(z, b.div(u, b.add(b.mul(z, u), 1.0)));
  }
  return d.where(d.is(C::kGe, size, 0.5), d.where(d.is(C::kLt, y, 0), b.neg(far), far), z);
}

}  // namespace

V lowered_digamma(Doubles d, V x) { return digamma(d, x); }
V lowered_normal_quantile(ir::Builder& b, V p) { return p ? ndtri({b}, p) : nullptr; }

void lower_math_special(Registry& r) {
  r.lower("Digamma", in_double<digamma>);
  r.lower("Erfinv", in_double<erfinv>);
  r.lower("Ndtri", in_double<ndtri>);
  lower_math_series(r);
  lower_math_gamma(r);
}

}  // namespace weft_engine::ops

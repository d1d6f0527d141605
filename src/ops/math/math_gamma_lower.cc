// The incomplete gamma and beta functions, Hurwitz's zeta function and the polygamma functions, as the kernels compute them (kernels/cpu/special_gamma.cc):
// series and continued fractions that go on for as long as an element needs it.
#include <cmath>
#include <limits>

#include "kernels/cpu/special_math.h"
#include "ops/lower_util.h"
#include "ops/math/math_lower.h"
#include "ops/math/math_special_lower.h"

namespace weft_engine::ops {

namespace {

using B = ir::Binary;
using C = ir::Compare;
using U = ir::Unary;
using V = ir::Value;
using List = std::vector<V>;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846, kEps = 1e-16;
constexpr int64_t kMaxIterations = 2000;

V both(Doubles d, V x, V y) { return d.b.binary(B::kAnd, x, y); }
V either(Doubles d, V x, V y) { return d.b.binary(B::kOr, x, y); }
V size(Doubles d, V x) { return d.b.unary(U::kAbs, x); }
V infinite(Doubles d, V x) { return d.b.unary(U::kIsInf, x); }
V falls(Doubles d, V part, V of) { return d.b.compare(C::kLe, size(d, part), d.b.mul(size(d, of), kEps)); }

// mu - log(1 + mu) without cancellation near 0.
V log1p_gap(Doubles d, V mu) {
  ir::Builder& b = d.b;
  V sum = d.k(0), power = b.square(mu);
  for (int k = 2; k < 18; ++k) {
    sum = b.add(sum, b.mul(power, (k & 1 ? -1.0 : 1.0) / k));
    power = b.mul(power, mu);
  }
  return d.where(b.compare(C::kGt, size(d, mu), d.k(0.1)), b.sub(mu, b.unary(U::kLog1p, mu)), sum);
}

// x^a exp(-x) / gamma(a + 1), from 20 on by Stirling's series.
V gamma_factor(Doubles d, V a, V x) {
  ir::Builder& b = d.b;
  const V small = b.exp(b.sub(b.sub(b.mul(a, b.log(x)), x), b.unary(U::kLgamma, b.add(a, 1.0))));
  const V z = d.over(1, b.square(a));
  V tail = d.k(1.0 / 1188);
  for (double c : {1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12}) tail = d.minus(c, b.mul(z, tail));
  const V exponent = b.sub(b.neg(b.mul(a, log1p_gap(d, b.div(b.sub(x, a), a)))), b.div(tail, a));
  return d.where(d.is(C::kLt, a, 20), small, b.div(b.exp(exponent), b.sqrt(b.mul(a, 2 * kPi))));
}

struct Dual {
  V value, slope;
};

// P(a, x) gamma(a + 1) / (x^a exp(-x)) where `on`, and its derivative with respect to a.
Dual lower_series(Doubles d, V a, V x, V on) {
  ir::Builder& b = d.b;
  a = d.where(on, a, d.k(1));
  x = d.where(on, x, d.k(0));
  const V one = b.fill(DType::kDouble, a->type.dims, 1), zero = b.fill(DType::kDouble, a->type.dims, 0);
  // r, term, sum, dterm, dsum
  const auto go = [d](const List& v) mutable { return d.b.unary(U::kNot, both(d, falls(d, v[1], v[2]), falls(d, v[3], v[4]))); };
  const List end = loop_while_any(b, kMaxIterations, {a, one, one, zero, zero}, go, [&](V, const List& v) -> List {
    const V r = b.add(v[0], 1.0), ratio = b.div(x, r);
    const V dterm = b.sub(b.mul(v[3], ratio), b.div(b.mul(v[1], ratio), r)), term = b.mul(v[1], ratio);
    return {r, term, b.add(v[2], term), dterm, b.add(v[4], dterm)};
  });
  return {end[2], end[4]};
}

// Q(a, x) gamma(a) / (x^a exp(-x)) where `on`: the convergents of a continued fraction.
Dual upper_fraction(Doubles d, V a, V x, V on) {
  ir::Builder& b = d.b;
  constexpr double kBig = 4503599627370496.0;
  a = d.where(on, a, d.k(1));
  x = d.where(on, x, d.k(2));
  const V zero = b.fill(DType::kDouble, a->type.dims, 0), one = b.fill(DType::kDouble, a->type.dims, 1);
  const V y = d.minus(1, a), z = b.add(b.add(x, y), 1.0), p1 = b.add(x, 1.0), q1 = b.mul(z, x), ratio = b.div(p1, q1);
  const V slope = b.div(b.mul(ratio, x), q1);
  enum { kC, kY, kZ, kP2, kQ2, kP1, kQ1, kDp2, kDq2, kDp1, kDq1, kValue, kSlope, kGo };
  const V yes = b.fill(DType::kBool, a->type.dims, 1);
  const auto go = [](const List& v) { return v[kGo]; };
  const List end = loop_while_any(
      b, kMaxIterations, {zero, y, z, one, x, p1, q1, zero, zero, zero, b.neg(x), ratio, slope, yes}, go, [&](V, const List& v) -> List {
        const V c = b.add(v[kC], 1.0), yn = b.add(v[kY], 1.0), zn = b.add(v[kZ], 2.0), yc = b.mul(yn, c);
        const V p = b.sub(b.mul(v[kP1], zn), b.mul(v[kP2], yc)), q = b.sub(b.mul(v[kQ1], zn), b.mul(v[kQ2], yc));
        const V dp = b.add(b.sub(b.sub(b.mul(v[kDp1], zn), v[kP1]), b.mul(v[kDp2], yc)), b.mul(v[kP2], c));
        const V dq = b.add(b.sub(b.sub(b.mul(v[kDq1], zn), v[kQ1]), b.mul(v[kDq2], yc)), b.mul(v[kQ2], c));
        const V some = both(d, d.is(C::kNe, q, 0), v[kGo]), value = b.div(p, q), by = b.div(b.sub(dp, b.mul(value, dq)), q);
        const V done = both(d, both(d, falls(d, b.sub(value, v[kValue]), value), falls(d, b.sub(by, v[kSlope]), by)), some);
        const V scale = d.where(b.compare(C::kGt, size(d, p), d.k(kBig)), d.k(1 / kBig), d.k(1));
        const auto down = [&](V w) { return b.mul(w, scale); };
        return {c,
                yn,
                zn,
                down(v[kP1]),
                down(v[kQ1]),
                down(p),
                down(q),
                down(v[kDp1]),
                down(v[kDq1]),
                down(dp),
                down(dq),
                d.where(some, value, v[kValue]),
                d.where(some, by, v[kSlope]),
                both(d, v[kGo], b.unary(U::kNot, done))};
      });
  return {end[kValue], end[kSlope]};
}

struct Incomplete {
  V a, x, usual, by_fraction, factor, none;
  Dual p, q;
};

// For arguments without a limit of their own.
Incomplete incomplete(Doubles d, V a, V x) {
  ir::Builder& b = d.b;
  Incomplete r;
  r.usual = both(d, both(d, d.is(C::kGt, a, 0), d.is(C::kLt, a, kInf)), both(d, d.is(C::kGt, x, 0), d.is(C::kLt, x, kInf)));
  r.a = d.where(r.usual, a, d.k(1));
  r.x = d.where(r.usual, x, d.k(1));
  r.by_fraction = both(d, d.is(C::kGt, r.x, 1), b.compare(C::kGt, r.x, r.a));
  r.factor = gamma_factor(d, r.a, r.x);
  r.none = d.is(C::kEq, r.factor, 0);
  r.p = lower_series(d, r.a, r.x, b.unary(U::kNot, either(d, r.by_fraction, r.none)));
  r.q = upper_fraction(d, r.a, r.x, both(d, r.by_fraction, b.unary(U::kNot, r.none)));
  return r;
}

// The limits: NaN outside of the domain.
V limits(Doubles d, V a, V x, V usual, V result, double at_zero, double at_infinity) {
  const V far = d.where(infinite(d, a), d.where(infinite(d, x), d.k(0), d.k(at_zero)), d.where(d.is(C::kEq, x, 0), d.k(at_zero), d.k(at_infinity)));
  const V good = both(d, d.is(C::kGe, x, 0), d.is(C::kGt, a, 0));
  return d.where(good, d.where(usual, result, far), d.k(kNan));
}

V igamma(Doubles d, V a, V x) {
  ir::Builder& b = d.b;
  const Incomplete i = incomplete(d, a, x);
  V r = d.where(i.by_fraction, d.minus(1, b.mul(b.mul(i.factor, i.a), i.q.value)), b.mul(i.factor, i.p.value));
  r = d.where(i.none, d.where(b.compare(C::kGt, i.x, i.a), d.k(1), d.k(0)), r);
  return d.where(d.is(C::kEq, x, 0), d.k(0), limits(d, a, x, i.usual, r, 0, 1));
}

V igammac(Doubles d, V a, V x) {
  ir::Builder& b = d.b;
  const Incomplete i = incomplete(d, a, x);
  V r = d.where(i.by_fraction, b.mul(b.mul(i.factor, i.a), i.q.value), d.minus(1, b.mul(i.factor, i.p.value)));
  r = d.where(i.none, d.where(b.compare(C::kGt, i.x, i.a), d.k(0), d.k(1)), r);
  return limits(d, a, x, i.usual, r, 1, 0);
}

V igamma_grad_a(Doubles d, V a, V x) {
  ir::Builder& b = d.b;
  const Incomplete i = incomplete(d, a, x);
  const V l = b.log(i.x);
  const V upper = b.neg(b.mul(b.mul(i.factor, i.a), b.add(i.q.slope, b.mul(i.q.value, b.sub(l, lowered_digamma(d, i.a))))));
  const V lower = b.mul(i.factor, b.add(i.p.slope, b.mul(i.p.value, b.sub(l, lowered_digamma(d, b.add(i.a, 1.0))))));
  const V r = d.where(i.none, d.k(0), d.where(i.by_fraction, upper, lower));
  return d.where(d.is(C::kEq, x, 0), d.k(0), limits(d, a, x, i.usual, r, 0, 0));
}

// By how much a sample of the gamma distribution moves with its parameter.
V random_gamma_grad(Doubles d, V a, V x) {
  ir::Builder& b = d.b;
  const V density = b.exp(b.sub(b.sub(b.mul(b.sub(a, 1.0), b.log(x)), x), b.unary(U::kLgamma, a)));
  return b.neg(b.div(igamma_grad_a(d, a, x), density));
}

// For q > 0: nine terms, then Euler's and Maclaurin's series.
V zeta_right(Doubles d, V x, V q) {
  ir::Builder& b = d.b;
  const V down = b.neg(x);
  V a = q, term = nullptr, sum = b.binary(B::kPow, q, down);
  for (int i = 0; i < 9; ++i) {
    a = b.add(a, 1.0);
    term = b.binary(B::kPow, a, down);
    sum = b.add(sum, term);
  }
  const V gone = d.is(C::kEq, term, 0);
  V tail = b.sub(b.div(b.mul(term, a), b.sub(x, 1.0)), b.mul(term, 0.5)), rising = d.k(1);
  for (int k = 0; k < 12; ++k) {
    rising = b.mul(rising, b.add(x, double(2 * k)));
    term = b.div(term, a);
    const V part = b.div(b.mul(rising, term), kernels::kZetaFactors[k]);
    tail = b.add(tail, part);
    rising = b.mul(rising, b.add(x, double(2 * k + 1)));
    term = b.div(term, a);
  }
  // Where the terms overflow or vanish the sum alone is right.
  const V good = b.unary(U::kIsFinite, tail);
  return d.where(either(d, gone, b.unary(U::kNot, good)), sum, b.add(sum, tail));
}

V zeta(Doubles d, V x, V q) {
  ir::Builder& b = d.b;
  const V floor = b.unary(U::kFloor, q), f = b.sub(q, floor), left = d.is(C::kLe, q, 0);
  const V even = either(d, b.compare(C::kEq, b.binary(B::kMod, x, d.k(2)), d.k(0)), infinite(d, x));
  // Left of 0: the sum over all integers, less the part beyond q.
  const V sign = d.where(even, d.k(1), d.k(-1)), safe = d.where(d.is(C::kEq, f, 0), d.k(0.5), f);
  const V first = zeta_right(d, x, d.where(left, safe, q));
  const V mirrored = b.add(first, b.mul(sign, b.sub(zeta_right(d, x, d.minus(1, safe)), zeta_right(d, x, d.minus(1, d.where(left, q, d.k(0)))))));
  V r = d.where(left, mirrored, first);
  const V whole = b.compare(C::kEq, x, b.unary(U::kFloor, x));
  V of_left = d.where(whole, d.where(infinite(d, x), d.k(kInf), r), d.k(kNan));
  of_left = d.where(d.is(C::kEq, f, 0), d.where(even, d.k(kInf), d.k(kNan)), of_left);
  V of_right = d.where(infinite(d, x), d.where(d.is(C::kLt, q, 1), d.k(kInf), d.where(d.is(C::kEq, q, 1), d.k(1), d.k(0))), r);
  of_right = d.where(infinite(d, q), d.k(0), of_right);
  r = d.where(left, of_left, of_right);
  r = d.where(both(d, d.is(C::kGt, x, 1), b.compare(C::kEq, q, q)), r, d.k(kNan));
  return d.where(d.is(C::kEq, x, 1), d.k(kInf), r);
}

V polygamma(Doubles d, V n, V x) {
  ir::Builder& b = d.b;
  const V next = b.add(n, 1.0), even = d.is(C::kEq, b.binary(B::kMod, n, d.k(2)), 0);
  const V r = b.mul(b.mul(d.where(even, d.k(-1), d.k(1)), b.exp(b.unary(U::kLgamma, next))), zeta(d, next, x));
  return d.where(b.compare(C::kEq, n, b.unary(U::kFloor, n)), d.where(d.is(C::kEq, n, 0), lowered_digamma(d, x), r), d.k(kNan));
}

// The continued fraction of the incomplete beta function by Lentz's method.
V beta_fraction(Doubles d, V a, V c, V x) {
  ir::Builder& b = d.b;
  const auto safe = [&](V v) { return d.where(b.compare(C::kLt, size(d, v), d.k(1e-300)), d.k(1e-300), v); };
  const V one = b.fill(DType::kDouble, a->type.dims, 1);
  const V start = d.over(1, safe(d.minus(1, b.div(b.mul(b.add(a, c), x), b.add(a, 1.0)))));
  enum { kM, kC, kD, kH, kGo };
  const List end = loop_while_any(
      b, 2 * kMaxIterations, {one, one, start, start, b.fill(DType::kBool, a->type.dims, 1)}, [](const List& v) { return v[kGo]; },
      [&](V, const List& v) -> List {
        const V m = v[kM], m2 = b.add(a, b.mul(m, 2.0));
        const auto step = [&](V term, V& top, V& under, V h) {
          under = d.over(1, safe(b.add(b.mul(term, under), 1.0)));
          top = safe(b.add(b.div(term, top), 1.0));
          return b.mul(h, b.mul(under, top));
        };
        V top = v[kC], under = v[kD];
        const V even = b.div(b.mul(b.mul(m, b.sub(c, m)), x), b.mul(b.sub(m2, 1.0), m2));
        V h = step(even, top, under, v[kH]);
        const V odd = b.neg(b.div(b.mul(b.mul(b.add(a, m), b.add(b.add(a, c), m)), x), b.mul(m2, b.add(m2, 1.0))));
        h = step(odd, top, under, h);
        const V more = b.compare(C::kGe, size(d, b.sub(b.mul(under, top), 1.0)), d.k(2 * kEps));
        return {b.add(m, 1.0), top, under, d.where(v[kGo], h, v[kH]), both(d, v[kGo], more)};
      });
  return end[kH];
}

V betainc(Doubles d, V a, V c, V x) {
  ir::Builder& b = d.b;
  const V in = both(d, both(d, d.is(C::kGt, a, 0), d.is(C::kLt, a, kInf)), both(d, d.is(C::kGt, c, 0), d.is(C::kLt, c, kInf)));
  const V good = both(d, in, both(d, d.is(C::kGe, x, 0), d.is(C::kLe, x, 1))), usual = both(d, good, both(d, d.is(C::kGt, x, 0), d.is(C::kLt, x, 1)));
  a = d.where(usual, a, d.k(1));
  c = d.where(usual, c, d.k(1));
  const V at = d.where(usual, x, d.k(0.5)), sum = b.add(a, c), other = d.minus(1, at);
  const V logs = b.sub(b.sub(b.unary(U::kLgamma, sum), b.unary(U::kLgamma, a)), b.unary(U::kLgamma, c));
  const V front = b.exp(b.add(b.add(logs, b.mul(a, b.log(at))), b.mul(c, b.unary(U::kLog1p, b.neg(at)))));
  const V near = b.compare(C::kLt, at, b.div(b.add(a, 1.0), b.add(sum, 2.0)));
  const V p = d.where(near, a, c), part = b.div(b.mul(front, beta_fraction(d, p, d.where(near, c, a), d.where(near, at, other))), p);
  const V r = d.where(near, part, d.minus(1, part));
  return d.where(good, d.where(usual, r, x), d.k(kNan));
}

template <V (*f)(Doubles, V, V)>
LoweredList of_two(LowerContext& l) {
  V x = l.b.convert(l.x(0), DType::kDouble), y = l.b.convert(l.x(1), DType::kDouble);
  if (!x || !y) return {};
  const Dims dims = l.b.broadcast_dims(x->type.dims, y->type.dims);
  x = l.b.broadcast_to(x, dims);
  y = l.b.broadcast_to(y, dims);
  return {l.b.convert(x && y ? f({l.b}, x, y) : nullptr, l.out_type())};
}

// Scalars go with every element; other shapes must be the same.
LoweredList lower_betainc(LowerContext& l) {
  V v[3] = {};
  Dims dims;
  for (int i = 0; i < 3; ++i) {
    v[i] = l.b.convert(l.x(i), DType::kDouble);
    if (!v[i]) return {};
    if (v[i]->rank() > 0 && !dims.empty() && int(dims.size()) != v[i]->rank())
      return l.fail(invalid_argument("Shapes of a, b and x must be the same"));
    dims = l.b.broadcast_dims(dims, v[i]->type.dims);
  }
  for (V& x : v) x = l.b.broadcast_to(x, dims);
  return {l.b.convert(v[0] && v[1] && v[2] ? betainc({l.b}, v[0], v[1], v[2]) : nullptr, l.out_type())};
}

// The number beside x in the direction of y, by its bits.
LoweredList next_after(LowerContext& l) {
  ir::Builder& b = l.b;
  V x = l.x(0), y = l.x(1);
  if (!x || !y) return {};
  const Dims dims = b.broadcast_dims(x->type.dims, y->type.dims);
  x = b.broadcast_to(x, dims);
  y = b.broadcast_to(y, dims);
  if (!x || !y) return {};
  const DType t = x->type.dtype, n = t == DType::kDouble ? DType::kInt64 : DType::kInt32;
  const V zero = b.scalar(t, 0), bits = b.bitcast(x, n), one = b.scalar_int(n, 1);
  const V up = b.compare(C::kGt, y, x), away = b.compare(C::kEq, up, b.compare(C::kGt, x, zero));
  const V moved = b.bitcast(b.select(away, b.add(bits, one), b.sub(bits, one)), t), tiny = b.bitcast(one, t);
  V r = b.select(b.compare(C::kEq, x, zero), b.select(up, tiny, b.neg(tiny)), moved);
  r = b.select(b.compare(C::kEq, x, y), y, r);
  const V nan = b.binary(B::kOr, b.unary(U::kIsNan, x), b.unary(U::kIsNan, y));
  return {b.select(nan, b.add(x, y), r)};
}

}  // namespace

void lower_math_gamma(Registry& r) {
  r.lower("Betainc", lower_betainc);
  r.lower("Igamma", of_two<igamma>);
  r.lower("IgammaGradA", of_two<igamma_grad_a>);
  r.lower("Igammac", of_two<igammac>);
  r.lower("NextAfter", next_after);
  r.lower("Polygamma", of_two<polygamma>);
  r.lower("RandomGammaGrad", of_two<random_gamma_grad>);
  r.lower("Zeta", of_two<zeta>);
}

}  // namespace weft_engine::ops

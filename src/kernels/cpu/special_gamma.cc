// The incomplete gamma and beta functions, Hurwitz's zeta function and the polygamma functions.
#include <cmath>
#include <initializer_list>
#include <limits>

#include "kernels/cpu/special_math.h"

namespace weft_engine::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kEps = 1e-16, kFloatEps = 1e-9;
constexpr int kMaxIterations = 2000;  // TensorFlow's; also what bounds the time of a hostile argument

// mu - log(1 + mu) without cancellation near 0.
double log1p_gap(double mu) {
  if (std::abs(mu) > 0.1) return mu - std::log1p(mu);
  double sum = 0, power = mu * mu;
  for (int k = 2; k < 30; ++k) {
    sum += (k & 1 ? -power : power) / k;
    power *= mu;
    if (std::abs(power) < 1e-18 * sum) break;
  }
  return sum;
}

// x^a exp(-x) / gamma(a + 1).
double gamma_factor(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - lgamma(a + 1));
  // Stirling, with the large terms gathered: exp(-a (mu - log(1 + mu))) / sqrt(2 pi a), mu = (x - a) / a.
  const double z = 1 / (a * a);
  const double correction = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / a;
  return std::exp(-a * log1p_gap((x - a) / a) - correction) / std::sqrt(2 * kPi * a);
}

// The same to ten digits, in half the time: Stirling's series where it is that good, above 7.
double quick_gamma_factor(double a, double x) {
  if (a >= 20) return gamma_factor(a, x);
  double z = a + 1, product = 1;
  for (; z < 7; z += 1) product *= z;
  constexpr double kHalfLogOf2Pi = 0.91893853320467274178;
  const double r = 1 / z, rr = r * r, series = r * (1.0 / 12 - rr * (1.0 / 360 - rr * (1.0 / 1260 - rr / 1680)));
  return product * std::exp(a * std::log(x) - x - ((z - 0.5) * std::log(z) - z + kHalfLogOf2Pi + series));
}

// A value and its derivative with respect to a.
struct Dual {
  double value, slope;
};

// P(a, x) gamma(a + 1) / (x^a exp(-x)), for x up to about a. kSlope: with the derivative.
template <bool kSlope>
Dual lower_series(double a, double x, double eps) {
  double r = a, term = 1, sum = 1, dterm = 0, dsum = 0;
  for (int i = 0; i < kMaxIterations; ++i) {
    r += 1;
    const double ratio = x / r;
    if (kSlope) dterm = dterm * ratio - term * x / (r * r), dsum += dterm;
    term *= ratio;
    sum += term;
    if (term <= eps * sum && (!kSlope || std::abs(dterm) <= eps * std::abs(dsum))) break;
  }
  return {sum, dsum};
}

// Q(a, x) gamma(a) / (x^a exp(-x)), for x greater than a and 1: the continued fraction of Abramowitz and
// Stegun 6.5.31 by its convergents p / q.
template <bool kSlope>
Dual upper_fraction(double a, double x, double eps) {
  constexpr double kBig = 4503599627370496.0;
  double y = 1 - a, z = x + y + 1, c = 0;
  double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x;
  double dp2 = 0, dq2 = 0, dp1 = 0, dq1 = -x;
  Dual ans = {p1 / q1, (dp1 - p1 / q1 * dq1) / q1};
  for (int i = 0; i < kMaxIterations; ++i) {
    c += 1;
    y += 1;
    z += 2;
    const double yc = y * c;
    const double p = p1 * z - p2 * yc, q = q1 * z - q2 * yc;
    if (!kSlope) {  // compared without dividing
      const double left = p * q1, right = p1 * q;
      if (q != 0 && std::abs(left - right) <= eps * std::abs(left)) return {p / q, 0};
    }
    double dp = 0, dq = 0;
    if (kSlope) dp = dp1 * z - p1 - dp2 * yc + p2 * c, dq = dq1 * z - q1 - dq2 * yc + q2 * c;
    if (kSlope && q != 0) {
      const double value = p / q;
      const Dual next = {value, (dp - value * dq) / q};
      const bool done =
          std::abs(next.value - ans.value) <= eps * std::abs(next.value) && std::abs(next.slope - ans.slope) <= eps * std::abs(next.slope);
      ans = next;
      if (done) break;
    }
    p2 = p1, p1 = p, q2 = q1, q1 = q;
    if (kSlope) dp2 = dp1, dp1 = dp, dq2 = dq1, dq1 = dq;
    if (std::abs(p) > kBig) {
      for (double* v : {&p1, &p2, &q1, &q2, &dp1, &dp2, &dq1, &dq2}) *v /= kBig;
    }
  }
  return kSlope ? ans : Dual{p1 / q1, 0};
}

bool by_fraction(double a, double x) { return x > 1 && x > a; }

// What needs no computing; true if `result` is set.
bool igamma_limits(double a, double x, double at_zero, double at_infinity, double& result) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0) result = kNan;
  else if (std::isinf(a)) result = std::isinf(x) ? 0 : at_zero;
  else if (x == 0) result = at_zero;
  else if (std::isinf(x)) result = at_infinity;
  else return false;
  return true;
}

double lower(double a, double x, double eps) {
  if (x == 0) return 0;
  if (double r; igamma_limits(a, x, 0, 1, r)) return r;
  const double factor = eps > kEps ? quick_gamma_factor(a, x) : gamma_factor(a, x);
  if (factor == 0) return x > a ? 1 : 0;
  return by_fraction(a, x) ? 1 - factor * a * upper_fraction<false>(a, x, eps).value : factor * lower_series<false>(a, x, eps).value;
}

double upper(double a, double x, double eps) {
  if (double r; igamma_limits(a, x, 1, 0, r)) return r;
  const double factor = eps > kEps ? quick_gamma_factor(a, x) : gamma_factor(a, x);
  if (factor == 0) return x > a ? 0 : 1;
  return by_fraction(a, x) ? factor * a * upper_fraction<false>(a, x, eps).value : 1 - factor * lower_series<false>(a, x, eps).value;
}

}  // namespace

double igamma(double a, double x) { return lower(a, x, kEps); }
float igamma(float a, float x) { return float(lower(double(a), double(x), kFloatEps)); }
double igammac(double a, double x) { return upper(a, x, kEps); }
float igammac(float a, float x) { return float(upper(double(a), double(x), kFloatEps)); }

double igamma_grad_a(double a, double x) {
  if (x == 0) return 0;
  if (double r; igamma_limits(a, x, 0, 0, r)) return r;
  const double factor = gamma_factor(a, x);
  if (factor == 0) return 0;
  if (by_fraction(a, x)) {
    const Dual q = upper_fraction<true>(a, x, kEps);
    return -factor * a * (q.slope + q.value * (std::log(x) - digamma(a)));
  }
  const Dual p = lower_series<true>(a, x, kEps);
  return factor * (p.slope + p.value * (std::log(x) - digamma(a + 1)));
}

double zeta(double x, double q) {
  if (x == 1) return kInf;
  if (!(x > 1) || std::isnan(q)) return kNan;
  if (q <= 0) {
    const bool even = std::fmod(x, 2) == 0 || std::isinf(x);
    if (q == std::floor(q)) return even ? kInf : kNan;
    if (x != std::floor(x)) return kNan;
    if (std::isinf(x)) return kInf;
    if (q < -1000) {
      // The sum over all integers, less the part beyond q: no loop over the |q| poles.
      const double f = q - std::floor(q), sign = even ? 1 : -1;
      return zeta(x, f) + sign * (zeta(x, 1 - f) - zeta(x, 1 - q));
    }
  }
  if (std::isinf(q)) return 0;
  if (std::isinf(x)) return q < 1 ? kInf : q == 1 ? 1 : 0;
  // Euler and Maclaurin.
  double sum = std::pow(q, -x), a = q, b = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    b = std::pow(a, -x);
    sum += b;
    if (std::abs(b) < kEps * std::abs(sum)) return sum;
  }
  if (b == 0) return sum;
  const double w = a;
  sum += b * w / (x - 1) - 0.5 * b;
  double rising = 1, k = 0;
  for (double factor : kZetaFactors) {
    rising *= x + k;
    b /= w;
    const double t = rising * b / factor;
    sum += t;
    if (std::abs(t) < kEps * std::abs(sum)) break;
    rising *= x + k + 1;
    b /= w;
    k += 2;
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n != std::floor(n)) return kNan;
  if (n == 0) return digamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::exp(lgamma(n + 1)) * zeta(n + 1, x);
}

namespace {

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto safe = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < 2 * kMaxIterations; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / safe(1 + even * d);
    c = safe(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / safe(1 + odd * d);
    c = safe(1 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1) < kEps * 2) break;
  }
  return h;
}

}  // namespace

double betainc(double a, double b, double x) {
  if (std::isnan(a) || std::isnan(b) || !(x >= 0 && x <= 1) || a <= 0 || b <= 0 || std::isinf(a) || std::isinf(b)) return kNan;
  if (x == 0) return 0;
  if (x == 1) return 1;
  const double front = std::exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace weft_engine::kernels

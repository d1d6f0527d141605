#include "kernels/cpu/special_math.h"

#include <cmath>
#include <complex>
#include <limits>
#include <utility>

namespace weft_engine::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kEuler = 0.57721566490153286061;
constexpr double kEps = 1e-17;

// pi / tan(pi x) with the argument reduced first, which keeps digits for large |x|.
double pi_cot_pi(double x) {
  const double f = x - std::nearbyint(x);
  return std::abs(f) == 0.5 ? 0 : kPi / std::tan(kPi * f);
}

// For 0 < x < infinity: the recurrence up to `least`, then Abramowitz and Stegun 6.3.18, whose coefficients are B(2k) / 2k.
double digamma_from(double x, double least) {
  double shift = 0, divisor = 1;  // the sum of 1 / x, 1 / (x + 1), ... as one fraction: divisions take longest
  for (; x < least; x += 1) shift = shift * x + divisor, divisor *= x;
  const double r = 1 / x, z = r * r;
  const double tail = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return std::log(x) - 0.5 * r - tail - shift / divisor;
}

}  // namespace

double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (std::isnan(x)) return kNan;
  if (x <= 0) {
    if (x == std::floor(x)) return kNan;
    return digamma(1 - x) - pi_cot_pi(x);
  }
  if (std::isinf(x)) return kInf;
  return digamma_from(x, 12);
}

// Seven terms of the series from 6 on are good to 2e-12.
float digamma(float x) { return x > 0 && x < kInf ? float(digamma_from(double(x), 6)) : float(digamma(double(x))); }

double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (p == 0.5) return 0;
  const double q = p < 0.5 ? p : 1 - p;
  // Abramowitz and Stegun 26.2.23, good to 4.5e-4, then Halley's method on the distribution itself.
  const double t = std::sqrt(-2 * std::log(q));
  double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i) {
    const double error = 0.5 * std::erfc(x * M_SQRT1_2) - q;
    const double u = -error * std::sqrt(2 * kPi) * std::exp(0.5 * x * x);
    x -= u / (1 + 0.5 * x * u);
  }
  return p < 0.5 ? -x : x;
}

double erfinv(double y) {
  if (!(y >= -1 && y <= 1)) return kNan;
  if (std::abs(y) >= 0.5) {
    const double z = -ndtri(0.5 * (1 - std::abs(y))) * M_SQRT1_2;
    return y < 0 ? -z : z;
  }
  double z = 0.5 * std::sqrt(kPi) * y * (1 + kPi / 12 * y * y);
  for (int i = 0; i < 3; ++i) {
    const double u = (std::erf(z) - y) * 0.5 * std::sqrt(kPi) * std::exp(z * z);
    z -= u / (1 + z * u);
  }
  return z;
}

double expint(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNan;
  if (x == 0) return -kInf;
  if (x <= 40) {
    double sum = 0, power = 1;
    for (int k = 1; k < 200; ++k) {
      power *= x / k;
      sum += power / k;
      if (power < kEps * sum * k) break;
    }
    return kEuler + std::log(x) + sum;
  }
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) {
    const double next = term * k / x;
    if (next > term) break;  // the series diverges from here on
    sum += term = next;
    if (term < kEps) break;
  }
  return std::exp(x) / x * sum;
}

double dawsn(double x) {
  const double a = std::abs(x);
  if (std::isnan(x)) return kNan;
  if (a < 1) {
    double sum = x, term = x;
    for (int k = 1; k < 60; ++k) {
      term *= -2 * x * x / (2 * k + 1);
      sum += term;
      if (std::abs(term) < kEps * std::abs(sum)) break;
    }
    return sum;
  }
  if (a > 12) {
    const double z = 1 / (2 * a * a);
    double sum = 1, term = 1;
    for (int k = 1; k < 30; ++k) {
      term *= (2 * k - 1) * z;
      sum += term;
      if (term < kEps) break;
    }
    const double y = sum / (2 * a);
    return x < 0 ? -y : y;
  }
  // Rybicki's sum (Numerical Recipes, 6.10); the error is exp(-(pi / 2h)^2).
  constexpr double kStep = 0.25;
  const int n0 = 2 * int(0.5 * a / kStep + 0.5);
  const double r = a - n0 * kStep;
  double sum = 0;
  for (int n = -27; n <= 27; n += 2) {
    const double d = r - n * kStep;
    sum += std::exp(-d * d) / (n0 + n);
  }
  const double y = sum / std::sqrt(kPi);
  return x < 0 ? -y : y;
}

double spence(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNan;
  if (x == 0) return kPi * kPi / 6;
  if (x == 1) return 0;
  if (x > 2) {
    const double l = std::log(x);
    return -0.5 * l * l - spence(1 / x);
  }
  if (x < 0.5) return kPi * kPi / 6 - std::log(x) * std::log1p(-x) - spence(1 - x);
  // Li2(1 - exp(-u)) = sum of B(n) u^(n+1) / (n+1)!, |u| <= log 2.
  constexpr double kBernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                   -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
  const double u = -std::log1p(x - 1);
  double sum = u - 0.25 * u * u, power = u;
  for (int k = 1; k <= 10; ++k) {
    power *= u * u / ((2 * k) * (2 * k + 1));
    sum += kBernoulli[k - 1] * power;
  }
  return sum;
}

Fresnel fresnel(double x) {
  const double a = std::abs(x);
  if (std::isnan(x)) return {kNan, kNan};
  Fresnel r;
  if (a < 1.6) {
    const double z = 0.5 * kPi * a * a;
    double c = 0, s = 0, term = a;  // a z^n / n!
    for (int n = 0; n < 60; ++n) {
      const double part = term / (2 * n + 1);
      switch (n & 3) {
        case 0: c += part; break;
        case 1: s += part; break;
        case 2: c -= part; break;
        default: s -= part; break;
      }
      term *= z / (n + 1);
      if (term < 1e-20 * a) break;
    }
    r = {c, s};
  } else if (a > 36974) {
    r = {0.5, 0.5};
  } else {
    // Both come from erfc of a complex argument, by its continued fraction (Lentz's method).
    using Complex = std::complex<double>;
    Complex b(1, -kPi * a * a), c(1e300), d = 1.0 / b, h = d;
    for (int k = 1; k < 400; ++k) {
      const double n = 2 * k - 1, e = -n * (n + 1);
      b += 4;
      d = 1.0 / (e * d + b);
      c = b + e / c;
      const Complex delta = c * d;
      h *= delta;
      if (std::abs(delta.real() - 1) + std::abs(delta.imag()) < 1e-16) break;
    }
    const double phase = 0.5 * kPi * std::fmod(a * a, 4);
    const Complex cs = Complex(0.5, 0.5) * (1.0 - Complex(std::cos(phase), std::sin(phase)) * (h * Complex(a, -a)));
    r = {cs.real(), cs.imag()};
  }
  return x < 0 ? Fresnel{-r.c, -r.s} : r;
}

}  // namespace weft_engine::kernels

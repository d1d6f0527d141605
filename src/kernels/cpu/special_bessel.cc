// Bessel functions of order 0 and 1. Power series near the origin; further out the asymptotic series
// (Abramowitz and Stegun 9.7.1) for I and Steed's continued fraction (Temme, 1975) for K. J and Y are
// those of the C library.
#include <cmath>
#include <limits>

#include "kernels/cpu/special_math.h"

namespace weft_engine::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kEuler = 0.57721566490153286061;
constexpr double kEps = 1e-17;

// I of order v at x >= 0: the sum of (x/2)^(2k+v) / (k! (k+v)!).
double series_i(int v, double x) {
  const double z = 0.25 * x * x;
  double term = v ? 0.5 * x : 1, sum = term;
  for (int k = 1; k < 200; ++k) {
    term *= z / (double(k) * (k + v));
    sum += term;
    if (term < kEps * sum) break;
  }
  return sum;
}

double scaled_i(int v, double x) {
  if (std::isnan(x)) return kNan;
  if (std::isinf(x)) return 0;
  if (x <= 20) return series_i(v, x) * std::exp(-x);
  double sum = 1, term = 1;
  const double mu = 4.0 * v * v;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1, next = -term * (mu - odd * odd) / (k * 8 * x);
    if (std::abs(next) > std::abs(term)) break;
    sum += term = next;
    if (std::abs(term) < kEps) break;
  }
  return sum / std::sqrt(2 * kPi * x);
}

// K0 and K1 at 0 < x <= 2 (Abramowitz and Stegun 9.6.11).
double series_k(int v, double x) {
  const double z = 0.25 * x * x, l = std::log(0.5 * x);
  double term = 1, psi = -kEuler, sum = 0;
  if (v == 0) {
    for (int k = 0; k < 60; ++k) {
      if (k) {
        term *= z / (double(k) * k);
        psi += 1.0 / k;
      }
      sum += term * (psi - l);
      if (term < kEps) break;
    }
    return sum;
  }
  double next = psi + 1;  // psi(k + 2)
  for (int k = 0; k < 60; ++k) {
    if (k) {
      term *= z / (double(k) * (k + 1));
      psi = next;
      next += 1.0 / (k + 1);
    }
    sum += term * (psi + next);
    if (term < kEps) break;
  }
  return 1 / x + l * series_i(1, x) - 0.25 * x * sum;
}

// exp(x) K of order v at x > 2.
double fraction_k(int v, double x) {
  double b = 2 * (1 + x), d = 1 / b, h = d, dh = d, q1 = 0, q2 = 1, a = -0.25, c = 0.25, q = c, s = 1 + q * dh;
  for (int i = 2; i < 1000; ++i) {
    a -= 2 * (i - 1);
    c = -a * c / i;
    const double qn = (q1 - b * q2) / a;
    q1 = q2;
    q2 = qn;
    q += c * qn;
    b += 2;
    d = 1 / (b + a * d);
    dh = (b * d - 1) * dh;
    h += dh;
    const double ds = q * dh;
    s += ds;
    if (std::abs(ds / s) < 1e-17) break;
  }
  const double k0 = std::sqrt(kPi / (2 * x)) / s;
  return v == 0 ? k0 : k0 * (x + 0.5 - 0.25 * h) / x;
}

double bessel_k(int v, double x, bool scaled) {
  if (std::isnan(x)) return kNan;
  if (x <= 0) return kInf;
  if (std::isinf(x)) return 0;
  if (x <= 2) return series_k(v, x) * (scaled ? std::exp(x) : 1);
  return fraction_k(v, x) * (scaled ? 1 : std::exp(-x));
}

}  // namespace

double bessel_i0e(double x) { return scaled_i(0, std::abs(x)); }
double bessel_i1e(double x) { return std::copysign(scaled_i(1, std::abs(x)), x); }
double bessel_i0(double x) { return bessel_i0e(x) * std::exp(std::abs(x)); }  // NaN at infinity, as in TensorFlow
double bessel_i1(double x) { return bessel_i1e(x) * std::exp(std::abs(x)); }
double bessel_k0e(double x) { return bessel_k(0, x, true); }
double bessel_k1e(double x) { return bessel_k(1, x, true); }
double bessel_k0(double x) { return bessel_k(0, x, false); }
double bessel_k1(double x) { return bessel_k(1, x, false); }
double bessel_j0(double x) { return std::isinf(x) ? kNan : ::j0(x); }
double bessel_j1(double x) { return std::isinf(x) ? kNan : ::j1(x); }
double bessel_y0(double x) { return x <= 0 ? -kInf : std::isinf(x) ? kNan : ::y0(x); }
double bessel_y1(double x) { return x <= 0 ? -kInf : std::isinf(x) ? kNan : ::y1(x); }

}  // namespace weft_engine::kernels

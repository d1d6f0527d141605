// Special functions of real numbers in double precision; float and half ops call them too. Results are
// right to a few units in the last place except near zeros of the function; outside its domain a function
// gives NaN or an infinity, the same that TensorFlow gives.
#pragma once

namespace weft_engine::kernels {

double digamma(double x);
double lgamma(double x);  // log |gamma(x)|; unlike std::lgamma, writes no global
double erfinv(double y);
double ndtri(double p);   // the quantile of the standard normal distribution

double expint(double x);  // Ei, for x > 0
double dawsn(double x);
double spence(double x);  // Li2(1 - x)
struct Fresnel {
  double c, s;
};
Fresnel fresnel(double x);

// The scaled ones are multiplied by exp(-|x|) (I) or exp(x) (K).
double bessel_i0e(double x);
double bessel_i1e(double x);
double bessel_k0e(double x);
double bessel_k1e(double x);
double bessel_i0(double x);
double bessel_i1(double x);
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);

double igamma(double a, double x);         // regularised, lower
double igammac(double a, double x);        // regularised, upper
double igamma_grad_a(double a, double x);  // d igamma / da
double zeta(double x, double q);           // Hurwitz
double polygamma(double n, double x);
double betainc(double a, double b, double x);  // regularised

}  // namespace weft_engine::kernels

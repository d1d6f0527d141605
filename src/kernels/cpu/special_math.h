// Special functions of real numbers in double precision; float and half ops call them too. Results are
// right to a few units in the last place except near zeros of the function; outside its domain a function
// gives NaN or an infinity, the same that TensorFlow gives.
#pragma once

namespace weft_engine::kernels {

double digamma(double x);
float digamma(float x);
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
float igamma(float a, float x);
float igammac(float a, float x);
double igamma_grad_a(double a, double x);  // d igamma / da
double zeta(double x, double q);           // Hurwitz
// (2k)! / B(2k): the tail of its sum, after Euler and Maclaurin.
inline constexpr double kZetaFactors[] = {12.0,
                                          -720.0,
                                          30240.0,
                                          -1209600.0,
                                          47900160.0,
                                          -1.8924375803183791606e9,
                                          7.47242496e10,
                                          -2.950130727918164224e12,
                                          1.1646782814350067249e14,
                                          -4.5979787224074726105e15,
                                          1.8152105401943546773e17,
                                          -7.1661652561756670113e18};
double polygamma(double n, double x);
double betainc(double a, double b, double x);  // regularised

}  // namespace weft_engine::kernels

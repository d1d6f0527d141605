// Inverse circular and hyperbolic functions, sinh, cosh, tan and quantiles of the normal distribution on a register of floats, right to about 3 units in the last place, with the special values of
// <cmath>. Include once, after vector_math.h. The polynomials are fits of the same kind as there.

namespace {

#if defined(WEFT_ISA_AVX512)
inline Floats vsqrt(Floats x) { return (Floats)_mm512_sqrt_ps((__m512)x); }
#elif defined(WEFT_ISA_AVX2)
inline Floats vsqrt(Floats x) { return (Floats)_mm256_sqrt_ps((__m256)x); }
#else
inline Floats vsqrt(Floats x) { return (Floats)_mm_sqrt_ps((__m128)x); }
#endif

// The parts of multiples of pi that a float cannot hold.
constexpr float kHalfPi = 1.57079637f, kHalfPiRest = -4.37113883e-8f, kWholePi = 3.14159274f, kWholePiRest = -8.74227766e-8f;

// For t in [0, 1]: above tan(pi / 8) the angle is pi / 4 and that of (t - 1) / (t + 1).
inline Floats atan_inside(Floats t) {
  const Ints upper = t > 0.414213562f;
  const Floats u = upper ? (t - 1.f) / (t + 1.f) : t, z = u * u;
  Floats p = z * -6.070072066e-02f + 1.059096962e-01f;
  p = p * z + -1.424320512e-01f;
  p = p * z + 1.999845754e-01f;
  p = p * z + -3.333331503e-01f;
  const Floats y = u + u * (z * p);
  return upper ? 0.785398185f + (y + -2.18556941e-8f) : y;
}

inline Floats vatan(Floats x) {
  const Floats a = absolute(x);
  const Ints above = a > 1.f;
  const Floats y = atan_inside(above ? 1.f / a : a);
  return with_sign_of(above ? (kHalfPi - y) + kHalfPiRest : y, x);
}

inline Floats vatan2(Floats y, Floats x) {
  const Floats ax = absolute(x), ay = absolute(y);
  const Ints steep = ay > ax;
  const Floats less = steep ? ax : ay, more = steep ? ay : ax;
  Floats t = less / more;
  t = more == 0.f ? all(0.f) : t;
  t = less == __builtin_inff() ? all(1.f) : t;
  Floats angle = atan_inside(t);
  angle = steep ? (kHalfPi - angle) + kHalfPiRest : angle;
  angle = (Ints)x < 0 ? (kWholePi - angle) + kWholePiRest : angle;  // by its sign bit: -0 is on the left
  return (x != x) | (y != y) ? x + y : with_sign_of(angle, y);
}

// For x in [0, 1]: asin(s), where s is x, or from 1/2 on sqrt((1 - x) / 2), of which asin(x) = pi / 2 - 2 asin(s).
inline Floats asin_part(Floats x, Ints upper) {
  const Floats z = upper ? (1.f - x) * 0.5f : x * x, s = upper ? vsqrt(z) : x;
  Floats p = z * 3.757815683e-02f + 1.439380563e-02f;
  p = p * z + 3.181981930e-02f;
  p = p * z + 4.451547101e-02f;
  p = p * z + 7.500512133e-02f;
  p = p * z + 1.666665985e-01f;
  return s + s * (z * p);
}

inline Floats vasin(Floats x) {
  const Floats a = absolute(x);
  const Ints upper = a > 0.5f;
  const Floats y = asin_part(a, upper);
  return with_sign_of(upper ? (kHalfPi - 2.f * y) + kHalfPiRest : y, x);
}

inline Floats vacos(Floats x) {
  const Floats a = absolute(x);
  const Ints upper = a > 0.5f;
  const Floats y = asin_part(a, upper);
  const Floats outer = x < 0.f ? (kWholePi - 2.f * y) + kWholePiRest : 2.f * y;
  return upper ? outer : (kHalfPi - with_sign_of(y, x)) + kHalfPiRest;
}

inline Floats vatanh(Floats x) {
  const Floats a = absolute(x), z = a * a;
  Floats p = z * 1.765347953e-01f + 2.401435944e-02f;
  p = p * z + 1.029969833e-01f;
  p = p * z + 1.096437788e-01f;
  p = p * z + 1.429508679e-01f;
  p = p * z + 1.999971858e-01f;
  p = p * z + 3.333333618e-01f;
  const Floats y = a < 0.5f ? a + a * (z * p) : 0.5f * vlog1p(2.f * a / (1.f - a));
  return with_sign_of(y, x);
}

// e^a / 2 for a >= 0: infinite only where sinh and cosh are.
inline Floats half_exp(Floats a) {
  ExpParts e = exp_parts(at_most(a, 90.f));
  e.n -= 1;
  e.count -= 1.f;
  return scale((e.tail + e.r) + 1.f, e);
}

inline Floats vsinh(Floats x) {
  const Floats a = absolute(x), z = a * a, e = half_exp(a);
  Floats p = z * 2.817502014e-06f + 1.983605576e-04f;
  p = p * z + 8.333350650e-03f;
  p = p * z + 1.666666649e-01f;
  return with_sign_of(a < 1.f ? a + a * (z * p) : e - 0.25f / e, x);
}

inline Floats vcosh(Floats x) {
  const Floats e = half_exp(absolute(x));
  return e + 0.25f / e;
}

inline Floats vtan(Floats x) {
  const Trig t = trig(x);
  const Ints even = (t.n & 1) == 0;
  return x == 0.f ? x : (even ? t.sin : -t.cos) / (even ? t.cos : t.sin);
}

// The inverse of erf at x is x times a smooth function of w = -log(1 - x^2); from w = 16 on, where x is 1 but for rounding, a function of w alone.
inline Floats erfinv_from(Floats x, Floats w) {
  const Floats a = w - 2.5f, s = vsqrt(w), b = s - 3.f, c = s - 7.f;
  Floats p = a * -8.791192331e-09f + 2.323254215e-08f, q = b * 1.275360975e-04f + -3.180412054e-04f, r = c * -2.581233343e-09f + 1.553680609e-08f;
  p = p * a + 4.661724986e-07f, q = q * b + -7.438004387e-05f, r = r * c + -3.813062819e-08f;
  p = p * a + -3.462703481e-06f, q = q * b + 1.495078125e-03f, r = r * c + 2.494263022e-07f;
  p = p * a + -4.963355836e-06f, q = q * b + -3.588185110e-03f, r = r * c + -1.705685966e-06f;
  p = p * a + 2.183444347e-04f, q = q * b + 5.683431981e-03f, r = r * c + 6.289082290e-06f;
  p = p * a + -1.252741867e-03f, q = q * b + -7.639169604e-03f, r = r * c + 6.482581143e-06f;
  p = p * a + -4.177386776e-03f, q = q * b + 9.445659727e-03f, r = r * c + -5.129417425e-04f;
  p = p * a + 2.466402862e-01f, q = q * b + 1.001675074e+00f, r = r * c + 1.008595489e+00f;
  p = p * a + 1.501409359e+00f, q = q * b + 2.832976796e+00f, r = r * c + 6.869019706e+00f;
  return w < 16.f ? x * (w < 5.f ? p : q) : with_sign_of(r, x);
}

inline Floats verfinv(Floats x) {
  const Floats y = erfinv_from(x, -vlog((1.f - x) * (x + 1.f)));
  return absolute(x) == 1.f ? with_sign_of(all(__builtin_inff()), x) : y;
}

// sqrt(2) erfinv(2 p - 1).
inline Floats vndtri(Floats p) {
  const Floats x = 2.f * p - 1.f, w = -(vlog(p) + vlog(4.f - 4.f * p));
  const Floats y = 1.41421356f * erfinv_from(x, w);
  return (p == 0.f) | (p == 1.f) ? with_sign_of(all(__builtin_inff()), x) : y;
}

}  // namespace

// exp, log, tanh and friends on a register of floats, right to about 2 units in the last place, with the
// special values of <cmath>. Include once, between isa_begin.h and isa_end.h: the width of a register
// depends on the instruction set. No guard for that reason. The file that includes it includes
// intrinsics.h before isa_begin.h.
//
// The polynomials and quotients are least-squares fits, reweighted towards equal ripples; the reductions
// are the textbook ones (Muller, Elementary Functions, chapter 11).

#if defined(WEFT_ISA_AVX512)
#define WEFT_VECTOR_BYTES 64
#elif defined(WEFT_ISA_AVX2)
#define WEFT_VECTOR_BYTES 32
#else
#define WEFT_VECTOR_BYTES 16
#endif

namespace {

typedef float Floats __attribute__((vector_size(WEFT_VECTOR_BYTES)));
typedef int32_t Ints __attribute__((vector_size(WEFT_VECTOR_BYTES)));
typedef uint32_t Bits __attribute__((vector_size(WEFT_VECTOR_BYTES)));  // where a NaN may make it wrap around
constexpr int kLanes = WEFT_VECTOR_BYTES / 4;
#undef WEFT_VECTOR_BYTES

inline Floats all(float x) { return Floats{} + x; }
inline Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Floats v) { __builtin_memcpy(p, &v, sizeof v); }
inline Floats absolute(Floats x) { return (Floats)((Ints)x & 0x7fffffff); }
inline Floats with_sign_of(Floats magnitude, Floats sign) { return (Floats)(((Ints)magnitude & 0x7fffffff) | ((Ints)sign & int32_t(0x80000000))); }
// The first n of a register, n in [1, kLanes]; the other lanes hold `rest`.
inline Floats load_part(const float* p, int64_t n, float rest) {
#if defined(WEFT_ISA_AVX512)
  return (Floats)_mm512_mask_loadu_ps(_mm512_set1_ps(rest), __mmask16((1u << n) - 1), p);
#else
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = i < n ? p[i] : rest;
  return load(lanes);
#endif
}
inline void store_part(float* p, Floats v, int64_t n) {
#if defined(WEFT_ISA_AVX512)
  _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), (__m512)v);
#else
  float lanes[kLanes];
  store(lanes, v);
  __builtin_memcpy(p, lanes, size_t(n) * 4);
#endif
}
// join is applied to halves, and to halves of halves; the result stands in every lane.
template <class F>
inline Floats across(Floats v, F join) {
#if defined(WEFT_ISA_AVX512)
  v = join(v, (Floats)_mm512_shuffle_f32x4((__m512)v, (__m512)v, 0x4e));
  v = join(v, (Floats)_mm512_shuffle_f32x4((__m512)v, (__m512)v, 0xb1));
  v = join(v, (Floats)_mm512_permute_ps((__m512)v, 0x4e));
  return join(v, (Floats)_mm512_permute_ps((__m512)v, 0xb1));
#elif defined(WEFT_ISA_AVX2)
  v = join(v, (Floats)_mm256_permute2f128_ps((__m256)v, (__m256)v, 1));
  v = join(v, (Floats)_mm256_permute_ps((__m256)v, 0x4e));
  return join(v, (Floats)_mm256_permute_ps((__m256)v, 0xb1));
#else
  v = join(v, (Floats)_mm_shuffle_ps((__m128)v, (__m128)v, 0x4e));
  return join(v, (Floats)_mm_shuffle_ps((__m128)v, (__m128)v, 0xb1));
#endif
}
// NaN stays: the instructions give their second operand then.
#if defined(WEFT_ISA_AVX512)
inline Floats at_most(Floats x, float limit) { return (Floats)_mm512_min_ps(_mm512_set1_ps(limit), (__m512)x); }
inline Floats at_least(Floats x, float limit) { return (Floats)_mm512_max_ps(_mm512_set1_ps(limit), (__m512)x); }
#elif defined(WEFT_ISA_AVX2)
inline Floats at_most(Floats x, float limit) { return (Floats)_mm256_min_ps(_mm256_set1_ps(limit), (__m256)x); }
inline Floats at_least(Floats x, float limit) { return (Floats)_mm256_max_ps(_mm256_set1_ps(limit), (__m256)x); }
#else
inline Floats at_most(Floats x, float limit) { return (Floats)_mm_min_ps(_mm_set1_ps(limit), (__m128)x); }
inline Floats at_least(Floats x, float limit) { return (Floats)_mm_max_ps(_mm_set1_ps(limit), (__m128)x); }
#endif

// 2^n as a float, for n in [-126, 127].
inline Floats power_of_two(Ints n) { return (Floats)(((Bits)n + 127u) << 23); }

// x = n ln2 + r with |r| <= ln2 / 2, and q with exp(r) = 1 + r + r^2 q(r).
struct ExpParts {
  Ints n;
  Floats count;  // n as a float
  Floats r, tail;  // tail = r^2 q(r)
};
// `low` is what x lacks of the number meant.
inline ExpParts exp_parts(Floats x, Floats low = Floats{}) {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  constexpr float kShift = 12582912.f;
  const Floats shifted = x * 1.44269504f + kShift;
  ExpParts p;
  p.n = (Ints)((Bits)shifted - (Bits)all(kShift));
  p.count = shifted - kShift;
  // ln2 in two parts, the first short enough for n * part to be exact.
  p.r = (x - p.count * 0.693359375f) + (p.count * 2.12194440e-4f + low);
  Floats q = p.r * 1.985779771e-04f + 1.393360440e-03f;
  q = q * p.r + 8.333360729e-03f;
  q = q * p.r + 4.166646547e-02f;
  q = q * p.r + 1.666666653e-01f;
  q = q * p.r + 5.000000013e-01f;
  p.tail = q * (p.r * p.r);
  return p;
}
// y 2^n for n beyond the exponents of floats: one instruction, or two steps.
inline Floats scale(Floats y, const ExpParts& p) {
#if defined(WEFT_ISA_AVX512)
  return (Floats)_mm512_scalef_ps((__m512)y, (__m512)p.count);
#else
  const Ints half = p.n >> 1;
  return y * power_of_two(half) * power_of_two(p.n - half);
#endif
}

inline Floats vexp(Floats x) {
  x = at_least(at_most(x, 89.f), -104.f);  // infinite, or zero, from there on
  const ExpParts p = exp_parts(x);
  return scale((p.tail + p.r) + 1.f, p);
}

// For |x| < 80, where neither end of the range of floats is near.
inline Floats exp_inside(Floats x) {
  const ExpParts p = exp_parts(x);
  return ((p.tail + p.r) + 1.f) * power_of_two(p.n);
}

inline Floats vexpm1(Floats x) {
  const Floats in = x;
  x = at_least(at_most(x, 89.f), -20.f);
  const ExpParts p = exp_parts(x);
  // 2^n (e^r - 1 + (1 - 2^-n)): nothing is lost for small x, where n is 0.
  const Ints n = p.n > 100 ? (p.n & 0) + 100 : p.n;
  const Floats y = (p.tail + p.r) + (1.f - power_of_two((Ints)(0u - (Bits)n)));
  const Floats e = scale(y, p);
  return in == 0.f ? in : e;  // keeps -0
}

inline Floats vlog(Floats x) {
  const Floats in = x;
  const Ints tiny = x < 1.17549435e-38f;
  x = tiny ? x * 8388608.f : x;
  // x = 2^e m, m in [sqrt(1/2), sqrt(2)).
  const Ints bits = (Ints)((Bits)x - 0x3f3504f3u);
  const Ints e = (bits >> 23) + (tiny & -23);
  const Floats f = (Floats)((bits & 0x007fffff) + 0x3f3504f3) - 1.f;
  // log(1 + f) = 2 atanh(s), s = f / (2 + f), arranged so that f itself is added last.
  const Floats s = f / (f + 2.f), z = s * s;
  const Floats r = z * (z * (z * (z * 0.24279078841f + 0.28498786688f) + 0.40000972152f) + 0.66666662693f);
  const Floats half_square = 0.5f * f * f, count = __builtin_convertvector(e, Floats);
  const Floats low = s * (half_square + r) + count * -2.12194440e-4f;
  Floats y = count * 0.693359375f - ((half_square - low) - f);
  y = in == 0.f ? all(-__builtin_inff()) : y;
  y = in < 0.f ? all(__builtin_nanf("")) : y;
  y = in == __builtin_inff() ? in : y;
  return in != in ? in : y;
}

inline Floats vlog1p(Floats x) {
  const Floats u = x + 1.f;
  // The logarithm of u, and what rounding u has cost.
  const Floats y = vlog(u) + (x - (u - 1.f)) / u;
  const Ints plain = (u == 0.f) | (u == __builtin_inff());
  const Floats z = plain ? vlog(u) : y;
  return absolute(x) < 1e-8f ? x : z;
}

// x P(x^2) / Q(x^2); 1 from the limit on.
inline Floats vtanh(Floats x) {
  x = at_least(at_most(x, 9.02f), -9.02f);
  const Floats z = x * x;
  Floats p = z * 2.059710802e-08f + 3.183037552e-05f;
  Floats q = z * 1.200333941e-06f + 5.076943780e-04f;
  p = p * z + 5.403107032e-03f;
  q = q * z + 4.000635073e-02f;
  p = p * z + 2.068998814e-01f;
  q = q * z + 7.223548889e-01f;
  p = p * z + 1.546365738e+00f;
  q = q * z + 1.546365738e+00f;
  return at_least(at_most(x * p / q, 1.f), -1.f);
}

inline Floats vsigmoid(Floats x) {
  const Floats s = vexp(-absolute(x));
  return (x < 0.f ? s : all(1.f)) / (s + 1.f);
}

inline Floats verf(Floats x) {
  x = at_least(at_most(x, 3.92f), -3.92f);
  const Floats z = x * x;
  Floats p = z * 2.307057457e-06f + 3.205744433e-04f;
  Floats q = z * 4.286541298e-05f + 1.308128471e-03f;
  p = p * z + 4.237130750e-03f;
  q = q * z + 1.684431732e-02f;
  p = p * z + 5.935769528e-02f;
  q = q * z + 1.284049153e-01f;
  p = p * z + 2.142582238e-01f;
  q = q * z + 5.649851561e-01f;
  p = p * z + 1.269780040e+00f;
  q = q * z + 1.125313282e+00f;
  return at_least(at_most(x * p / q, 1.f), -1.f);
}

// exp(-x^2) P(x) / Q(x) for positive x, the same all the way down to the least float.
inline Floats verfc(Floats x) {
  const Floats a = at_most(absolute(x), 10.1f), square = a * a;
#if defined(WEFT_ISA_AVX512)
  const Floats lost = (Floats)_mm512_fnmadd_ps((__m512)a, (__m512)a, (__m512)square);
#elif defined(WEFT_ISA_AVX2)
  const Floats lost = (Floats)_mm256_fnmadd_ps((__m256)a, (__m256)a, (__m256)square);
#else
  const Floats high = (Floats)((Ints)a & int32_t(0xfffff000)), rest = a - high;
  const Floats lost = ((square - high * high) - 2.f * high * rest) - rest * rest;
#endif
  const ExpParts e = exp_parts(-square, lost);
  Floats p = a * 4.808708653e-02f + 3.360841870e-01f;
  Floats q = a * 8.523111790e-02f + 5.957323909e-01f;
  p = p * a + 1.072679043e+00f;
  q = q * a + 1.943258405e+00f;
  p = p * a + 1.815742254e+00f;
  q = q * a + 3.522126436e+00f;
  p = p * a + 1.466165423e+00f;
  q = q * a + 3.470133543e+00f;
  q = q * a + 1.466165423e+00f;
  const Floats y = scale(((e.tail + e.r) + 1.f) * p / q, e);
  return x < 0.f ? 2.f - y : y;
}

// An estimate and one step of Householder's method of the third order.
inline Floats vrsqrt(Floats x) {
#if defined(WEFT_ISA_AVX512)
  const Floats y = (Floats)_mm512_rsqrt14_ps((__m512)x);
  const Floats e = 1.f - (x * y) * y;
  const Floats better = y + (y * e) * (e * 0.375f + 0.5f);
  return (y == 0.f) | (absolute(y) == __builtin_inff()) ? y : better;  // of infinity and of zero
#else
  Floats root = x;
  for (int i = 0; i < kLanes; ++i) root[i] = __builtin_sqrtf(x[i]);
  return 1.f / root;
#endif
}

// sin and cos together: x = n pi/2 + r, |r| <= pi/4. pi/2 in four parts, three of them so short that
// n * part is exact for |x| <= kTrigLimit.
constexpr float kTrigLimit = 8192.f;
struct Trig {
  Ints n;
  Floats sin, cos;  // of r
};
inline Trig trig(Floats x) {
  constexpr float kShift = 12582912.f;
  const Floats shifted = x * 0.636619772f + kShift, count = shifted - kShift;
  const Floats a = x - count * 1.5703125f;
  const Floats second = count * 0.0004837512969970703f, b = a - second;
  const Floats third = count * 7.549533620476723e-08f, c = b - third;
  // What rounding b and c has cost, and the rest of pi/2.
  const Floats lost = ((a - b) - second) + ((b - c) - third);
  const Floats r = c + (lost - count * 2.563344151594519e-12f);
  const Floats z = r * r;
  Floats s = z * 2.724879734e-06f + -1.984007722e-04f;
  s = s * z + 8.333331855e-03f;
  s = s * z + -1.666666666e-01f;
  Floats q = z * -2.730017373e-07f + 2.480059388e-05f;
  q = q * z + -1.388888766e-03f;
  q = q * z + 4.166666666e-02f;
  return {(Ints)((Bits)shifted - (Bits)all(kShift)), r + r * (z * s), 1.f + z * (z * q - 0.5f)};
}
inline Floats flip_sign(Floats x, Ints if_set) { return (Floats)((Bits)x ^ ((Bits)if_set << 30)); }  // by bit 1
inline Floats vsin(Floats x) {
  const Trig t = trig(x);
  return x == 0.f ? x : flip_sign((t.n & 1) == 0 ? t.sin : t.cos, t.n & 2);
}
inline Floats vcos(Floats x) {
  const Trig t = trig(x);
  return flip_sign((t.n & 1) == 0 ? t.cos : t.sin, (t.n + 1) & 2);
}

inline Floats vsoftplus(Floats x) {
  const Floats larger = x > 0.f ? x : x * 0.f;  // 0 for negative x; -inf * 0 is repaired below
  const Floats y = vlog1p(vexp(-absolute(x)));
  return (x == -__builtin_inff() ? all(0.f) : larger) + y;
}

// In a register where some element is too large for trig(), or NaN, one element after the other.
template <Floats (*f)(Floats), float (*exact)(float)>
inline Floats within_trig_limit(Floats x) {
  const Ints outside = !(absolute(x) <= kTrigLimit);
  int32_t lanes[kLanes];
  __builtin_memcpy(lanes, &outside, sizeof lanes);
  int32_t any = 0;
  for (int i = 0; i < kLanes; ++i) any |= lanes[i];
  Floats y = f(x);
  if (any) [[unlikely]] {
    float in[kLanes], out[kLanes];
    store(in, x);
    store(out, y);
    for (int i = 0; i < kLanes; ++i) {
      if (lanes[i]) out[i] = exact(in[i]);
    }
    y = load(out);
  }
  return y;
}

// out[i] = f(in[i]); the tail goes through a whole register too, so that an element's bits do not depend
// on where it stands.
template <Floats (*f)(Floats)>
void map_floats(const void* vin, void* vout, int64_t n) {
  const float* in = static_cast<const float*>(vin);
  float* out = static_cast<float*>(vout);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, f(load(in + i)));
  if (i < n) {
    float rest[kLanes] = {};
    __builtin_memcpy(rest, in + i, size_t(n - i) * 4);
    store(rest, f(load(rest)));
    __builtin_memcpy(out + i, rest, size_t(n - i) * 4);
  }
}

}  // namespace

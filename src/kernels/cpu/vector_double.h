// log and tanh on a register of doubles, right to about 3 units in the last place, with the special values of <cmath>. Include once, after vector_math.h.

namespace {

typedef double Doubles __attribute__((vector_size(sizeof(Floats))));
typedef int64_t Longs __attribute__((vector_size(sizeof(Floats))));
typedef uint64_t LongBits __attribute__((vector_size(sizeof(Floats))));
constexpr int kDoubleLanes = sizeof(Floats) / 8;
constexpr double kLn2High = 0.693147180369123816490, kLn2Low = 1.90821492927058770002e-10;  // count * high is exact

inline Doubles every(double x) { return Doubles{} + x; }

inline Doubles vlog(Doubles x) {
  const Doubles in = x;
  const Longs tiny = x < 2.2250738585072014e-308;
  x = tiny ? x * 18014398509481984.0 : x;
  // x = 2^e m, m in [sqrt(1/2), sqrt(2)); e becomes a double by way of the bits of 2^52 + e.
  const LongBits bits = (LongBits)x + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  Doubles count = (Doubles)((bits >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  count = tiny ? count - 54.0 : count;
  const Doubles f = (Doubles)((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
  // As vlog of floats.
  const Doubles s = f / (f + 2.0), z = s * s;
  Doubles r = z * 1.48891590355649694e-01 + 1.53031127869141526e-01;
  r = r * z + 1.81840722342030914e-01;
  r = r * z + 2.22221868213610257e-01;
  r = r * z + 2.85714288820118789e-01;
  r = r * z + 3.99999999986362764e-01;
  r = r * z + 6.66666666666688834e-01;
  r = r * z;
  const Doubles half_square = 0.5 * f * f;
  const Doubles low = s * (half_square + r) + count * kLn2Low;
  Doubles y = count * kLn2High - ((half_square - low) - f);
  y = in == 0.0 ? every(-__builtin_inf()) : y;
  y = in < 0.0 ? every(__builtin_nan("")) : y;
  y = in == __builtin_inf() ? in : y;
  return in != in ? in : y;
}

// e / (e + 2), e = exp(2 |x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1), which loses nothing for small x.
inline Doubles vtanh(Doubles x) {
  const Doubles given = (Doubles)((Longs)x & 0x7fffffffffffffff), a = 2.0 * (given < 22.0 ? given : every(22.0));  // 1 from there on
  constexpr double kShift = 6755399441055744.0;  // adding 1.5 * 2^52 leaves the nearest integer in the low bits
  const Doubles shifted = a * 1.4426950408889634 + kShift, count = shifted - kShift;
  const Doubles r = (a - count * kLn2High) - count * kLn2Low;
  Doubles q = r * (1.0 / 6227020800) + 1.0 / 479001600;  // 1 / 13!, 1 / 12!
  q = q * r + 1.0 / 39916800;
  q = q * r + 1.0 / 3628800;
  q = q * r + 1.0 / 362880;
  q = q * r + 1.0 / 40320;
  q = q * r + 1.0 / 5040;
  q = q * r + 1.0 / 720;
  q = q * r + 1.0 / 120;
  q = q * r + 1.0 / 24;
  q = q * r + 1.0 / 6;
  q = q * r + 0.5;
  const Doubles power = (Doubles)((((LongBits)shifted - (LongBits)every(kShift)) + 1023u) << 52);
  const Doubles e = power * (r + q * (r * r)) + (power - 1.0);
  const Doubles y = (Doubles)((LongBits)(e / (e + 2.0)) | ((LongBits)x & 0x8000000000000000u));
  return x != x ? x : y;
}

// out[i] = f(in[i]), the tail through a whole register, as map_floats.
template <Doubles (*f)(Doubles)>
void map_doubles(const void* vin, void* vout, int64_t n) {
  const double* in = static_cast<const double*>(vin);
  double* out = static_cast<double*>(vout);
  Doubles v;
  int64_t i = 0;
  for (; i + kDoubleLanes <= n; i += kDoubleLanes) {
    __builtin_memcpy(&v, in + i, sizeof v);
    v = f(v);
    __builtin_memcpy(out + i, &v, sizeof v);
  }
  if (i < n) {
    v = Doubles{};
    __builtin_memcpy(&v, in + i, size_t(n - i) * 8);
    v = f(v);
    __builtin_memcpy(out + i, &v, size_t(n - i) * 8);
  }
}

}  // namespace

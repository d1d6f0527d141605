#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/softmax.h"
#include "kernels/cpu/isa_begin.h"

namespace {

#if defined(WEFT_ISA_AVX512)
constexpr int kBytes = 64;
#elif defined(WEFT_ISA_AVX2)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
typedef float V __attribute__((vector_size(kBytes)));
typedef float L __attribute__((vector_size(kBytes), aligned(4), may_alias));
typedef int32_t I __attribute__((vector_size(kBytes)));
constexpr int N = kBytes / 4;

// exp with about one unit of error in the last place: x = k ln 2 + r, a polynomial for exp(r), and 2^k in
// two halves so that results below the normal range come out right. NaN stays NaN.
inline __attribute__((always_inline)) V exp_vector(V x) {
  x = x < -105.f ? V{} - 105.f : x;
  x = x > 89.f ? V{} + 89.f : x;
  const V magic = V{} + 12582912.f;  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = x * 1.44269504088896341f + magic;
  const V k = shifted - magic;
  V r = x - k * 0.693359375f;
  r = r - k * -2.12194440e-4f;
  V p = V{} + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.f;
  const I n = I(shifted) - I(magic);
  const I half = n >> 1, rest = n - half;
  return p * V((half + 127) << 23) * V((rest + 127) << 23);
}

inline float lanes_sum(V v) {
  float lanes[N];
  std::memcpy(lanes, &v, sizeof lanes);
  for (int h = N / 2; h; h /= 2) {
    for (int i = 0; i < h; ++i) lanes[i] += lanes[i + h];
  }
  return lanes[0];
}

template <bool store>
float exp_all(const float* x, float shift, float* y, int64_t n) {
  V s0 = {}, s1 = {};
  int64_t i = 0;
  for (; i + 2 * N <= n; i += 2 * N) {
    const V a = exp_vector(*reinterpret_cast<const L*>(x + i) - shift), b = exp_vector(*reinterpret_cast<const L*>(x + i + N) - shift);
    if (store) *reinterpret_cast<L*>(y + i) = a, *reinterpret_cast<L*>(y + i + N) = b;
    s0 += a, s1 += b;
  }
  // The rest goes through the same arithmetic, filled up with numbers whose exp is zero.
  while (i < n) {
    const int64_t m = std::min<int64_t>(N, n - i);
    float buffer[N];
    std::fill_n(buffer, N, -std::numeric_limits<float>::infinity());
    for (int64_t j = 0; j < m; ++j) buffer[j] = x[i + j] - shift;
    V v;
    std::memcpy(&v, buffer, sizeof v);
    v = exp_vector(v);
    std::memcpy(buffer, &v, sizeof v);
    for (int64_t j = m; j < N; ++j) buffer[j] = 0;
    if (store) std::memcpy(y + i, buffer, size_t(m) * 4);
    std::memcpy(&v, buffer, sizeof v);
    s0 += v;
    i += m;
  }
  return lanes_sum(s0 + s1);
}

}  // namespace

float max_row(const float* x, int64_t n) {
  float best = -std::numeric_limits<float>::infinity();
  int64_t i = 0;
  if (n >= N) {
    V m = *reinterpret_cast<const L*>(x);
    for (i = N; i + N <= n; i += N) {
      const V v = *reinterpret_cast<const L*>(x + i);
      m = ((v > m) | (v != v)) ? v : m;
    }
    float lanes[N];
    std::memcpy(lanes, &m, sizeof lanes);
    for (float v : lanes) best = v > best || v != v ? v : best;
  }
  for (; i < n; ++i) best = x[i] > best || x[i] != x[i] ? x[i] : best;
  return best;
}

float exp_row(const float* x, float shift, float* y, int64_t n) { return y ? exp_all<true>(x, shift, y, n) : exp_all<false>(x, shift, y, n); }

void scale_row(float* y, float factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

void shift_row(const float* x, float shift, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - shift;
}

#include "kernels/cpu/isa_end.h"

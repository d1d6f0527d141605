#include "kernels/cpu/intrinsics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/softmax.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"

namespace {

inline Floats larger(Floats a, Floats b) {  // b where one of them is NaN
#if defined(WEFT_ISA_AVX512)
  return (Floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(WEFT_ISA_AVX2)
  return (Floats)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return (Floats)_mm_max_ps((__m128)a, (__m128)b);
#endif
}

// Not lambdas: g++ forgets the instruction set in them.
struct Sum {
  Floats operator()(Floats a, Floats b) const { return a + b; }
};
struct Max {
  Floats operator()(Floats a, Floats b) const { return larger(a, b); }
};
inline Floats sum_across(Floats v) { return across(v, Sum{}); }
inline Floats max_across(Floats v) { return across(v, Max{}); }

constexpr float kLowest = -std::numeric_limits<float>::infinity();  // its exp is zero

template <bool keep>
Floats exp_all(const float* x, Floats shift, float* y, int64_t n) {
  Floats s0 = {}, s1 = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Floats a = vexp(load(x + i) - shift), b = vexp(load(x + i + kLanes) - shift);
    if (keep) store(y + i, a), store(y + i + kLanes, b);
    s0 += a, s1 += b;
  }
  for (; i < n; i += kLanes) {
    const int64_t m = std::min<int64_t>(kLanes, n - i);
    const Floats v = vexp(load_part(x + i, m, kLowest) - shift);
    if (keep) store_part(y + i, v, m);
    s0 += v;
  }
  return sum_across(s0 + s1);
}

Floats max_all(const float* x, int64_t n) {
  Floats a = all(kLowest), b = a;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    a = larger(a, load(x + i));
    b = larger(b, load(x + i + kLanes));
  }
  for (; i < n; i += kLanes) a = larger(a, load_part(x + i, std::min<int64_t>(kLanes, n - i), kLowest));
  return max_across(larger(a, b));
}

// Rows of at most `count` registers, kept there from the load to the store. A NaN makes the sum NaN, and so
// the whole row, whatever the maximum says.
template <int count>
void short_rows(const float* x, float* y, int64_t rows, int64_t n) {
  const int64_t rest = n - (count - 1) * kLanes;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    Floats v[count];
    for (int i = 0; i + 1 < count; ++i) v[i] = load(x + i * kLanes);
    v[count - 1] = rest == kLanes ? load(x + (count - 1) * kLanes) : load_part(x + (count - 1) * kLanes, rest, kLowest);
    Floats max = v[0];
    for (int i = 1; i < count; ++i) max = larger(max, v[i]);
    max = max_across(max);
    Floats sum = {};
    for (int i = 0; i < count; ++i) {
      v[i] = vexp(v[i] - max);
      sum += v[i];
    }
    const Floats factor = 1.f / sum_across(sum);
    for (int i = 0; i + 1 < count; ++i) store(y + i * kLanes, v[i] * factor);
    if (rest == kLanes) store(y + (count - 1) * kLanes, v[count - 1] * factor);
    else store_part(y + (count - 1) * kLanes, v[count - 1] * factor, rest);
  }
}

}  // namespace

float max_row(const float* x, int64_t n) { return max_all(x, n)[0]; }

float exp_row(const float* x, float shift, float* y, int64_t n) {
  return (y ? exp_all<true>(x, all(shift), y, n) : exp_all<false>(x, all(shift), y, n))[0];
}

void scale_row(float* y, float factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

void softmax_floats(const float* x, float* y, int64_t rows, int64_t n) {
  switch ((n + kLanes - 1) / kLanes) {
    case 1: return short_rows<1>(x, y, rows, n);
    case 2: return short_rows<2>(x, y, rows, n);
    case 3: return short_rows<3>(x, y, rows, n);
    case 4: return short_rows<4>(x, y, rows, n);
    case 5: return short_rows<5>(x, y, rows, n);
    case 6: return short_rows<6>(x, y, rows, n);
    case 7: return short_rows<7>(x, y, rows, n);
    case 8: return short_rows<8>(x, y, rows, n);
    default: break;
  }
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const Floats sum = exp_all<true>(x, max_all(x, n), y, n);
    scale_row(y, 1 / sum[0], n);
  }
}

void shift_row(const float* x, float shift, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - shift;
}

#include "kernels/cpu/isa_end.h"

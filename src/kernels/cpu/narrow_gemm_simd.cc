// Few rows of floats times a matrix of half or bfloat16 numbers: the time goes into reading the matrix, so it is read as it is and widened in
// registers. Sums are of floats.
#include "kernels/cpu/intrinsics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/float_types.h"
#include "kernels/cpu/narrow_gemm.h"
#include "kernels/cpu/isa_begin.h"

namespace {

#if defined(WEFT_ISA_AVX512)
constexpr int kBytes = 64, kRows = 6, kSteps = 4;
#elif defined(WEFT_ISA_AVX2)
constexpr int kBytes = 32, kRows = 4, kSteps = 4;
#else
constexpr int kBytes = 16, kRows = 4, kSteps = 4;
#endif
constexpr int N = kBytes / 4;
typedef float Floats __attribute__((vector_size(kBytes)));
typedef uint32_t Words __attribute__((vector_size(kBytes)));
typedef uint16_t Shorts __attribute__((vector_size(kBytes / 2)));
typedef float Loose __attribute__((vector_size(kBytes), aligned(4), may_alias));

template <bool kHalf>
inline float widen_one(uint16_t x) {
  if constexpr (kHalf) return core::detail::half_to_float(x);
  else return std::bit_cast<float>(uint32_t(x) << 16);
}

template <bool kHalf>
inline Floats load(const uint16_t* p) {
  if constexpr (kHalf) {
#if defined(WEFT_ISA_AVX512)
    return Floats(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif defined(WEFT_ISA_AVX2)
    return Floats(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
    Floats f;
    for (int i = 0; i < N; ++i) f[i] = core::detail::half_to_float(p[i]);
    return f;
#endif
  } else {
#if defined(WEFT_ISA_AVX512)
    return Floats(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
#elif defined(WEFT_ISA_AVX2)
    return Floats(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
#else
    Shorts s;
    std::memcpy(&s, p, sizeof s);
    return Floats(__builtin_convertvector(s, Words) << 16);  // the same bits
#endif
  }
}

// R rows of C += S rows of B, along all columns: B is read from front to back, in S streams, while C stays in the first cache.
template <bool kHalf, int R, int S>
__attribute__((noinline)) void sweep(const NarrowTask& t, int64_t row, int64_t k, int64_t begin, int64_t end) {
  const uint16_t* b = t.b + k * t.ldb;
  float* c = t.c + row * t.n;
  float x[R][S];
  for (int i = 0; i < R; ++i) {
    for (int s = 0; s < S; ++s) x[i][s] = t.a[(row + i) * t.k + k + s];
  }
  int64_t j = begin;
  for (; j + N <= end; j += N) {
    Floats y[S];
#pragma GCC unroll 8
    for (int s = 0; s < S; ++s) y[s] = load<kHalf>(b + s * t.ldb + j);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      Loose* at = reinterpret_cast<Loose*>(c + i * t.n + j);
      Floats sum = *at;
#pragma GCC unroll 8
      for (int s = 0; s < S; ++s) sum += x[i][s] * y[s];
      *at = sum;
    }
  }
  for (; j < end; ++j) {
    for (int i = 0; i < R; ++i) {
      for (int s = 0; s < S; ++s) c[i * t.n + j] += x[i][s] * widen_one<kHalf>(b[s * t.ldb + j]);
    }
  }
}

using Sweep = void (*)(const NarrowTask&, int64_t, int64_t, int64_t, int64_t);
template <bool kHalf, int S, int... R>
constexpr auto sweeps_of(std::integer_sequence<int, R...>) {
  return std::array<Sweep, sizeof...(R)>{&sweep<kHalf, R + 1, S>...};
}
template <bool kHalf, int S>
constexpr auto sweeps = sweeps_of<kHalf, S>(std::make_integer_sequence<int, kRows>{});

template <bool kHalf>
void straight(const NarrowTask& t, int64_t begin, int64_t end) {
  for (int64_t i = 0; i < t.m; ++i) std::fill(t.c + i * t.n + begin, t.c + i * t.n + end, 0.f);
  const int64_t parts = (t.m + kRows - 1) / kRows, whole = t.k / kSteps * kSteps;
  for (int64_t k = 0; k < t.k; k += k < whole ? kSteps : 1) {
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t i = t.m * part / parts;
      const size_t rows = size_t(t.m * (part + 1) / parts - i);
      (k < whole ? sweeps<kHalf, kSteps>[rows - 1] : sweeps<kHalf, 1>[rows - 1])(t, i, k, begin, end);
    }
  }
}

// R rows by J columns of a B that is stored along k.
template <bool kHalf, int R, int J>
__attribute__((noinline)) void dots(const NarrowTask& t, int64_t row, int64_t j) {
  const int64_t whole = t.k / N * N;
  const float* a = t.a + row * t.k;
  Floats sum[R][J] = {};
  for (int64_t k = 0; k < whole; k += N) {
    Floats y[J];
#pragma GCC unroll 8
    for (int c = 0; c < J; ++c) y[c] = load<kHalf>(t.b + (j + c) * t.ldb + k);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const Floats x = *reinterpret_cast<const Loose*>(a + i * t.k + k);
#pragma GCC unroll 8
      for (int c = 0; c < J; ++c) sum[i][c] += x * y[c];
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int c = 0; c < J; ++c) {
      float total = 0;
      for (int l = 0; l < N; ++l) total += sum[i][c][l];
      for (int64_t k = whole; k < t.k; ++k) total += a[i * t.k + k] * widen_one<kHalf>(t.b[(j + c) * t.ldb + k]);
      t.c[(row + i) * t.n + j + c] = total;
    }
  }
}

template <bool kHalf, int J>
int64_t dots_of(const NarrowTask& t, int64_t j, int64_t end) {
  for (; j + J <= end; j += J) {
    int64_t i = 0;
    for (; i + 4 <= t.m; i += 4) dots<kHalf, 4, J>(t, i, j);
    for (; i < t.m; ++i) dots<kHalf, 1, J>(t, i, j);
  }
  return j;
}

template <bool kHalf>
void transposed(const NarrowTask& t, int64_t begin, int64_t end) {
  dots_of<kHalf, 1>(t, dots_of<kHalf, 4>(t, begin, end), end);
}

}  // namespace

void narrow_columns(const NarrowTask& t, int64_t begin, int64_t end) {
  if (t.transb) t.half ? transposed<true>(t, begin, end) : transposed<false>(t, begin, end);
  else t.half ? straight<true>(t, begin, end) : straight<false>(t, begin, end);
}

#include "kernels/cpu/isa_end.h"

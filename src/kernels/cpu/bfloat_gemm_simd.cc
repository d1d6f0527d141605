// bfloat16 products by dot products of pairs: a register tile of C (14 rows by two panels) is summed over all of k.
#include "kernels/cpu/intrinsics.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/cpu/bfloat_gemm.h"
#include "kernels/cpu/isa_bfloat_begin.h"

namespace {

constexpr int kRows = 14;

inline __mmask16 first_lanes(int64_t n) { return __mmask16(n >= 16 ? 0xffff : (1u << std::max<int64_t>(n, 0)) - 1); }

inline void store(const BfloatTask& t, int64_t row, int64_t column, __m512 sum) {
  const __mmask16 mask = first_lanes(t.columns - column);
  const int64_t at = row * t.c_step + column;
  if (t.wide) _mm512_mask_storeu_ps(static_cast<float*>(t.c) + at, mask, sum);
  else _mm256_mask_storeu_epi16(static_cast<uint16_t*>(t.c) + at, mask, __m256i(_mm512_cvtneps_pbh(sum)));
}

// R rows by P panels.
template <int R, int P>
__attribute__((noinline)) void tile(const BfloatTask& t, int64_t row, int64_t panel) {
  const uint16_t* a = t.a + row * t.a_step;
  const uint16_t* b[P];
  __m512 sum[R][P];
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) b[p] = t.b + (panel + p) * t.pairs * 2 * kBfloatPanel;
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) sum[i][p] = _mm512_setzero_ps();
  }
  for (int64_t q = 0; q < t.pairs; ++q) {
    __m512bh y[P];
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) y[p] = __m512bh(_mm512_loadu_si512(b[p] + q * 2 * kBfloatPanel));
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      int32_t pair;
      std::memcpy(&pair, a + i * t.a_step + 2 * q, 4);
      const __m512bh x = __m512bh(_mm512_set1_epi32(pair));
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) sum[i][p] = _mm512_dpbf16_ps(sum[i][p], x, y[p]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) store(t, row + i, (panel + p) * kBfloatPanel, sum[i][p]);
  }
}

using Tile = void (*)(const BfloatTask&, int64_t, int64_t);
template <int P, int... R>
constexpr auto tiles_of(std::integer_sequence<int, R...>) {
  return std::array<Tile, sizeof...(R)>{&tile<R + 1, P>...};
}
template <int P, int Most>
constexpr auto tiles = tiles_of<P>(std::make_integer_sequence<int, Most>{});

// All rows of one group of panels, which stay in a cache near by, before the next.
template <int P, int Most>
int64_t run_panels(const BfloatTask& t, int64_t first) {
  const int64_t parts = (t.rows + Most - 1) / Most, panels = (t.columns + kBfloatPanel - 1) / kBfloatPanel;
  for (; first + P <= panels; first += P) {
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t i0 = t.rows * part / parts, rows = t.rows * (part + 1) / parts - i0;
      tiles<P, Most>[size_t(rows - 1)](t, i0, first);
    }
  }
  return first;
}

// Lane i: the numbers k and k + 1 of column i.
inline __m512i load_pairs(const uint16_t* src, int64_t step, int64_t k, int64_t depth, __mmask16 mask) {
  const __m512i low = _mm512_cvtepu16_epi32(k < depth ? _mm256_maskz_loadu_epi16(mask, src + k * step) : _mm256_setzero_si256());
  const __m512i high = _mm512_cvtepu16_epi32(k + 1 < depth ? _mm256_maskz_loadu_epi16(mask, src + (k + 1) * step) : _mm256_setzero_si256());
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// v[i] lane k <-> v[k] lane i
inline void transpose(__m512i (&v)[16]) {
  __m512i w[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    w[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
    w[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(w[i], w[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(w[i], w[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(w[i + 1], w[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(w[i + 1], w[i + 3]);
  }
  // v[4 i + j] has in its quarter q the rows 4 i ... of column 4 q + j.
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i even0 = _mm512_shuffle_i32x4(v[j], v[4 + j], 0x88), even1 = _mm512_shuffle_i32x4(v[8 + j], v[12 + j], 0x88);
    const __m512i odd0 = _mm512_shuffle_i32x4(v[j], v[4 + j], 0xdd), odd1 = _mm512_shuffle_i32x4(v[8 + j], v[12 + j], 0xdd);
    w[j] = _mm512_shuffle_i32x4(even0, even1, 0x88);
    w[4 + j] = _mm512_shuffle_i32x4(odd0, odd1, 0x88);
    w[8 + j] = _mm512_shuffle_i32x4(even0, even1, 0xdd);
    w[12 + j] = _mm512_shuffle_i32x4(odd0, odd1, 0xdd);
  }
  std::copy(w, w + 16, v);
}

// Pairs [q, q + 16) of up to 16 rows that lie along k.
inline void load_rows(const uint16_t* src, int64_t step, int64_t count, int64_t q, int64_t depth, __m512i (&v)[16]) {
  const int64_t left = depth - 2 * q;
  const __mmask32 mask = left >= 32 ? ~__mmask32(0) : __mmask32((uint64_t(1) << std::max<int64_t>(left, 0)) - 1);
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) v[r] = r < count ? _mm512_maskz_loadu_epi16(mask, src + r * step + 2 * q) : _mm512_setzero_si512();
}

}  // namespace

void bfloat_rows(const BfloatTask& t) {
  int64_t panel = 0;
  // Few rows: more panels at a time, since each sum waits for its last.
  if (t.rows <= 2) panel = run_panels<8, 2>(t, panel);
  if (t.rows <= 6) panel = run_panels<4, 6>(t, panel);
  panel = run_panels<2, kRows>(t, panel);
  run_panels<1, kRows>(t, panel);
}

void bfloat_pack_panel(const BfloatProduct& p, int64_t j, int64_t count, int64_t pairs, uint16_t* to) {
  if (!p.transb) {
    const __mmask16 mask = first_lanes(count);
    for (int64_t q = 0; q < pairs; ++q) _mm512_storeu_si512(to + 32 * q, load_pairs(p.b + j, p.n, 2 * q, p.k, mask));
    return;
  }
  for (int64_t q = 0; q < pairs; q += 16) {
    __m512i v[16];
    load_rows(p.b + j * p.k, p.k, count, q, p.k, v);
    transpose(v);
    const int64_t room = std::min<int64_t>(16, pairs - q);
#pragma GCC unroll 16
    for (int64_t r = 0; r < 16; ++r) {
      if (r < room) _mm512_storeu_si512(to + 32 * (q + r), v[r]);
    }
  }
}

void bfloat_pack_rows(const BfloatProduct& p, int64_t i, int64_t count, int64_t pairs, uint16_t* to, int64_t step) {
  if (!p.transa) {
    for (int64_t r = 0; r < count; ++r, to += step) {
      std::memcpy(to, p.a + (i + r) * p.k, size_t(p.k) * 2);
      std::memset(to + p.k, 0, size_t(2 * pairs - p.k) * 2);
    }
    return;
  }
  for (int64_t first = 0; first < count; first += 16) {
    const int64_t rows = std::min<int64_t>(16, count - first);
    const __mmask16 mask = first_lanes(rows);
    for (int64_t q = 0; q < pairs; q += 16) {
      __m512i v[16];
#pragma GCC unroll 16
      for (int r = 0; r < 16; ++r) v[r] = load_pairs(p.a + i + first, p.m, 2 * (q + r), p.k, mask);
      transpose(v);
      const __mmask16 room = first_lanes(pairs - q);
#pragma GCC unroll 16
      for (int64_t r = 0; r < 16; ++r) {
        if (r < rows) _mm512_mask_storeu_epi32(to + (first + r) * step + 2 * q, room, v[r]);
      }
    }
  }
}

#include "kernels/cpu/isa_end.h"

// bfloat16 products by AMX: 32 x 32 sums in four tiles, which take 32 numbers of k at a time from two tiles of A's rows and two panels of B.
#include "kernels/cpu/intrinsics.h"

#include <algorithm>

#include "kernels/cpu/bfloat_gemm.h"
#include "kernels/cpu/isa_bfloat_begin.h"

namespace {

// Tiles: 0 and 1 sums of the upper rows, 2 and 3 of the lower ones; 4 and 5 A, upper and lower; 6 and 7 B.
struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, zero[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};

  Config(int64_t upper, int64_t lower) {
    const int64_t count[8] = {upper, upper, lower, lower, upper, lower, 16, 16};
    for (int i = 0; i < 8; ++i) {
      rows[i] = uint8_t(count[i]);
      bytes[i] = count[i] ? 64 : 0;
    }
  }
};

inline void store(const BfloatTask& t, const float* sums, int64_t row, int64_t rows, int64_t column) {
  const int64_t left = t.columns - column;
  const __mmask16 mask = __mmask16(left >= 16 ? 0xffff : (1u << std::max<int64_t>(left, 0)) - 1);
  for (int64_t i = 0; i < rows; ++i) {
    const __m512 sum = _mm512_load_ps(sums + 16 * i);
    const int64_t at = (row + i) * t.c_step + column;
    if (t.wide) _mm512_mask_storeu_ps(static_cast<float*>(t.c) + at, mask, sum);
    else _mm256_mask_storeu_epi16(static_cast<uint16_t*>(t.c) + at, mask, __m256i(_mm512_cvtneps_pbh(sum)));
  }
}

template <bool kLower, bool kSecond>
__attribute__((noinline)) void tile(const BfloatTask& t, int64_t row, int64_t upper, int64_t lower, int64_t panel) {
  alignas(64) float sums[4][256];
  const uint16_t *a = t.a + row * t.a_step, *b = t.b + panel * t.pairs * 2 * kBfloatPanel, *second = b + t.pairs * 2 * kBfloatPanel;
  const long a_bytes = long(t.a_step * 2);
  _tile_zero(0);
  if (kSecond) _tile_zero(1);
  if (kLower) _tile_zero(2);
  if (kLower && kSecond) _tile_zero(3);
  for (int64_t q = 0; q < t.pairs; q += kAmxPairs, a += 2 * kAmxPairs) {
    _tile_loadd(4, a, a_bytes);
    _tile_loadd(6, b + q * 2 * kBfloatPanel, 64);
    _tile_dpbf16ps(0, 4, 6);
    if (kSecond) {
      _tile_loadd(7, second + q * 2 * kBfloatPanel, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (kLower) {
      _tile_loadd(5, a + 16 * t.a_step, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if (kSecond) _tile_dpbf16ps(3, 5, 7);
    }
  }
  const int64_t column = panel * kBfloatPanel;
  _tile_stored(0, sums[0], 64);
  if (kSecond) _tile_stored(1, sums[1], 64);
  if (kLower) _tile_stored(2, sums[2], 64);
  if (kLower && kSecond) _tile_stored(3, sums[3], 64);
  store(t, sums[0], row, upper, column);
  if (kSecond) store(t, sums[1], row, upper, column + kBfloatPanel);
  if (kLower) store(t, sums[2], row + 16, lower, column);
  if (kLower && kSecond) store(t, sums[3], row + 16, lower, column + kBfloatPanel);
}

// Blocks of 32 rows from `row` to `end`, the last of which has fewer when they are not whole.
void run(const BfloatTask& t, int64_t row, int64_t end) {
  const int64_t rows = std::min<int64_t>(end - row, 32), upper = std::min<int64_t>(rows, 16), lower = rows - upper;
  const int64_t panels = (t.columns + kBfloatPanel - 1) / kBfloatPanel;
  const Config config(upper, lower);
  asm volatile("" : : "r"(&config) : "memory");  // g++ takes the next line to read the first 8 bytes only, and leaves out the others (GCC bug 114098)
  _tile_loadconfig(&config);
  for (int64_t panel = 0; panel < panels; panel += 2) {
    for (int64_t i = row; i < end; i += rows) {
      if (panel + 1 < panels) lower ? tile<true, true>(t, i, upper, lower, panel) : tile<false, true>(t, i, upper, lower, panel);
      else lower ? tile<true, false>(t, i, upper, lower, panel) : tile<false, false>(t, i, upper, lower, panel);
    }
  }
}

}  // namespace

void bfloat_rows(const BfloatTask& t) {
  const int64_t whole = t.rows / 32 * 32;
  if (whole) run(t, 0, whole);
  if (whole < t.rows) run(t, whole, t.rows);
  _tile_release();
}

#include "kernels/cpu/isa_end.h"

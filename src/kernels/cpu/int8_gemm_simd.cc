// The 8-bit matrix product of one thread: a register tile of C (14 rows by two panels with AVX-512) is summed over k, four numbers at a time, by dot
// products of bytes where the processor has them (compiled with WEFT_ISA_DOTS), else exactly by way of 16 bits.
#include "kernels/cpu/intrinsics.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/cpu/int8_gemm.h"
#include "kernels/cpu/isa_dots_begin.h"

namespace {

// Left: four numbers of a row of A for all lanes. Right: four numbers for each lane's column.
#if defined(WEFT_ISA_AVX512)
constexpr int kLanes = 16;
using Sum = __m512i;
inline Sum load_sum(const int32_t* p) { return _mm512_loadu_si512(p); }
inline void store_sum(int32_t* p, Sum s) { _mm512_storeu_si512(p, s); }
#if defined(WEFT_ISA_DOTS)
constexpr int kRows = 14, kPanels = 2;
using Left = __m512i;
using Right = __m512i;
inline Left left(int32_t x) { return _mm512_set1_epi32(x); }
inline Right right(const int8_t* p) { return _mm512_loadu_si512(p); }
inline Sum dot(Sum s, Left a, Right b) { return _mm512_dpbusd_epi32(s, a, b); }
#else
constexpr int kRows = 10, kPanels = 2;
struct Left {
  __m512i even, odd;
};
using Right = Left;
inline Left left(int32_t x) {
  const __m512i v = _mm512_set1_epi32(x);
  return {_mm512_and_si512(v, _mm512_set1_epi16(0xff)), _mm512_srli_epi16(v, 8)};
}
inline Right right(const int8_t* p) {
  const __m512i v = _mm512_loadu_si512(p);
  return {_mm512_srai_epi16(_mm512_slli_epi16(v, 8), 8), _mm512_srai_epi16(v, 8)};
}
inline Sum dot(Sum s, const Left& a, const Right& b) {
  return _mm512_add_epi32(s, _mm512_add_epi32(_mm512_madd_epi16(a.even, b.even), _mm512_madd_epi16(a.odd, b.odd)));
}
#endif
#elif defined(WEFT_ISA_AVX2)
constexpr int kLanes = 8;
using Sum = __m256i;
inline Sum load_sum(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline void store_sum(int32_t* p, Sum s) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), s); }
#if defined(WEFT_ISA_DOTS)
constexpr int kRows = 6, kPanels = 1;
using Left = __m256i;
using Right = __m256i;
inline Left left(int32_t x) { return _mm256_set1_epi32(x); }
inline Right right(const int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline Sum dot(Sum s, Left a, Right b) { return _mm256_dpbusd_avx_epi32(s, a, b); }
#else
constexpr int kRows = 4, kPanels = 1;
struct Left {
  __m256i even, odd;
};
using Right = Left;
inline Left left(int32_t x) {
  const __m256i v = _mm256_set1_epi32(x);
  return {_mm256_and_si256(v, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(v, 8)};
}
inline Right right(const int8_t* p) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8), _mm256_srai_epi16(v, 8)};
}
inline Sum dot(Sum s, const Left& a, const Right& b) {
  return _mm256_add_epi32(s, _mm256_add_epi32(_mm256_madd_epi16(a.even, b.even), _mm256_madd_epi16(a.odd, b.odd)));
}
#endif
#else
// Plain: the compiler's vectors.
constexpr int kLanes = 16, kRows = 2, kPanels = 1;
struct Sum {
  int32_t v[16];
};
struct Left {
  int32_t v[4];
};
struct Right {
  int8_t v[64];
};
inline Sum load_sum(const int32_t* p) {
  Sum s;
  std::memcpy(&s, p, sizeof s);
  return s;
}
inline void store_sum(int32_t* p, const Sum& s) { std::memcpy(p, &s, sizeof s); }
inline Left left(int32_t x) {
  const uint32_t u = uint32_t(x);
  return {{int32_t(u & 255), int32_t(u >> 8 & 255), int32_t(u >> 16 & 255), int32_t(u >> 24)}};
}
inline Right right(const int8_t* p) {
  Right r;
  std::memcpy(&r, p, sizeof r);
  return r;
}
inline Sum dot(Sum s, const Left& a, const Right& b) {
  for (int j = 0; j < 16; ++j) {
    int32_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += a.v[i] * b.v[4 * j + i];
    s.v[j] = int32_t(uint32_t(s.v[j]) + uint32_t(sum));
  }
  return s;
}
#endif

constexpr int kVectors = int(kInt8Panel) / kLanes;  // of a panel

// R rows by P panels.
template <int R, int P>
__attribute__((noinline)) void tile(const Int8Task& t, int64_t row, int64_t panel) {
  constexpr int V = P * kVectors;
  const uint8_t* a = t.a + row * t.a_step;
  const int8_t* b[P];
  Sum sum[R][V];
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) b[p] = t.b + (panel + p) * t.quads * 64;
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v) {
    const Sum start = load_sum(t.start + panel * kInt8Panel + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i][v] = start;
  }
  for (int64_t q = 0; q < t.quads; ++q) {
    Right y[V];
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) y[v] = right(b[v / kVectors] + q * 64 + (v % kVectors) * kLanes * 4);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      int32_t four;
      std::memcpy(&four, a + i * t.a_step + q * 4, 4);
      const Left x = left(four);
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) sum[i][v] = dot(sum[i][v], x, y[v]);
    }
  }
  int32_t* c = t.c + row * t.c_step + panel * kInt8Panel;
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) store_sum(c + i * t.c_step + v * kLanes, sum[i][v]);
  }
}

using Tile = void (*)(const Int8Task&, int64_t, int64_t);
template <int P, int... R>
constexpr auto tiles_of(std::integer_sequence<int, R...>) {
  return std::array<Tile, sizeof...(R)>{&tile<R + 1, P>...};
}
// tiles<panels, most rows>[rows - 1]
template <int P, int Most>
constexpr auto tiles = tiles_of<P>(std::make_integer_sequence<int, Most>{});

// Panels [first, last), P at a time: all rows of one group of panels, which stay in the first cache, before the next.
template <int P, int Most>
int64_t run_panels(const Int8Task& t, int64_t first) {
  const int64_t parts = (t.rows + Most - 1) / Most;
  for (; first + P <= t.panels; first += P) {
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t i0 = t.rows * part / parts, rows = t.rows * (part + 1) / parts - i0;
      tiles<P, Most>[size_t(rows - 1)](t, i0, first);
    }
  }
  return first;
}

}  // namespace

void int8_rows(const Int8Task& t) {
  int64_t panel = 0;
#if defined(WEFT_ISA_AVX512)
  // Few rows: more panels at a time, since each sum waits for its last.
  if (t.rows <= 2) panel = run_panels<8, 2>(t, panel);
  if (t.rows <= 4) panel = run_panels<4, 4>(t, panel);
#endif
  if (kPanels > 1) panel = run_panels<kPanels, kRows>(t, panel);
  run_panels<1, kRows>(t, panel);
}

#include "kernels/cpu/isa_end.h"

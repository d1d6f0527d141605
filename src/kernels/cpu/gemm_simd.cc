// The matrix product of one thread: a register tile of C (14 x 32 floats with AVX-512, 6 x 16 with AVX2)
// is summed over k from a column panel of B and a row panel of A. Panels are packed into scratch memory
// only where that pays: B when many row tiles read it again, A when many column panels do; small
// matrices are read where they are.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/isa_begin.h"

namespace {

#if defined(WEFT_ISA_AVX512)
constexpr int kBytes = 64, kRows = 14;
#elif defined(WEFT_ISA_AVX2)
constexpr int kBytes = 32, kRows = 6;
#else
constexpr int kBytes = 16, kRows = 6;
#endif

template <class T>
struct Vec {
  typedef T type __attribute__((vector_size(kBytes)));
  typedef T loose __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));  // anywhere in memory
  static constexpr int n = kBytes / sizeof(T);
};

// C[0:R, 0:V vectors] (+)= A B over `depth`. A(i, k) is a[i * rs + k * cs], with rs == 1 if UnitRows;
// row k of B starts at b + k * bs.
template <class T, int R, int V, bool UnitRows>
__attribute__((noinline)) void tile(int64_t depth, const T* __restrict a, int64_t rs, int64_t cs, const T* __restrict b, int64_t bs, T* __restrict c,
                                    int64_t ldc, bool add) {
  using W = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int N = Vec<T>::n;
  if (UnitRows) rs = 1;
  W sum[R][V] = {};
  // Three rows to a base pointer: x86 addresses p, p + rs and p + 2 rs without further registers.
  constexpr int G = (R + 2) / 3;
  const T* p[G];
  for (int g = 0; g < G; ++g) p[g] = a + 3 * g * rs;
  // C comes from far away and is needed only at the end.
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) __builtin_prefetch(c + i * ldc + v * N, 1);
  }
  for (int64_t k = 0; k < depth; ++k) {
    W y[V];
    for (int v = 0; v < V; ++v) y[v] = *reinterpret_cast<const L*>(b + v * N);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const T x = p[i / 3][(i % 3) * rs];
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[i][v] += x * y[v];
    }
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g) p[g] += cs;
    b += bs;
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      L* at = reinterpret_cast<L*>(c + i * ldc + v * N);
      *at = add ? W(*at) + sum[i][v] : sum[i][v];
    }
  }
}

template <class T>
using Tile = void (*)(int64_t, const T*, int64_t, int64_t, const T*, int64_t, T*, int64_t, bool);

template <class T, int V, bool U, int... R>
constexpr auto tiles_of(std::integer_sequence<int, R...>) {
  return std::array<Tile<T>, sizeof...(R)>{&tile<T, R + 1, V, U>...};
}

// tiles<T, V, UnitRows>[rows - 1]
template <class T, int V, bool U>
constexpr auto tiles = tiles_of<T, V, U>(std::make_integer_sequence<int, kRows>{});

// The lanes of a and b by turns: of their lower halves, or their upper ones.
template <bool upper, class V, int... I>
inline V interleave(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int N = sizeof...(I);
  return __builtin_shufflevector(a, b, ((upper ? N / 2 : 0) + I / 2 + (I % 2 ? N : 0))...);
}

// v[i] lane k <-> v[k] lane i: log2 N perfect shuffles.
template <class T>
inline void transpose(typename Vec<T>::type (&v)[Vec<T>::n]) {
  constexpr int N = Vec<T>::n;
  using Lanes = std::make_integer_sequence<int, N>;
  typename Vec<T>::type w[N];
#pragma GCC unroll 8
  for (int stage = 1; stage < N; stage *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < N / 2; ++i) {
      w[2 * i] = interleave<false>(v[i], v[i + N / 2], Lanes{});
      w[2 * i + 1] = interleave<true>(v[i], v[i + N / 2], Lanes{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) v[i] = w[i];
  }
}

// dst[k * width + i] = src[i * stride + k] for i < rows; columns up to width are cleared. N x N blocks are
// transposed in registers. In a panel narrower than a register a row is stored whole, over the beginning of the
// next row, which comes after it.
template <class T>
void pack_transposed(const T* __restrict src, int64_t stride, int64_t rows, int64_t depth, int64_t width, T* __restrict dst) {
  using W = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int64_t N = Vec<T>::n;
  for (int64_t i = 0; i < width; i += N) {
    const int64_t count = std::clamp<int64_t>(rows - i, 0, N), room = std::min(N, width - i);
    const T* from = src + i * stride;
    int64_t k = 0;
    // The last rows are left to the plain loop then: their stores would reach beyond the panel.
    const bool over = room < N && i == 0;
    for (; k + N <= (over ? depth - N : depth); k += N) {
      W v[N];
#pragma GCC unroll 16
      for (int64_t r = 0; r < N; ++r) v[r] = r < count ? W(*reinterpret_cast<const L*>(from + r * stride + k)) : W{};
      transpose<T>(v);
#pragma GCC unroll 16
      for (int64_t r = 0; r < N; ++r) {
        T* to = dst + (k + r) * width + i;
        if (over || room == N) *reinterpret_cast<L*>(to) = v[r];
        else std::memcpy(to, &v[r], size_t(room) * sizeof(T));
      }
    }
    for (; k < depth; ++k) {
      for (int64_t r = 0; r < room; ++r) dst[k * width + i + r] = r < count ? from[r * stride + k] : T(0);
    }
  }
}

// dst[k * width + j] = src[k * stride + j] for j < columns, cleared up to width.
template <class T>
void pack_straight(const T* __restrict src, int64_t stride, int64_t columns, int64_t depth, int64_t width, T* __restrict dst) {
  if (columns == 2 * Vec<T>::n && width == columns) {  // whole panels, the usual case: two vectors a row
    using L = typename Vec<T>::loose;
    for (int64_t k = 0; k < depth; ++k, src += stride, dst += width) {
      *reinterpret_cast<L*>(dst) = *reinterpret_cast<const L*>(src);
      *reinterpret_cast<L*>(dst + Vec<T>::n) = *reinterpret_cast<const L*>(src + Vec<T>::n);
    }
    return;
  }
  if (columns == width && columns < Vec<T>::n && stride >= Vec<T>::n) {
    // Narrow panels: whole vectors, each over the beginning of the next row; the last rows plainly.
    using L = typename Vec<T>::loose;
    for (; depth > Vec<T>::n / 4 + 1; --depth, src += stride, dst += width) *reinterpret_cast<L*>(dst) = *reinterpret_cast<const L*>(src);
  }
  for (int64_t k = 0; k < depth; ++k, src += stride, dst += width) {
    std::memcpy(dst, src, size_t(columns) * sizeof(T));
    if (columns < width) std::memset(dst + columns, 0, size_t(width - columns) * sizeof(T));
  }
}

template <class T>
struct Product {
  static constexpr int N = Vec<T>::n, kWide = 2 * N;
  const GemmTask<T>& g;

  // Of B packed as a whole, where the panel of column j for k from k0 begins.
  int64_t packed_at(int64_t j, int64_t k0, int64_t depth) const { return k0 * gemm_packed_columns(g.n) + j * depth; }

  // Panels of columns [j0, j1) of B, k in [k0, k0 + depth).
  void pack_panels(int64_t j0, int64_t j1, int64_t k0, int64_t depth, T* to) const {
    for (int64_t j = j0; j < j1; j += kWide, to += kWide * depth) {
      const int64_t count = std::min<int64_t>(kWide, j1 - j);
      const int64_t width = count <= N ? N : kWide;
      if (g.transb) pack_transposed(g.b + j * g.ldb + k0, g.ldb, count, depth, width, to);
      else pack_straight(g.b + k0 * g.ldb + j, g.ldb, count, depth, width, to);
    }
  }

  // k is cut into equal pieces, for all columns alike.
  template <class F>
  void each_piece(F f) const {
    const int64_t pieces = (g.k + kGemmDepth - 1) / kGemmDepth;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t k0 = g.k * piece / pieces;
      f(k0, g.k * (piece + 1) / pieces - k0);
    }
  }

  void pack(int64_t begin, int64_t end, T* packed) const {
    each_piece([&](int64_t k0, int64_t depth) { pack_panels(begin, end, k0, depth, packed + packed_at(begin, k0, depth)); });
  }

  // Columns [j0, j1) of C, k in [k0, k0 + depth).
  void block(int64_t j0, int64_t j1, int64_t k0, int64_t depth, bool add) const {
    const int64_t columns = j1 - j0;
    const bool pack_b = g.packed_b || g.transb || (g.m > 12 * kRows && g.k * g.n * int64_t(sizeof(T)) > 32768);
    const bool pack_a = g.transa ? g.lda > 512 && columns > 2 * kWide : columns > 4 * kWide && g.lda % 512 == 0;
    T* packed_a = g.scratch + kGemmDepth * kGemmColumns;
    const int64_t whole = columns / kWide * kWide, rest = columns - whole;
    const T* const panels = g.packed_b ? g.packed_b + packed_at(j0, k0, depth) : g.scratch;
    // The last, incomplete panel is packed in any case, filled up with zeros.
    if (!g.packed_b) pack_panels(j0 + (pack_b ? 0 : whole), j1, k0, depth, g.scratch + (pack_b ? 0 : whole * depth));
    // Rows are dealt out evenly: 64 rows are 13 + 13 + 13 + 13 + 12, not 4 x 14 + 8.
    const int64_t parts = (g.m + kRows - 1) / kRows;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t i0 = g.m * part / parts, rows = g.m * (part + 1) / parts - i0;
      const T* a = g.transa ? g.a + k0 * g.lda + i0 : g.a + i0 * g.lda + k0;
      int64_t rs = g.transa ? 1 : g.lda, cs = g.transa ? g.lda : 1;
      if (pack_a) {
        if (g.transa) pack_straight(a, g.lda, rows, depth, rows, packed_a);
        else pack_transposed(a, g.lda, rows, depth, rows, packed_a);
        a = packed_a, rs = 1, cs = rows;
      }
      T* c = g.c + i0 * g.ldc + j0;
      const Tile<T> wide = rs == 1 ? tiles<T, 2, true>[size_t(rows - 1)] : tiles<T, 2, false>[size_t(rows - 1)];
      for (int64_t j = 0; j < whole; j += kWide) {
        if (pack_b) wide(depth, a, rs, cs, panels + j * depth, kWide, c + j, g.ldc, add);
        else wide(depth, a, rs, cs, g.b + k0 * g.ldb + j0 + j, g.ldb, c + j, g.ldc, add);
      }
      if (rest) edge(rows, depth, a, rs, cs, panels + whole * depth, rest, c + whole, add);
    }
  }

  // The columns beyond the last whole panel go through a tile of their own.
  void edge(int64_t rows, int64_t depth, const T* a, int64_t rs, int64_t cs, const T* b, int64_t columns, T* c, bool add) const {
    T* out = g.scratch + kGemmScratch - kRows * kWide;
    const size_t r = size_t(rows - 1);
    if (columns == N) return (rs == 1 ? tiles<T, 1, true>[r] : tiles<T, 1, false>[r])(depth, a, rs, cs, b, N, c, g.ldc, add);
    if (columns < N) (rs == 1 ? tiles<T, 1, true>[r] : tiles<T, 1, false>[r])(depth, a, rs, cs, b, N, out, kWide, false);
    else (rs == 1 ? tiles<T, 2, true>[r] : tiles<T, 2, false>[r])(depth, a, rs, cs, b, kWide, out, kWide, false);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) c[i * g.ldc + j] = add ? c[i * g.ldc + j] + out[i * kWide + j] : out[i * kWide + j];
    }
  }

  // One row times a matrix that is stored with its rows along k: dot products, four at a time.
  void dots() const {
    int64_t j = 0;
    for (; j + 4 <= g.n; j += 4) dot<4>(j);
    for (; j < g.n; ++j) dot<1>(j);
  }

  // The lanes are added up in the same way whether a column comes alone or with others.
  template <int R>
  void dot(int64_t j) const {
    using W = typename Vec<T>::type;
    using L = typename Vec<T>::loose;
    const int64_t even = g.k / (2 * N) * (2 * N);
    W s0[R] = {}, s1[R] = {};
    for (int64_t k = 0; k < even; k += 2 * N) {
      const W x0 = *reinterpret_cast<const L*>(g.a + k), x1 = *reinterpret_cast<const L*>(g.a + k + N);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const T* b = g.b + (j + r) * g.ldb + k;
        s0[r] += x0 * *reinterpret_cast<const L*>(b);
        s1[r] += x1 * *reinterpret_cast<const L*>(b + N);
      }
    }
    for (int r = 0; r < R; ++r) {
      const W s = s0[r] + s1[r];
      T lanes[N];
      std::memcpy(lanes, &s, sizeof lanes);
      for (int half = N / 2; half; half /= 2) {
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
      }
      T sum = lanes[0];
      for (int64_t k = even; k < g.k; ++k) sum += g.a[k] * g.b[(j + r) * g.ldb + k];
      T& c = g.c[j + r];
      c = g.accumulate ? c + sum : sum;
    }
  }

  // One row times a matrix stored along n: eight vectors of C at a time hide the latency of the sums.
  void row(int64_t k0, int64_t depth, bool add) const {
    const int64_t cs = g.transa ? g.lda : 1;
    const T* a = g.a + k0 * cs;
    const T* b = g.b + k0 * g.ldb;
    int64_t j = 0;
    for (; j + 8 * N <= g.n; j += 8 * N) tile<T, 1, 8, true>(depth, a, 1, cs, b + j, g.ldb, g.c + j, g.ldc, add);
    for (; j + N <= g.n; j += N) tile<T, 1, 1, true>(depth, a, 1, cs, b + j, g.ldb, g.c + j, g.ldc, add);
    if (j < g.n) {
      pack_straight(b + j, g.ldb, g.n - j, depth, int64_t(N), g.scratch);
      edge(1, depth, a, 1, cs, g.scratch, g.n - j, g.c + j, add);
    }
  }

  void run() const {
    if (g.m == 1 && g.transb && !(g.transa && g.lda != 1)) return dots();
    for (int64_t j = 0; j < g.n; j += kGemmColumns) {
      each_piece([&](int64_t k0, int64_t depth) {
        if (g.m == 1 && !g.transb) row(k0, depth, g.accumulate || k0 > 0);
        else block(j, std::min(g.n, j + kGemmColumns), k0, depth, g.accumulate || k0 > 0);
      });
      if (g.m == 1 && !g.transb) break;
    }
  }
};

}  // namespace

void gemm_float(const GemmTask<float>& g) { Product<float>{g}.run(); }
void gemm_double(const GemmTask<double>& g) { Product<double>{g}.run(); }
void gemm_pack_float(const GemmTask<float>& g, int64_t begin, int64_t end, float* packed) { Product<float>{g}.pack(begin, end, packed); }
void gemm_pack_double(const GemmTask<double>& g, int64_t begin, int64_t end, double* packed) { Product<double>{g}.pack(begin, end, packed); }

#include "kernels/cpu/isa_end.h"

#include "kernels/cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace weft_engine::kernels {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

// Packing memory, kept by each thread that multiplied once: a task's own, and what the thread that hands out tasks shares with them.
enum Purpose { kOwn, kShared };
template <Purpose>
void* scratch(size_t bytes) {
  thread_local std::unique_ptr<void, Free> memory;
  thread_local size_t size = 0;
  if (size < bytes) {
    memory.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    if (!memory) throw std::bad_alloc();
    size = bytes;
  }
  return memory.get();
}

void run_task(GemmTask<float> g) {
  g.scratch = static_cast<float*>(scratch<kOwn>(kGemmScratch * sizeof(float)));
  WEFT_BEST_ISA(gemm_float)(g);
}
void run_task(GemmTask<double> g) {
  g.scratch = static_cast<double*>(scratch<kOwn>(kGemmScratch * sizeof(double)));
  WEFT_BEST_ISA(gemm_double)(g);
}

void pack(const GemmTask<float>& g, int64_t begin, int64_t end, float* packed) { WEFT_BEST_ISA(gemm_pack_float)(g, begin, end, packed); }
void pack(const GemmTask<double>& g, int64_t begin, int64_t end, double* packed) { WEFT_BEST_ISA(gemm_pack_double)(g, begin, end, packed); }

// Large products: B is packed once, by all threads, and the rows are shared out, so that nothing is packed twice. False: not
// worth it. The columns go in blocks whose packed form stays small enough to be kept.
constexpr int64_t kSharedBytes = 8 << 20;
template <class T>
bool share(const GemmTask<T>& g, core::ThreadPool& pool) {
  constexpr int64_t kLeastRows = 64, kLeastColumns = 256;
  const int64_t threads = pool.threads(), parts = std::min(3 * threads, g.m / kLeastRows);
  const int64_t most = kSharedBytes / int64_t(sizeof(T)) / g.k / 32 * 32;
  if (parts < 2 * threads || g.n < kLeastColumns || g.k < kLeastColumns || most < kLeastColumns) return false;
  const int64_t blocks = (g.n + most - 1) / most, units = (g.n + 31) / 32;
  T* const packed = static_cast<T*>(scratch<kShared>(size_t(kSharedBytes)));
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t j0 = units * block / blocks * 32, j1 = std::min(g.n, units * (block + 1) / blocks * 32);
    GemmTask<T> b = g;
    b.n = j1 - j0, b.c += j0;
    b.b += g.transb ? j0 * g.ldb : j0;
    const int64_t panels = (b.n + 31) / 32, groups = std::min(panels, 4 * threads);
    pool.parallel_chunks(groups, [&](int64_t i) { pack(b, panels * i / groups * 32, std::min(b.n, panels * (i + 1) / groups * 32), packed); });
    b.packed_b = packed;
    pool.parallel_chunks(parts, [&](int64_t part) {
      const int64_t i0 = g.m * part / parts, i1 = g.m * (part + 1) / parts;
      GemmTask<T> t = b;
      t.m = i1 - i0;
      t.a += g.transa ? i0 : i0 * g.lda;
      t.c += i0 * g.ldc;
      run_task(t);
    });
  }
  return true;
}

template <class T>
void gemm(GemmTask<T> g, core::ThreadPool* pool) {
  if (g.m <= 0 || g.n <= 0) return;
  if (g.k <= 0) {
    if (g.accumulate) return;
    for (int64_t i = 0; i < g.m; ++i) std::fill_n(g.c + i * g.ldc, g.n, T(0));
    return;
  }
  // A matrix times a column is its transpose times a row; the row form needs no padding.
  if (g.n == 1 && g.ldc == 1 && g.m > 1) {
    g = {!g.transb, !g.transa, g.accumulate, 1, g.m, g.k, g.b, g.ldb, g.a, g.lda, g.c, g.m, nullptr};
  }
  constexpr double kParallelFrom = 1 << 21;  // multiplications; about 40 us
  const double work = double(g.m) * double(g.n) * double(g.k) * (sizeof(T) / 4.0);
  if (!pool || pool->threads() == 1 || work < kParallelFrom) return run_task(g);
  if (share(g, *pool)) return;
  // Parts of C: as square as the panels allow, several per thread. Which parts there are does not show
  // in the bits.
  const int64_t wanted = std::min<int64_t>(3 * pool->threads(), int64_t(work / (kParallelFrom / 4)));
  int64_t rows = 1, columns = 1;
  while (rows * columns < wanted) {
    const int64_t height = g.m / rows, width = g.n / columns;
    if (height >= width && height >= 56) ++rows;
    else if (width >= 128) ++columns;
    else if (height >= 56) ++rows;
    else break;
  }
  pool->parallel_chunks(rows * columns, [&](int64_t part) {
    const int64_t r = part / columns, c = part % columns;
    const int64_t i0 = g.m * r / rows, i1 = g.m * (r + 1) / rows;
    // Columns are cut at multiples of 32 so that panels stay whole.
    const int64_t blocks = (g.n + 31) / 32;
    const int64_t j0 = blocks * c / columns * 32, j1 = std::min(g.n, blocks * (c + 1) / columns * 32);
    GemmTask<T> t = g;
    t.m = i1 - i0, t.n = j1 - j0;
    t.a += g.transa ? i0 : i0 * g.lda;
    t.b += g.transb ? j0 * g.ldb : j0;
    t.c += i0 * g.ldc + j0;
    if (t.m > 0 && t.n > 0) run_task(t);
  });
}

}  // namespace

void sgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
           bool accumulate, core::ThreadPool& pool) {
  gemm<float>({transa, transb, accumulate, m, n, k, a, lda, b, ldb, c, ldc, nullptr}, &pool);
}
void dgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
           int64_t ldc, bool accumulate, core::ThreadPool& pool) {
  gemm<double>({transa, transb, accumulate, m, n, k, a, lda, b, ldb, c, ldc, nullptr}, &pool);
}
void sgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
           bool accumulate) {
  gemm<float>({transa, transb, accumulate, m, n, k, a, lda, b, ldb, c, ldc, nullptr}, nullptr);
}
void dgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
           int64_t ldc, bool accumulate) {
  gemm<double>({transa, transb, accumulate, m, n, k, a, lda, b, ldb, c, ldc, nullptr}, nullptr);
}

template <class T>
void plain_gemm(bool transa, bool transb, bool conj_a, bool conj_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  std::fill_n(c, m * n, T(0));
  if (k <= 0) return;
  // With B transposed, turn it first: the inner loop then runs along rows of B and C.
  std::vector<T> transposed;
  if (transb && n > 0) {
    transposed.resize(size_t(n * k));
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < k; ++i) transposed[size_t(i * n + j)] = b[j * k + i];
    }
    b = transposed.data();
  }
  for (int64_t i = 0; i < m; ++i) {
    T* __restrict row = c + i * n;
    for (int64_t p = 0; p < k; ++p) {
      T x = transa ? a[p * m + i] : a[i * k + p];
      const T* __restrict y = b + p * n;
      if constexpr (core::is_complex<T>) {
        if (conj_a) x = std::conj(x);
        // Written out: std::complex's product looks for infinities in every step.
        const auto re = x.real(), im = x.imag(), sign = conj_b ? decltype(re)(-1) : decltype(re)(1);
        for (int64_t j = 0; j < n; ++j) {
          const auto yr = y[j].real(), yi = sign * y[j].imag();
          row[j] += T(re * yr - im * yi, re * yi + im * yr);
        }
      } else {
        using U = std::common_type_t<T, unsigned>;  // small integers would be promoted to int, which may overflow
        for (int64_t j = 0; j < n; ++j) row[j] = T(row[j] + U(x) * U(y[j]));
      }
    }
  }
}

#define WEFT_PLAIN(T) template void plain_gemm<T>(bool, bool, bool, bool, int64_t, int64_t, int64_t, const T*, const T*, T*);
WEFT_PLAIN(uint8_t)
WEFT_PLAIN(uint16_t)
WEFT_PLAIN(uint32_t)
WEFT_PLAIN(uint64_t)
WEFT_PLAIN(core::complex64)
WEFT_PLAIN(core::complex128)
#undef WEFT_PLAIN

}  // namespace weft_engine::kernels

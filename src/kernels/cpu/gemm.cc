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
bool share(const GemmTask<T>& g, core::ThreadPool& pool, GemmDone done) {
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
      if (done) (*done)(i0, i1, j0, j1);
    });
  }
  return true;
}

// What it costs to have so many threads take part in a loop (bench/fork_join.cc on 16 cores).
double hand_over_ns(int64_t threads) { return 800 + 200 * double(threads); }

// Rough nanoseconds of a part on one core, the work being `columns` panels of 32: its multiplications, and the bytes that it brings near. A tile of few
// rows takes as long as one of six, since it waits for its sums.
double part_cost(int64_t rows, int64_t columns, int64_t k, bool pack, double size) {
  const double r = double(rows), n = double(columns) * 32, depth = double(k);
  return std::max(r, 6.) * n * depth * size / (4 * kGemmPerNs) + size * (r * depth + n * depth * (pack ? 3 : 1) + r * n) / kGemmBytesPerNs;
}

// The least of: rounds of parts, the last of which comes somewhat late, and handing them over, which costs with every thread that takes part.
GemmGrid find_grid(int64_t m, int64_t n, int64_t k, bool pack, int size, int64_t threads) {
  constexpr int64_t kLeastRows = 8;
  constexpr double kLate = 0.15;
  const double work = double(m) * double(n) * double(k) * (size / 4.0);
  const int64_t panels = (n + 31) / 32, most_rows = std::max<int64_t>(1, m / kLeastRows);
  const int64_t most = int64_t(std::min(work / kGemmLeastWork, 3. * double(threads)));
  GemmGrid best;
  double least = part_cost(m, panels, k, pack, size);
  // Three parts for each thread, two, one, then fewer parts than threads; with every number of columns that is a power of two, or all panels.
  for (int64_t wanted = most; wanted > 1; wanted = wanted > threads ? (wanted - 1) / threads * threads : wanted > 4 ? wanted * 3 / 4 : wanted - 1) {
    for (int64_t c = 1; c <= std::min(panels, wanted); c = c < panels && 2 * c > panels ? panels : 2 * c) {
      const GemmGrid grid{std::min(wanted / c, most_rows), c};
      const double rounds = double((grid.parts() + threads - 1) / threads);
      const double cost = (rounds + kLate) * part_cost((m + grid.rows - 1) / grid.rows, (panels + c - 1) / c, k, pack, size) +
                          hand_over_ns(std::min(threads, grid.parts()));
      if (cost < least) least = cost, best = grid;
    }
  }
  return best;
}

template <class T>
void gemm(GemmTask<T> g, core::ThreadPool* pool, GemmDone done = nullptr) {
  if (g.m <= 0 || g.n <= 0) return;
  const auto all_done = [&, m = g.m, n = g.n] {
    if (done) (*done)(0, m, 0, n);
  };
  if (g.k <= 0) {
    for (int64_t i = 0; i < g.m && !g.accumulate; ++i) std::fill_n(g.c + i * g.ldc, g.n, T(0));
    return all_done();
  }
  // A matrix times a column is its transpose times a row; the row form needs no padding.
  const bool transposed = g.n == 1 && g.ldc == 1 && g.m > 1;
  if (transposed) g = {!g.transb, !g.transa, g.accumulate, 1, g.m, g.k, g.b, g.ldb, g.a, g.lda, g.c, g.m, nullptr};
  // What is done to a part counts as some more multiplications.
  const GemmGrid grid =
      pool && !core::ThreadPool::inside() ? gemm_grid(g.m, g.n, g.k + (done ? 16 : 0), g.transb, sizeof(T), pool->threads()) : GemmGrid();
  if (grid.parts() > 1 && share(g, *pool, done)) return;
  if (grid.parts() == 1) {
    run_task(g);
    return all_done();
  }
  pool->parallel_chunks(grid.parts(), [&](int64_t part) {
    const int64_t r = part / grid.columns, c = part % grid.columns;
    const int64_t i0 = g.m * r / grid.rows, i1 = g.m * (r + 1) / grid.rows;
    // Columns are cut at multiples of 32 so that panels stay whole.
    const int64_t panels = (g.n + 31) / 32;
    const int64_t j0 = panels * c / grid.columns * 32, j1 = std::min(g.n, panels * (c + 1) / grid.columns * 32);
    if (i1 <= i0 || j1 <= j0) return;
    GemmTask<T> t = g;
    t.m = i1 - i0, t.n = j1 - j0;
    t.a += g.transa ? i0 : i0 * g.lda;
    t.b += g.transb ? j0 * g.ldb : j0;
    t.c += i0 * g.ldc + j0;
    run_task(t);
    if (done && transposed) (*done)(j0, j1, 0, 1);
    else if (done) (*done)(i0, i1, j0, j1);
  });
}

}  // namespace

GemmGrid gemm_grid(int64_t m, int64_t n, int64_t k, bool pack, int size, int64_t threads) {
  if (threads < 2 || double(m) * double(n) * double(k) * size < 8 * kGemmLeastWork) return {};
  // A step of a network asks for the same few again and again.
  struct Known {
    int64_t m = 0, n = 0, k = 0, rest = 0;
    GemmGrid grid;
  };
  thread_local Known known[32];
  const int64_t rest = (threads << 8) + (size << 1) + pack;
  Known& one = known[size_t((m * 31 + n * 7 + k * 3 + pack) & 31)];
  if (one.m != m || one.n != n || one.k != k || one.rest != rest) one = {m, n, k, rest, find_grid(m, n, k, pack, size, threads)};
  return one.grid;
}

void sgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
           bool accumulate, core::ThreadPool& pool, GemmDone done) {
  gemm<float>({transa, transb, accumulate, m, n, k, a, lda, b, ldb, c, ldc, nullptr}, &pool, done);
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

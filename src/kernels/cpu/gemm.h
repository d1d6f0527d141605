// Matrix products: C = op(A) op(B), or C += with `accumulate`. All matrices are row-major; lda, ldb and
// ldc are the distances between rows in elements; with transa, A is stored K x M. C must not overlap A or B.
// The result has the same bits for any thread count: every element of C is summed over k in one fixed
// order, and only rows and columns of C are shared out between threads.
#pragma once

#include <cstdint>

#include "core/float_types.h"
#include "core/function_ref.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// Called with rows [i0, i1) and columns [j0, j1) of C when they are complete, on the thread that computed them; every element is in one such call.
using GemmDone = const core::FunctionRef<void(int64_t i0, int64_t i1, int64_t j0, int64_t j1)>*;
void sgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
           bool accumulate, core::ThreadPool& pool, GemmDone done = nullptr);
void dgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
           int64_t ldc, bool accumulate, core::ThreadPool& pool);
// The same on the calling thread alone.
void sgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
           bool accumulate);
void dgemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
           int64_t ldc, bool accumulate);

// Integers (unsigned, so that they wrap) and complex numbers: plain loops, C = op(A) op(B).
// conj_a, conj_b: with the conjugate of the elements.
template <class T>
void plain_gemm(bool transa, bool transb, bool conj_a, bool conj_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c);

// One thread's part of a product; see gemm_simd.cc.
template <class T>
struct GemmTask {
  bool transa, transb, accumulate;
  int64_t m, n, k;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  T* scratch;  // kGemmScratch elements, aligned to 64 bytes
  const T* packed_b = nullptr;  // all of B, packed before and shared by several tasks
};
// What products are cut by: multiplications of floats that one core does in a nanosecond, bytes that it reads from the caches beyond its first, and
// what is the least for one part.
inline constexpr double kGemmPerNs = 45, kGemmBytesPerNs = 20, kGemmLeastWork = 1 << 17;
inline constexpr int64_t kGemmDepth = 256;     // k is cut into pieces of at most this
inline constexpr int64_t kGemmColumns = 1024;  // columns of B packed at a time
inline constexpr int64_t kGemmScratch = kGemmDepth * (kGemmColumns + 32);  // packed B, packed rows of A, an edge tile
// B packed as a whole takes k times this many elements.
inline constexpr int64_t gemm_packed_columns(int64_t n) { return (n + 31) / 32 * 32; }

// How the result of a product is cut into parts for so many threads: in rows x columns, columns at multiples of 32. `pack`: each part makes a packed copy of its
// columns of B; `size`: bytes of an element. Which parts there are does not show in the bits.
struct GemmGrid {
  int64_t rows = 1, columns = 1;
  int64_t parts() const { return rows * columns; }
};
GemmGrid gemm_grid(int64_t m, int64_t n, int64_t k, bool pack, int size, int64_t threads);

WEFT_DECLARE_ISA(void gemm_float(const GemmTask<float>& g))
WEFT_DECLARE_ISA(void gemm_double(const GemmTask<double>& g))
// Packs columns [begin, end) of B for `packed_b`; begin is a multiple of 32, end too or n.
WEFT_DECLARE_ISA(void gemm_pack_float(const GemmTask<float>& g, int64_t begin, int64_t end, float* packed))
WEFT_DECLARE_ISA(void gemm_pack_double(const GemmTask<double>& g, int64_t begin, int64_t end, double* packed))

}  // namespace weft_engine::kernels

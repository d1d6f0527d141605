#include "kernels/cpu/batch_matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/bfloat_gemm.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/narrow_gemm.h"
#include "kernels/cpu/narrow_simd.h"
#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {
namespace {

using core::DType;
using core::Status;
using core::ThreadPool;

// Few big matrices: the threads share each one. Many: each thread takes whole matrices.
template <class F>
void for_each_batch(const BatchMatMulArgs& g, ThreadPool& pool, F body) {
  const double cost = double(g.m) * double(g.n) * double(g.k) / 30 + 50;
  pool.parallel_for(g.batches, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(g.a_index.empty() ? i : g.a_index[size_t(i)], g.b_index.empty() ? i : g.b_index[size_t(i)], i);
  });
}

void multiply(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
              ThreadPool* pool) {
  if (pool) sgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, false, *pool);
  else sgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, false);
}
void multiply(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc,
              ThreadPool* pool) {
  if (pool) dgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, false, *pool);
  else dgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, false);
}

template <class T>
void run_real(const BatchMatMulArgs& g, const T* a, const T* b, T* c, ThreadPool& pool) {
  const int64_t lda = g.transa ? g.m : g.k, ldb = g.transb ? g.k : g.n;
  auto one = [&](int64_t ia, int64_t ib, int64_t ic, ThreadPool* p) {
    multiply(g.transa, g.transb, g.m, g.n, g.k, a + ia * g.m * g.k, lda, b + ib * g.k * g.n, ldb, c + ic * g.m * g.n, g.n, p);
  };
  const int64_t threads = pool.threads();
  if (g.batches < 2 * threads && gemm_grid(g.m, g.n, g.k, g.transb, sizeof(T), threads).parts() >= std::min(g.batches, threads)) {
    for (int64_t i = 0; i < g.batches; ++i) one(g.a_index.empty() ? i : g.a_index[size_t(i)], g.b_index.empty() ? i : g.b_index[size_t(i)], i, &pool);
    return;
  }
  for_each_batch(g, pool, [&](int64_t ia, int64_t ib, int64_t ic) { one(ia, ib, ic, nullptr); });
}

template <class T>
void run_plain(const BatchMatMulArgs& g, const void* a, const void* b, void* c, ThreadPool& pool) {
  // A single product is cut along its rows, which only works as long as A is stored row by row.
  if (g.batches == 1 && !g.transa) {
    pool.parallel_for(g.m, double(g.n) * double(g.k), [&](int64_t begin, int64_t end) {
      plain_gemm(false, g.transb, g.conj_a, g.conj_b, end - begin, g.n, g.k, static_cast<const T*>(a) + begin * g.k, static_cast<const T*>(b),
                 static_cast<T*>(c) + begin * g.n);
    });
    return;
  }
  for_each_batch(g, pool, [&](int64_t ia, int64_t ib, int64_t ic) {
    plain_gemm(g.transa, g.transb, g.conj_a, g.conj_b, g.m, g.n, g.k, static_cast<const T*>(a) + ia * g.m * g.k,
               static_cast<const T*>(b) + ib * g.k * g.n, static_cast<T*>(c) + ic * g.m * g.n);
  });
}

// Few rows: B is read as it is.
void run_few_rows(DType type, const BatchMatMulArgs& g, const float* a, const uint16_t* b, float* c, ThreadPool& pool) {
  const int64_t ldb = g.transb ? g.k : g.n, blocks = (g.n + kNarrowColumns - 1) / kNarrowColumns;
  const double cost = double(std::min(g.n, kNarrowColumns)) * double(g.k) * (0.05 + 0.02 * double(g.m));
  pool.parallel_for(g.batches * blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / blocks, j = i % blocks * kNarrowColumns;
      const int64_t ia = g.a_index.empty() ? at : g.a_index[size_t(at)], ib = g.b_index.empty() ? at : g.b_index[size_t(at)];
      const NarrowTask t{type == DType::kHalf, g.transb, g.m, g.n, g.k, a + ia * g.m * g.k, b + ib * g.k * g.n, ldb, c + at * g.m * g.n};
      WEFT_BEST_ISA(narrow_columns)(t, j, std::min(g.n, j + kNarrowColumns));
    }
  });
}

void run_bfloat(const BatchMatMulArgs& g, const uint16_t* a, const uint16_t* b, uint16_t* c, ThreadPool& pool) {
  const auto one = [&](int64_t ia, int64_t ib, int64_t ic, ThreadPool* p) {
    bfloat_matmul({g.transa, g.transb, false, g.m, g.n, g.k, a + ia * g.m * g.k, b + ib * g.k * g.n, c + ic * g.m * g.n}, p);
  };
  if (g.batches == 1) return one(g.a_index.empty() ? 0 : g.a_index[0], g.b_index.empty() ? 0 : g.b_index[0], 0, &pool);
  for_each_batch(g, pool, [&](int64_t ia, int64_t ib, int64_t ic) { one(ia, ib, ic, nullptr); });
}

void run_narrow(DType type, const BatchMatMulArgs& g, const void* a, const void* b, void* c, ThreadPool& pool) {
  const bool few = !g.transa && narrow_serves(g.transb, g.m, g.n, g.k);
  if (type == DType::kBfloat16 && !few && bfloat_serves(g.m, g.n, g.k))
    return run_bfloat(g, static_cast<const uint16_t*>(a), static_cast<const uint16_t*>(b), static_cast<uint16_t*>(c), pool);
  const int64_t na = g.a_count * g.m * g.k, nb = few ? 0 : g.b_count * g.k * g.n, nc = g.batches * g.m * g.n;
  const Scratch wa(na), wb(nb), wc(nc);
  widen(type, a, wa.get(), na, pool);
  if (few) {
    run_few_rows(type, g, wa.get(), static_cast<const uint16_t*>(b), wc.get(), pool);
  } else {
    widen(type, b, wb.get(), nb, pool);
    run_real<float>(g, wa.get(), wb.get(), wc.get(), pool);
  }
  narrow(type, wc.get(), c, nc, pool);
}

}  // namespace

Status batch_matmul(DType type, const BatchMatMulArgs& g, const void* a, const void* b, void* c, ThreadPool& pool) {
  if (g.m == 0 || g.n == 0 || g.batches == 0) return {};
  switch (type) {
    case DType::kFloat: run_real(g, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c), pool); break;
    case DType::kDouble: run_real(g, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(c), pool); break;
    case DType::kHalf:
    case DType::kBfloat16: run_narrow(type, g, a, b, c, pool); break;
    case DType::kInt8:
    case DType::kUint8: run_plain<uint8_t>(g, a, b, c, pool); break;
    case DType::kInt16:
    case DType::kUint16: run_plain<uint16_t>(g, a, b, c, pool); break;
    case DType::kInt32:
    case DType::kUint32: run_plain<uint32_t>(g, a, b, c, pool); break;
    case DType::kInt64:
    case DType::kUint64: run_plain<uint64_t>(g, a, b, c, pool); break;
    case DType::kComplex64: run_plain<core::complex64>(g, a, b, c, pool); break;
    case DType::kComplex128: run_plain<core::complex128>(g, a, b, c, pool); break;
    default: return core::unimplemented("no matrix product for type ", core::dtype_name(type));
  }
  return {};
}

void widen(DType type, const void* from, float* to, int64_t n, ThreadPool& pool) {
  pool.parallel_for(n, 0.2, [&](int64_t begin, int64_t end) {
    if (type == DType::kHalf) WEFT_BEST_ISA(half_to_floats)(static_cast<const uint16_t*>(from) + begin, to + begin, end - begin);
    else if (type == DType::kBfloat16) WEFT_BEST_ISA(bfloat_to_floats)(static_cast<const uint16_t*>(from) + begin, to + begin, end - begin);
    else std::memcpy(to + begin, static_cast<const float*>(from) + begin, size_t(end - begin) * sizeof(float));
  });
}

void narrow(DType type, const float* from, void* to, int64_t n, ThreadPool& pool) {
  pool.parallel_for(n, 0.2, [&](int64_t begin, int64_t end) {
    if (type == DType::kHalf) WEFT_BEST_ISA(floats_to_half)(from + begin, static_cast<uint16_t*>(to) + begin, end - begin);
    else if (type == DType::kBfloat16) WEFT_BEST_ISA(floats_to_bfloat)(from + begin, static_cast<uint16_t*>(to) + begin, end - begin);
    else std::memcpy(static_cast<float*>(to) + begin, from + begin, size_t(end - begin) * sizeof(float));
  });
}

}  // namespace weft_engine::kernels

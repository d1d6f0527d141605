// Products of bfloat16 matrices by the processor's own instructions: dot products of pairs (AVX512-BF16), tiles (AMX). Sums are of floats; numbers too small
// for the exponent (denormal ones) count as zero, as in these instructions.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

// Whether this processor has them and they are faster than the product of floats.
bool bfloat_serves(int64_t m, int64_t n, int64_t k);

// C [m, n] = op(A) op(B), where bfloat_serves; all matrices without gaps between rows. C: bfloat16, or floats with `wide`. The bits do not depend on the number of
// threads; without a pool there is one, the caller.
struct BfloatProduct {
  bool transa, transb, wide;
  int64_t m, n, k;
  const uint16_t *a, *b;
  void* c;
};
void bfloat_matmul(const BfloatProduct& p, core::ThreadPool* pool);

// ---- for one thread: bfloat_gemm_simd.cc, bfloat_gemm_amx.cc

// B is packed in panels of so many columns, each [pairs of k][columns][2]; k is filled up with zeros to a number of pairs that is a multiple of `step`.
inline constexpr int64_t kBfloatPanel = 16, kAmxPairs = 16;
inline constexpr int64_t bfloat_pairs(int64_t k, int64_t step) { return ((k + 1) / 2 + step - 1) / step * step; }

struct BfloatTask {
  bool wide;
  int64_t rows, columns, pairs;
  const uint16_t* a;  // rows of 2 * pairs numbers at least, `a_step` apart
  int64_t a_step;
  const uint16_t* b;  // packed panels
  void* c;
  int64_t c_step;  // in elements
};

namespace avx512_bfloat {
void bfloat_rows(const BfloatTask& t);
// `count` columns of B beginning with j as a panel; `count` rows of A beginning with i as rows of 2 * pairs numbers, `step` apart.
void bfloat_pack_panel(const BfloatProduct& p, int64_t j, int64_t count, int64_t pairs, uint16_t* to);
void bfloat_pack_rows(const BfloatProduct& p, int64_t i, int64_t count, int64_t pairs, uint16_t* to, int64_t step);
}  // namespace avx512_bfloat
namespace amx_bfloat {
void bfloat_rows(const BfloatTask& t);  // pairs: a multiple of kAmxPairs
}

}  // namespace weft_engine::kernels

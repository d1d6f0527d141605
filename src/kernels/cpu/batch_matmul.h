// Products of stacks of matrices, for every type that MatMul, BatchMatMul and Einsum serve.
#pragma once

#include <span>

#include "core/dtype.h"
#include "core/status.h"
#include "core/thread_pool.h"

namespace weft_engine::kernels {

struct BatchMatMulArgs {
  bool transa = false, transb = false;
  bool conj_a = false, conj_b = false;  // complex types only
  int64_t m = 0, n = 0, k = 0;
  int64_t batches = 1;                  // matrices of the result, dense and in order
  // Which matrix of A and of B each product takes; empty: the one at the same place.
  std::span<const int64_t> a_index, b_index;
  int64_t a_count = 1, b_count = 1;     // matrices in A and in B
};

// Unimplemented for a type without a product.
core::Status batch_matmul(core::DType type, const BatchMatMulArgs& args, const void* a, const void* b, void* c, core::ThreadPool& pool);

// to[i] = float(from[i]) for half, bfloat16 and float; and back.
void widen(core::DType type, const void* from, float* to, int64_t n, core::ThreadPool& pool);
void narrow(core::DType type, const float* from, void* to, int64_t n, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

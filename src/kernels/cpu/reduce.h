// Reductions over any set of dimensions: sums, means, products, extremes and norms. The order in which
// numbers are combined follows from the shape alone, never from the thread count.
#pragma once

#include <cstdint>
#include <span>

#include "core/dtype.h"
#include "core/status.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

enum class ReduceOp { kSum, kMean, kProd, kMax, kMin, kNorm, kSumSquares };  // kNorm: the root of kSumSquares

// Reduces the dimensions i of `dims` with reduced[i]; out holds the others in order. bool counts as
// uint8 (all: kMin, any: kMax). Unimplemented for types without the operation.
core::Status reduce(ReduceOp op, core::DType type, const void* in, std::span<const int64_t> dims, std::span<const bool> reduced, void* out,
                    core::ThreadPool& pool);

// The loops for one operation and one type. Totals are kept in a type of the loops' own choice
// (sums of floats in double).
struct ReduceLoops {
  int in_size = 0, total_size = 0, out_size = 0;
  void (*init)(void* totals, int64_t n) = nullptr;
  // totals[i] takes in row i of `rows` rows of n elements each.
  void (*rows)(const void* in, int64_t rows, int64_t n, void* totals) = nullptr;
  // totals[j] takes in column j of `rows` rows, `stride` elements apart.
  void (*columns)(const void* in, int64_t rows, int64_t stride, int64_t columns, void* totals) = nullptr;
  void (*merge)(void* totals, const void* more, int64_t n) = nullptr;
  void (*finish)(const void* totals, void* out, int64_t n, double count) = nullptr;
};
inline constexpr int64_t kReduceTile = 2048;  // most columns at a time

WEFT_DECLARE_ISA(const ReduceLoops* reduce_loops(ReduceOp op, core::DType type))

// The greatest (least) of n numbers that beats the lowest (highest) one, which stands for none; NaN never wins.
WEFT_DECLARE_ISA(float extreme_float(bool greatest, const float* x, int64_t n))

// Index of the greatest (least) element along the middle dimension of [outer, n, inner], the first among
// equals; NaN never wins, and index 0 stands where nothing does. `index_size`: bytes of an output (2, 4, 8).
core::Status arg_extreme(bool greatest, core::DType type, const void* in, int64_t outer, int64_t n, int64_t inner, void* out, int index_size,
                         core::ThreadPool& pool);

}  // namespace weft_engine::kernels

// Copies between two arrays that are walked with strides of their own: the one loop behind transposing,
// slicing, broadcasting, tiling, reversing, padding, concatenating and splitting.
#pragma once

#include <cassert>
#include <cstdint>

#include "core/dtype.h"
#include "core/thread_pool.h"

namespace weft_engine::kernels {

// The walk, outermost dimension first. Strides count elements; they may be negative, and 0 in the source
// (repeats it). Dimensions of size 1 vanish and those that are one run in both arrays merge as they are
// added, so callers need not tidy up.
class CopyPlan {
 public:
  struct Dim {
    int64_t size, source, target;  // steps, and elements per step
  };
  // More than any walk over memory can have, since every dimension kept has at least two steps.
  static constexpr int kMaxDims = 64;

  void add(int64_t size, int64_t source_stride, int64_t target_stride) {
    if (size <= 0) empty_ = true;
    if (size <= 1 || empty_) return;
    if (rank_ > 0) {
      Dim& last = dims_[rank_ - 1];
      if (last.source == times(source_stride, size) && last.target == times(target_stride, size)) {
        last = {times(last.size, size), source_stride, target_stride};
        return;
      }
    }
    assert(rank_ < kMaxDims);
    dims_[rank_++] = {size, source_stride, target_stride};
  }
  bool empty() const { return empty_; }
  int rank() const { return rank_; }
  const Dim& operator[](int i) const { return dims_[i]; }
  Dim& operator[](int i) { return dims_[i]; }

 private:
  // Wraps: a later dimension of size 0 may make the whole walk empty.
  static int64_t times(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
  int rank_ = 0;
  bool empty_ = false;
  Dim dims_[kMaxDims];
};

// source and target point at the first elements of the walk. No target element may be met twice.
void strided_copy(core::ThreadPool& pool, core::DType dtype, const void* source, void* target, const CopyPlan& plan);

// n elements in a row.
void copy_run(core::ThreadPool& pool, core::DType dtype, const void* source, void* target, int64_t n);
// n times the same element.
void fill(core::ThreadPool& pool, core::DType dtype, const void* value, void* target, int64_t n);
// n elements of value zero: 0, false, the empty string.
void fill_zero(core::ThreadPool& pool, core::DType dtype, void* target, int64_t n);

}  // namespace weft_engine::kernels

// Rows that are combined element by element: the inner loops of the segment ops.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

enum class SegmentOp { kSum, kProd, kMax, kMin };

struct SegmentRows {
  int size = 0;                                                       // bytes of an element
  void (*fill)(SegmentOp op, void* row, int64_t n) = nullptr;         // the start: 0, 1, the lowest, the highest number
  void (*combine)(SegmentOp op, void* row, const void* x, int64_t n) = nullptr;
  void (*divide)(void* row, int64_t n, double by) = nullptr;          // integers are cut towards zero
  void (*add_scaled)(void* row, const void* x, int64_t n, double scale) = nullptr;
};

// Null for types that cannot be added.
const SegmentRows* segment_rows(core::DType type);

WEFT_DECLARE_ISA(void combine_floats(SegmentOp op, void* row, const void* x, int64_t n))
WEFT_DECLARE_ISA(void combine_doubles(SegmentOp op, void* row, const void* x, int64_t n))
WEFT_DECLARE_ISA(void combine_int32(SegmentOp op, void* row, const void* x, int64_t n))
WEFT_DECLARE_ISA(void divide_floats(float* row, int64_t n, float by))

}  // namespace weft_engine::kernels

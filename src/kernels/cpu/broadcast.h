// Broadcasting of up to three dense operands: the common shape, and a walk over it in straight runs.
#pragma once

#include <span>

#include "core/function_ref.h"
#include "core/shape.h"
#include "kernels/cpu/elementwise.h"

namespace weft_engine::kernels {

// The shape that operands of these shapes have together; nullopt if they do not fit.
std::optional<core::Shape> broadcast_shape(const core::Shape& a, const core::Shape& b);

// How to walk over a shape: dimensions that all operands pass in the same manner are merged, those of
// size 1 are dropped, so that few are left and the innermost runs are long.
class Broadcast {
 public:
  static constexpr int kMaxOperands = 3;

  // The operands' shapes must broadcast to `out`.
  Broadcast(const core::Shape& out, std::span<const core::Shape* const> operands);

  // Where a run begins in each operand, in elements.
  struct Offsets {
    int64_t at[kMaxOperands];
  };
  // The stride (0 or 1) of operand k within a run.
  int inner_stride(int k) const { return int(dims_[rank_ - 1].stride[k]); }
  int64_t inner_size() const { return dims_[rank_ - 1].size; }
  // The operand of two that is one row, repeated for each row of the other ([n, c] with [c]); -1 if there
  // is none. Then the other operand is read straight through.
  int repeated_row() const;
  // Of two operands, when the walk is a matrix.
  std::optional<BinaryRows> rows() const;
  // Calls run(offsets, out, n) for the runs that cover elements [begin, end) of the output.
  void for_runs(int64_t begin, int64_t end, core::FunctionRef<void(const Offsets&, int64_t, int64_t)> run) const;

 private:
  struct Dim {
    int64_t size;
    int64_t stride[kMaxOperands];  // in elements; 0 where the operand is repeated
  };
  int rank_ = 0;
  Dim dims_[core::kMaxRank + 1];  // not initialised beyond rank_
};

}  // namespace weft_engine::kernels

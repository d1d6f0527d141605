// What the lowering rules of mathematical families share.
#pragma once

#include <vector>

#include "op/lower.h"

namespace weft_engine::ops {

inline bool is_narrow(core::DType t) { return t == core::DType::kHalf || t == core::DType::kBfloat16; }
// half and bfloat16 are summed in float, and rounded once at the end.
inline core::DType sum_type(core::DType t) { return is_narrow(t) ? core::DType::kFloat : t; }
inline ir::Value widened(op::LowerContext& l, ir::Value x) { return x ? l.b.convert(x, sum_type(x->type.dtype)) : nullptr; }

// All dimensions but one.
inline std::vector<int> axes_but(int rank, int axis) {
  std::vector<int> out;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) out.push_back(i);
  }
  return out;
}
inline std::vector<int> all_axes(int rank) { return axes_but(rank, -1); }

// A size as a number of type t, for arithmetic.
inline ir::Value number(op::LowerContext& l, ir::Dim n, core::DType t) {
  return l.b.convert(l.b.sizes({std::move(n)}, core::DType::kInt64, true), t);
}

// Complex numbers with their imaginary parts negated; others as they are.
inline ir::Value conjugate(ir::Builder& b, ir::Value x) {
  return x && core::is_complex_type(x->type.dtype) ? b.complex(b.real(x), b.neg(b.imag(x))) : x;
}

// Where the standard normal distribution is p; doubles.
ir::Value lowered_normal_quantile(ir::Builder& b, ir::Value p);

}  // namespace weft_engine::ops

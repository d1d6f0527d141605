// What the plain loops of binary_*.cc share. One loop serves all strides: these types and operations are
// either rare or so costly that the loop does not matter.
#pragma once

#include "kernels/cpu/elementwise.h"

namespace weft_engine::kernels {

template <class T, class R, class Op>
bool strided_loop(const void* va, const void* vb, void* vo, int64_t n, int stride_a, int stride_b) {
  const T* a = static_cast<const T*>(va);
  const T* b = static_cast<const T*>(vb);
  R* o = static_cast<R*>(vo);
  const Op op{};
  for (int64_t i = 0; i < n; ++i) o[i] = op(a[i * stride_a], b[i * stride_b]);
  return true;
}

// For operations without a result for some operands: op(a, b, ok) clears `ok`.
template <class T, class Op>
bool checked_loop(const void* va, const void* vb, void* vo, int64_t n, int stride_a, int stride_b) {
  const T* a = static_cast<const T*>(va);
  const T* b = static_cast<const T*>(vb);
  T* o = static_cast<T*>(vo);
  const Op op{};
  bool ok = true;
  for (int64_t i = 0; i < n; ++i) o[i] = op(a[i * stride_a], b[i * stride_b], ok);
  return ok;
}

// Parts of binary_loop by kind of type; null where there is none.
BinaryLoop integer_binary_loop(Binary op, core::DType t);
BinaryLoop float_binary_loop(Binary op, core::DType t);   // float, double; FloorDiv and the like of half, bfloat16
BinaryLoop complex_binary_loop(Binary op, core::DType t);
BinaryLoop special_binary_loop(Binary op, core::DType t);

}  // namespace weft_engine::kernels

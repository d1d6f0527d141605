// What the plain loops of unary_loops.cc and special_loops.cc share.
#pragma once

#include "kernels/cpu/elementwise.h"

namespace weft_engine::kernels {

template <class T, class R, class Op>
void map_loop(const void* vin, void* vout, int64_t n) {
  const T* in = static_cast<const T*>(vin);
  R* out = static_cast<R*>(vout);
  const Op op{};
  for (int64_t i = 0; i < n; ++i) out[i] = op(in[i]);
}

UnaryLoop plain_unary_loop(Unary op, core::DType t);
UnaryLoop special_unary_loop(Unary op, core::DType t);

}  // namespace weft_engine::kernels

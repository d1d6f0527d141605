// Kernels for elementwise ops, made from the loops of kernels/cpu/elementwise.h: what an op's table
// entry names is only which loop it is.
#pragma once

#include "kernels/cpu/elementwise.h"
#include "op/op_traits.h"
#include "op/registry.h"

namespace weft_engine::ops {

using kernels::Binary;
using kernels::Unary;

// One input, one output of the same shape.
op::KernelFactory unary(Unary f);
// Two inputs that are broadcast against each other.
op::KernelFactory binary(Binary f);
// Equal and NotEqual: as binary, but shapes that do not fit may mean "not equal".
op::KernelFactory equality(Binary f);
// Two inputs with as many elements; the output has the shape of the first.
op::KernelFactory same_count(Binary f);
// Two inputs of one shape.
op::KernelFactory same_shape(Binary f);

// The traits of such ops, with `more` beside them: what the op does to one element, or to a pair.
op::OpTraits elementwise(Unary f, op::OpTraits more = {});
op::OpTraits elementwise(Binary f, op::OpTraits more = {});
// The same for inputs that are broadcast against each other.
op::OpTraits broadcasting(Binary f, op::OpTraits more = {});

// Runs body on parts of [0, n), in parallel when the work is worth it; `cost` in ns per item.
template <class F>
void for_parts(op::KernelContext& c, int64_t n, double cost, F&& body) {
  if (double(n) * cost < 10'000) body(int64_t(0), n);
  else c.pool().parallel_for(n, cost, body);
}

// "Inputs to operation ... must have the same size and shape", with TensorFlow's text.
op::Status not_same_shape(const op::KernelContext& c, int i, int j);

}  // namespace weft_engine::ops

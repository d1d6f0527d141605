// Products of matrices and of stacks of matrices.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Dims = std::vector<ir::Dim>;
using V = ir::Value;

LoweredList matmul(LowerContext& l) {
  const V a = widened(l, l.x(0)), b = widened(l, l.x(1));
  if (!a || !b) return {};
  if (a->rank() != 2 || b->rank() != 2) return l.fail(invalid_argument("In[0] and In[1] ndims must be == 2: ", a->rank()));
  return {l.b.convert(l.b.dot(a, b, l.attr<bool>("transpose_a"), l.attr<bool>("transpose_b")), l.out_type())};
}

bool all_ones(const ir::Value x) {
  for (int i = 0; i < x->rank() - 2; ++i) {
    if (!x->dim(i).is(1)) return false;
  }
  return true;
}

V with_batch(ir::Builder& b, V x, const Dims& batch) {
  Dims dims = batch;
  dims.insert(dims.end(), x->type.dims.end() - 2, x->type.dims.end());
  return b.broadcast_to(x, dims);
}

LoweredList batch_matmul(LowerContext& l) {
  ir::Builder& b = l.b;
  const bool tx = l.attr<bool>("adj_x"), ty = l.attr<bool>("adj_y");
  const DType t = sum_type(l.out_type());
  V x = b.convert(l.x(0), t), y = b.convert(l.x(1), t);
  if (tx) x = conjugate(b, x);
  if (ty) y = conjugate(b, y);
  if (!x || !y) return {};
  if (x->rank() < 2) return l.fail(invalid_argument("In[0] ndims must be >= 2: ", x->rank()));
  if (y->rank() < 2) return l.fail(invalid_argument("In[1] ndims must be >= 2: ", y->rank()));
  const Dims dx = x->type.dims, dy = y->type.dims, outer_x(dx.begin(), dx.end() - 2), outer_y(dy.begin(), dy.end() - 2);
  Dims batch = b.broadcast_dims(outer_x, outer_y);
  if (!l.ok()) return {};
  if (!tx && all_ones(y) && batch == outer_x) {  // one matrix for all: the stack is one tall matrix
    const V tall = b.dot(b.reshape(x, {product(batch) * dx[dx.size() - 2], dx.back()}), b.reshape(y, {dy[dy.size() - 2], dy.back()}), false, ty);
    if (!tall) return {};
    batch.push_back(dx[dx.size() - 2]);
    batch.push_back(tall->dim(1));
    return {b.convert(b.reshape(tall, batch), l.out_type())};
  }
  return {b.convert(b.dot(with_batch(b, x, batch), with_batch(b, y, batch), tx, ty), l.out_type())};
}

}  // namespace

void lower_matmul(Registry& r) {
  r.lower("BatchMatMul", batch_matmul);
  r.lower("BatchMatMulV2", batch_matmul);
  r.lower("BatchMatMulV3", batch_matmul);
  r.lower("MatMul", matmul);
  r.lower("SparseMatMul", matmul);  // the hints about zeros change nothing in the result
}

}  // namespace weft_engine::ops

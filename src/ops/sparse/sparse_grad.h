// Gradients of arithmetic on sparse tensors: of their values, and of the dense operands.
#pragma once

#include "op/gradient.h"

namespace weft_engine::ops {

op::Grads sparse_add_grad(const op::GradContext& g);
op::Grads sparse_reduce_sum_grad(const op::GradContext& g);
op::Grads sparse_softmax_grad(const op::GradContext& g);
op::Grads sparse_dense_mul_grad(const op::GradContext& g);
op::Grads sparse_dense_div_grad(const op::GradContext& g);
op::Grads sparse_dense_add_grad(const op::GradContext& g);
op::Grads sparse_dense_matmul_grad(const op::GradContext& g);
// TensorFlow registers a gradient for these that fails.
op::Grads no_sparse_gradient(const op::GradContext& g);

}  // namespace weft_engine::ops

// Gradients of sparse matrices: matrices with entries at the same places.
#pragma once

#include "op/gradient.h"

namespace weft_engine::ops {

op::Grads csr_from_dense_grad(const op::GradContext& g);
op::Grads csr_to_dense_grad(const op::GradContext& g);
op::Grads csr_from_sparse_grad(const op::GradContext& g);
op::Grads csr_to_sparse_grad(const op::GradContext& g);
op::Grads csr_add_grad(const op::GradContext& g);
op::Grads csr_transpose_grad(const op::GradContext& g);
op::Grads csr_softmax_grad(const op::GradContext& g);
op::Grads csr_dense_matmul_grad(const op::GradContext& g);
op::Grads csr_sparse_matmul_grad(const op::GradContext& g);

}  // namespace weft_engine::ops

// Gradients of decompositions and solvers of matrices.
#pragma once

#include "op/gradient.h"

namespace weft_engine::ops {

op::Grads square_root_grad(const op::GradContext& g);
op::Grads qr_grad(const op::GradContext& g);
op::Grads eig_grad(const op::GradContext& g);
op::Grads self_adjoint_eig_grad(const op::GradContext& g);
op::Grads svd_grad(const op::GradContext& g);
op::Grads least_squares_grad(const op::GradContext& g);
op::Grads banded_solve_grad(const op::GradContext& g);
op::Grads tridiagonal_matmul_grad(const op::GradContext& g);
op::Grads tridiagonal_solve_grad(const op::GradContext& g);

}  // namespace weft_engine::ops

// What the ops on CSR matrices share.
#pragma once

#include "op/csr_matrix.h"
#include "op/kernel.h"
#include "op/shape_context.h"

namespace weft_engine::ops {

// The matrix in a variant input; TensorFlow's texts if there is none.
core::Result<const op::CsrMatrix*> csr_input(const op::KernelContext& c, int i);
core::Status csr_output(op::KernelContext& c, int i, std::shared_ptr<const op::CsrMatrix> m);
// Rank 2 or 3, and sizes that int32 pointers can count.
core::Status check_csr_shape(const core::Shape& shape);
// alpha a + beta b; types must agree.
core::Result<std::shared_ptr<op::CsrMatrix>> csr_sum(const op::CsrMatrix& a, const core::Tensor& alpha, const op::CsrMatrix& b,
                                                     const core::Tensor& beta);
// The dense shape of a matrix input as far as a shape rule knows it.
core::PartialShape csr_shape(const op::ShapeContext& c, int i);

}  // namespace weft_engine::ops

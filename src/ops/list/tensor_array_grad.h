// Gradients of arrays of tensors. An array's gradient is another array, made or found by TensorArrayGradV3 for the walk
// back that asks (its "source"); the flow, a number that is handed from op to op, keeps writes before reads.
#pragma once

#include "op/gradient.h"

namespace weft_engine::ops {

op::Grads array_read_grad(const op::GradContext& g);
op::Grads array_write_grad(const op::GradContext& g);
op::Grads array_gather_grad(const op::GradContext& g);
op::Grads array_scatter_grad(const op::GradContext& g);
op::Grads array_concat_grad(const op::GradContext& g);
op::Grads array_split_grad(const op::GradContext& g);

}  // namespace weft_engine::ops

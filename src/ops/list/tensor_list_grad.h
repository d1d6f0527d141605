// Gradients of lists of tensors: lists of the same length.
#pragma once

#include "op/gradient.h"

namespace weft_engine::ops {

op::Grads list_concat_grad(const op::GradContext& g);
op::Grads list_from_tensor_grad(const op::GradContext& g);
op::Grads list_gather_grad(const op::GradContext& g);
op::Grads list_get_item_grad(const op::GradContext& g);
op::Grads list_pop_back_grad(const op::GradContext& g);
op::Grads list_push_back_grad(const op::GradContext& g);
op::Grads list_resize_grad(const op::GradContext& g);
op::Grads list_scatter_grad(const op::GradContext& g);
op::Grads list_scatter_into_grad(const op::GradContext& g);
op::Grads list_set_item_grad(const op::GradContext& g);
op::Grads list_split_grad(const op::GradContext& g);
op::Grads list_stack_grad(const op::GradContext& g);

}  // namespace weft_engine::ops

// The families' rules for the compiler: each is one function in <family>_lower.cc; all_lower.cc lists them.
#pragma once

namespace weft::op {
class Registry;
}

namespace weft::ops {

void lower_array(op::Registry& r);
void lower_array_values(op::Registry& r);
void lower_bias(op::Registry& r);
void lower_cast(op::Registry& r);
void lower_compare(op::Registry& r);
void lower_concat(op::Registry& r);
void lower_control_flow(op::Registry& r);
void lower_conv(op::Registry& r);
void lower_debug(op::Registry& r);
void lower_diag(op::Registry& r);
void lower_einsum(op::Registry& r);
void lower_fake_quant(op::Registry& r);
void lower_function(op::Registry& r);
void lower_gather(op::Registry& r);
void lower_image(op::Registry& r);
void lower_linalg(op::Registry& r);
void lower_loss(op::Registry& r);
void lower_math_binary(op::Registry& r);
void lower_math_special(op::Registry& r);
void lower_math_unary(op::Registry& r);
void lower_matmul(op::Registry& r);
void lower_nn_act(op::Registry& r);
void lower_norm(op::Registry& r);
void lower_optimizer(op::Registry& r);
void lower_pad(op::Registry& r);
void lower_pool(op::Registry& r);
void lower_random(op::Registry& r);
void lower_random_stateless(op::Registry& r);
void lower_reduce(op::Registry& r);
void lower_rnn(op::Registry& r);
void lower_scan(op::Registry& r);
void lower_scatter(op::Registry& r);
void lower_segment(op::Registry& r);
void lower_slice(op::Registry& r);
void lower_sort(op::Registry& r);
void lower_space_batch(op::Registry& r);
void lower_state(op::Registry& r);
void lower_state_ref(op::Registry& r);
void lower_state_sparse(op::Registry& r);
void lower_tensor_array(op::Registry& r);
void lower_tensor_list(op::Registry& r);
void lower_transpose(op::Registry& r);

// All of them, behind the families themselves.
void register_lowerings(op::Registry& r);

}  // namespace weft::ops

#include "ops/lower_families.h"

namespace weft::ops {

void register_lowerings(op::Registry& r) {
  lower_array(r);
  lower_array_values(r);
  lower_bias(r);
  lower_cast(r);
  lower_compare(r);
  lower_concat(r);
  lower_control_flow(r);
  lower_conv(r);
  lower_debug(r);
  lower_diag(r);
  lower_einsum(r);
  lower_fake_quant(r);
  lower_function(r);
  lower_gather(r);
  lower_image(r);
  lower_linalg(r);
  lower_loss(r);
  lower_math_binary(r);
  lower_math_special(r);
  lower_math_unary(r);
  lower_matmul(r);
  lower_nn_act(r);
  lower_norm(r);
  lower_optimizer(r);
  lower_pad(r);
  lower_pool(r);
  lower_random(r);
  lower_random_stateless(r);
  lower_reduce(r);
  lower_rnn(r);
  lower_scan(r);
  lower_scatter(r);
  lower_segment(r);
  lower_slice(r);
  lower_sort(r);
  lower_space_batch(r);
  lower_state(r);
  lower_state_ref(r);
  lower_state_sparse(r);
  lower_tensor_array(r);
  lower_tensor_list(r);
  lower_transpose(r);
}

}  // namespace weft::ops

#include "ops/all.h"

#include "ops/lower_families.h"
#include "ops/small_families.h"

namespace weft::ops {

void all(op::Registry& r) {
  array(r);
  array_values(r);
  audio(r);
  bias(r);
  bincount(r);
  bitwise(r);
  candidate_sampling(r);
  cast(r);
  checkpoint(r);
  clustering(r);
  collective(r);
  compare(r);
  composite_variant(r);
  concat(r);
  control_flow(r);
  conv(r);
  conv3d(r);
  ctc(r);
  dataset(r);
  debug(r);
  debug_numeric(r);
  decode_raw(r);
  diag(r);
  einsum(r);
  csv(r);
  example(r);
  json_example(r);
  proto(r);
  sequence_example(r);
  fake_quant(r);
  fft(r);
  file(r);
  function(r);
  fused(r);
  gather(r);
  image(r);
  image_codec(r);
  image_resize(r);
  io_ops(r);
  linalg(r);
  lookup(r);
  loss(r);
  math_binary(r);
  math_special(r);
  math_unary(r);
  matmul(r);
  nn_act(r);
  norm(r);
  norm_global(r);
  optimizer(r);
  optional(r);
  pad(r);
  pool(r);
  py_func(r);
  quantized(r);
  queue(r);
  ragged(r);
  ragged_convert(r);
  random(r);
  random_stateless(r);
  reduce(r);
  record_input(r);
  regex(r);
  remap(r);
  rnn(r);
  scan(r);
  scatter(r);
  sdca(r);
  segment(r);
  send_recv(r);
  sets(r);
  slice(r);
  sort(r);
  space_batch(r);
  sparse(r);
  sparse_cross(r);
  sparse_math(r);
  sparse_matrix(r);
  sparse_matrix_math(r);
  sparse_serialize(r);
  state(r);
  state_ref(r);
  state_sparse(r);
  string(r);
  string_format(r);
  string_hash(r);
  string_split(r);
  summary(r);
  tensor_array(r);
  tensor_list(r);
  tensor_map(r);
  transpose(r);
  unicode(r);
  xla(r);
  register_lowerings(r);
}

}  // namespace weft::ops

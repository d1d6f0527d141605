// The op families. Each is one function in the file of the same name; all.cc lists them.
#pragma once

namespace weft::op {
class Registry;
}

namespace weft::ops {

void array(op::Registry& r);
void array_values(op::Registry& r);
void audio(op::Registry& r);
void bias(op::Registry& r);
void bincount(op::Registry& r);
void bitwise(op::Registry& r);
void candidate_sampling(op::Registry& r);
void cast(op::Registry& r);
void checkpoint(op::Registry& r);
void collective(op::Registry& r);
void compare(op::Registry& r);
void concat(op::Registry& r);
void control_flow(op::Registry& r);
void conv(op::Registry& r);
void conv3d(op::Registry& r);
void ctc(op::Registry& r);
void dataset(op::Registry& r);
void debug(op::Registry& r);
void decode_raw(op::Registry& r);
void diag(op::Registry& r);
void einsum(op::Registry& r);
void csv(op::Registry& r);
void example(op::Registry& r);
void json_example(op::Registry& r);
void proto(op::Registry& r);
void sequence_example(op::Registry& r);
void fake_quant(op::Registry& r);
void fft(op::Registry& r);
void file(op::Registry& r);
void fused(op::Registry& r);
void function(op::Registry& r);
void gather(op::Registry& r);
void image(op::Registry& r);
void image_codec(op::Registry& r);
void image_resize(op::Registry& r);
void io_ops(op::Registry& r);
void linalg(op::Registry& r);
void lookup(op::Registry& r);
void loss(op::Registry& r);
void math_binary(op::Registry& r);
void math_special(op::Registry& r);
void math_unary(op::Registry& r);
void matmul(op::Registry& r);
void nn_act(op::Registry& r);
void norm(op::Registry& r);
void optimizer(op::Registry& r);
void optional(op::Registry& r);
void pad(op::Registry& r);
void pool(op::Registry& r);
void py_func(op::Registry& r);
void quantized(op::Registry& r);
void queue(op::Registry& r);
void ragged(op::Registry& r);
void ragged_convert(op::Registry& r);
void random(op::Registry& r);
void random_stateless(op::Registry& r);
void reduce(op::Registry& r);
void regex(op::Registry& r);
void rnn(op::Registry& r);
void scan(op::Registry& r);
void scatter(op::Registry& r);
void segment(op::Registry& r);
void send_recv(op::Registry& r);
void sets(op::Registry& r);
void slice(op::Registry& r);
void sort(op::Registry& r);
void space_batch(op::Registry& r);
void sparse(op::Registry& r);
void sparse_cross(op::Registry& r);
void sparse_math(op::Registry& r);
void sparse_matrix(op::Registry& r);
void sparse_matrix_math(op::Registry& r);
void sparse_serialize(op::Registry& r);
void state(op::Registry& r);
void state_ref(op::Registry& r);
void state_sparse(op::Registry& r);
void string(op::Registry& r);
void string_format(op::Registry& r);
void string_hash(op::Registry& r);
void string_split(op::Registry& r);
void summary(op::Registry& r);
void tensor_array(op::Registry& r);
void tensor_list(op::Registry& r);
void tensor_map(op::Registry& r);
void transpose(op::Registry& r);
void unicode(op::Registry& r);
void xla(op::Registry& r);

// Registers every family.
void all(op::Registry& r);

}  // namespace weft::ops

// The op families. Each is one function in the file of the same name; all.cc lists them.
// Each runs once, hence cold: small code, and all of it in one place.
#pragma once

namespace weft::op {
class Registry;
}

namespace weft::ops {

[[gnu::cold]] void array(op::Registry& r);
[[gnu::cold]] void array_values(op::Registry& r);
[[gnu::cold]] void audio(op::Registry& r);
[[gnu::cold]] void bias(op::Registry& r);
[[gnu::cold]] void bincount(op::Registry& r);
[[gnu::cold]] void bitwise(op::Registry& r);
[[gnu::cold]] void candidate_sampling(op::Registry& r);
[[gnu::cold]] void cast(op::Registry& r);
[[gnu::cold]] void checkpoint(op::Registry& r);
[[gnu::cold]] void clustering(op::Registry& r);
[[gnu::cold]] void collective(op::Registry& r);
[[gnu::cold]] void compare(op::Registry& r);
[[gnu::cold]] void composite_variant(op::Registry& r);
[[gnu::cold]] void concat(op::Registry& r);
[[gnu::cold]] void control_flow(op::Registry& r);
[[gnu::cold]] void conv(op::Registry& r);
[[gnu::cold]] void conv3d(op::Registry& r);
[[gnu::cold]] void ctc(op::Registry& r);
[[gnu::cold]] void dataset(op::Registry& r);
[[gnu::cold]] void debug(op::Registry& r);
[[gnu::cold]] void debug_numeric(op::Registry& r);
[[gnu::cold]] void decode_raw(op::Registry& r);
[[gnu::cold]] void diag(op::Registry& r);
[[gnu::cold]] void einsum(op::Registry& r);
[[gnu::cold]] void csv(op::Registry& r);
[[gnu::cold]] void example(op::Registry& r);
[[gnu::cold]] void json_example(op::Registry& r);
[[gnu::cold]] void norm_global(op::Registry& r);
[[gnu::cold]] void proto(op::Registry& r);
[[gnu::cold]] void record_input(op::Registry& r);
[[gnu::cold]] void remap(op::Registry& r);
[[gnu::cold]] void sdca(op::Registry& r);
[[gnu::cold]] void sequence_example(op::Registry& r);
[[gnu::cold]] void fake_quant(op::Registry& r);
[[gnu::cold]] void fft(op::Registry& r);
[[gnu::cold]] void file(op::Registry& r);
[[gnu::cold]] void fused(op::Registry& r);
[[gnu::cold]] void function(op::Registry& r);
[[gnu::cold]] void gather(op::Registry& r);
[[gnu::cold]] void image(op::Registry& r);
[[gnu::cold]] void image_codec(op::Registry& r);
[[gnu::cold]] void image_resize(op::Registry& r);
[[gnu::cold]] void io_ops(op::Registry& r);
[[gnu::cold]] void linalg(op::Registry& r);
[[gnu::cold]] void lookup(op::Registry& r);
[[gnu::cold]] void loss(op::Registry& r);
[[gnu::cold]] void math_binary(op::Registry& r);
[[gnu::cold]] void math_special(op::Registry& r);
[[gnu::cold]] void math_unary(op::Registry& r);
[[gnu::cold]] void matmul(op::Registry& r);
[[gnu::cold]] void nn_act(op::Registry& r);
[[gnu::cold]] void norm(op::Registry& r);
[[gnu::cold]] void optimizer(op::Registry& r);
[[gnu::cold]] void optional(op::Registry& r);
[[gnu::cold]] void pad(op::Registry& r);
[[gnu::cold]] void pool(op::Registry& r);
[[gnu::cold]] void py_func(op::Registry& r);
[[gnu::cold]] void quantized(op::Registry& r);
[[gnu::cold]] void queue(op::Registry& r);
[[gnu::cold]] void ragged(op::Registry& r);
[[gnu::cold]] void ragged_convert(op::Registry& r);
[[gnu::cold]] void random(op::Registry& r);
[[gnu::cold]] void random_stateless(op::Registry& r);
[[gnu::cold]] void reduce(op::Registry& r);
[[gnu::cold]] void regex(op::Registry& r);
[[gnu::cold]] void rnn(op::Registry& r);
[[gnu::cold]] void scan(op::Registry& r);
[[gnu::cold]] void scatter(op::Registry& r);
[[gnu::cold]] void segment(op::Registry& r);
[[gnu::cold]] void send_recv(op::Registry& r);
[[gnu::cold]] void sets(op::Registry& r);
[[gnu::cold]] void slice(op::Registry& r);
[[gnu::cold]] void sort(op::Registry& r);
[[gnu::cold]] void space_batch(op::Registry& r);
[[gnu::cold]] void sparse(op::Registry& r);
[[gnu::cold]] void sparse_cross(op::Registry& r);
[[gnu::cold]] void sparse_math(op::Registry& r);
[[gnu::cold]] void sparse_matrix(op::Registry& r);
[[gnu::cold]] void sparse_matrix_math(op::Registry& r);
[[gnu::cold]] void sparse_serialize(op::Registry& r);
[[gnu::cold]] void state(op::Registry& r);
[[gnu::cold]] void state_ref(op::Registry& r);
[[gnu::cold]] void state_sparse(op::Registry& r);
[[gnu::cold]] void string(op::Registry& r);
[[gnu::cold]] void string_format(op::Registry& r);
[[gnu::cold]] void string_hash(op::Registry& r);
[[gnu::cold]] void string_split(op::Registry& r);
[[gnu::cold]] void summary(op::Registry& r);
[[gnu::cold]] void tensor_array(op::Registry& r);
[[gnu::cold]] void tensor_list(op::Registry& r);
[[gnu::cold]] void tensor_map(op::Registry& r);
[[gnu::cold]] void transpose(op::Registry& r);
[[gnu::cold]] void unicode(op::Registry& r);
[[gnu::cold]] void xla(op::Registry& r);

// Registers every family.
[[gnu::cold]] void all(op::Registry& r);

}  // namespace weft::ops

// Random numbers with a state. The generator of a node with seeds is a piece of state of the code: the counter, uint64[2], zeros at first;
// the seeds are in the code, so that numbers are those of the engine. Generators in variables are those variables.
#include "ops/random/random_lower.h"

namespace weft_engine::ops {

namespace {

// Bits of a name (FNV-1a): without seeds every node has a stream of its own, and any will do.
uint64_t stream_of(std::string_view name) {
  uint64_t h = 14695981039346656037u;
  for (char c : name) h = (h ^ uint8_t(c)) * 1099511628211u;
  return h;
}

// The node's generator now; it is left that many elements further.
Generator seeded_node(LowerContext& l, const Dim& elements) {
  uint64_t seed = uint64_t(l.attr<int64_t>("seed")), seed2 = uint64_t(l.attr<int64_t>("seed2"));
  if (seed == 0 && seed2 == 0) seed2 = ~(seed = stream_of(l.node.name()));
  const Lowered state = l.host.named_state(l.node);
  if (!l.ok() || state.kind() != Lowered::Kind::kState) return {};
  const Lowered* now = l.host.read(state.state());
  if (!now || !now->tensor()) return {};
  const Value counter = now->tensor();
  l.host.write(state.state(), skip(l.b, counter, reserved(l.b, elements)));
  const Value first = l.b.constant(Tensor::vector(std::vector<uint64_t>{0, seed2}));
  return {l.b.constant(Tensor::scalar<uint64_t>(seed)), l.b.add(counter, first)};
}

template <RandomKind kKind>
LoweredList seeded(LowerContext& l) {
  const auto dims = l.sizes(0);
  return {dims ? random_tensor(l, seeded_node(l, ir::product(*dims)), kKind, l.out_type(), *dims) : nullptr};
}

// The generator in the variable of input 0: counter, counter, key. `blocks`: how far it continues.
Generator variable_generator(LowerContext& l, std::optional<int64_t> algorithm, Value blocks) {
  const Value state = l.read(0);
  if (!state || !algorithm || !blocks) return {};
  if (*algorithm != 1 && *algorithm != 3) return l.b.fail(invalid_argument("Unsupported algorithm id: ", *algorithm)), Generator();
  if (state->type.dtype != DType::kInt64 || state->rank() != 1 || !state->dim(0).is_const() || state->dim(0).value() < 3)
    return l.b.fail(invalid_argument("For the Philox algorithm, the size of state must be at least 3; got ", state->type.to_string())), Generator();
  const Value all = l.b.bitcast(state, DType::kUint64), counter = l.b.slice_axis(all, 0, 0, 2);
  const Value next = l.b.concat({skip(l.b, counter, blocks), l.b.slice_axis(all, 0, 2, state->dim(0) - Dim(2))}, 0);
  l.assign(0, l.b.bitcast(next, DType::kInt64));
  return {word(l.b, all, 2), counter};
}

Value blocks_of(LowerContext& l, Value elements) {
  return elements ? l.b.mul(l.b.convert(as_scalar(l.b, elements), DType::kUint64), l.b.constant(Tensor::scalar<uint64_t>(256))) : nullptr;
}

LoweredList read_and_skip(LowerContext& l) {
  const Value before = l.read(0);
  variable_generator(l, l.integer(1), blocks_of(l, l.x(2)));
  return {before ? l.b.slice_axis(before, 0, 0, 3) : nullptr};
}

LoweredList rng_skip(LowerContext& l) {
  variable_generator(l, l.integer(1), blocks_of(l, l.x(2)));
  return {};
}

template <RandomKind kKind>
LoweredList stateful(LowerContext& l) {
  const auto dims = l.sizes(2);
  return {dims ? random_tensor(l, variable_generator(l, l.integer(1), reserved(l.b, ir::product(*dims))), kKind, l.out_type(), *dims) : nullptr};
}

}  // namespace

void lower_random(Registry& r) {
  r.lower("RandomStandardNormal", seeded<RandomKind::kNormal>);
  r.lower("RandomUniform", seeded<RandomKind::kUniform>);
  r.lower("TruncatedNormal", seeded<RandomKind::kTruncatedNormal>);
  r.lower("RandomUniformInt", [](LowerContext& l) -> LoweredList {
    const auto dims = l.sizes(0);
    return {dims ? random_ints(l, seeded_node(l, ir::product(*dims)), l.x(1), l.x(2), *dims) : nullptr};
  });
  r.lower("RngReadAndSkip", read_and_skip);
  r.lower("RngSkip", rng_skip);
  r.lower("StatefulStandardNormalV2", stateful<RandomKind::kNormal>);
  r.lower("StatefulTruncatedNormal", stateful<RandomKind::kTruncatedNormal>);
  r.lower("StatefulUniform", stateful<RandomKind::kUniform>);
  r.lower("StatefulUniformFullInt", stateful<RandomKind::kBits>);
  r.lower("StatefulUniformInt", [](LowerContext& l) -> LoweredList {
    const auto dims = l.sizes(2);
    return {dims ? random_ints(l, variable_generator(l, l.integer(1), reserved(l.b, ir::product(*dims))), l.x(3), l.x(4), *dims) : nullptr};
  });
}

}  // namespace weft_engine::ops

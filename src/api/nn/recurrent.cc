#include "weft/nn/recurrent.h"

#include <algorithm>

#include "api/nn/support.h"
#include "weft/control_flow.h"
#include "weft/raw/array.h"

namespace weft::nn {

using namespace detail;

RNNCell::RNNCell(const std::string& type, int64_t units, int gates, int num_states, const RNNOptions& o)
    : Layer(type), units_(units), gates_(gates), num_states_(num_states), o_(o) {
  if (units <= 0)
    fail(Code::kInvalidArgument, "Received an invalid value for argument `units`, expected a positive integer, got " + std::to_string(units) + ".");
}

void RNNCell::build(const PartialShape& input) {
  const int64_t in = known_dim(input, -1, "a `" + type() + "` layer");
  kernel_ =
      add_weight("kernel", {in, gates_ * units_}, o_.kernel_initializer, {.regularizer = o_.kernel_regularizer, .constraint = o_.kernel_constraint});
  recurrent_ = add_weight("recurrent_kernel", {units_, gates_ * units_}, o_.recurrent_initializer,
                          {.regularizer = o_.recurrent_regularizer, .constraint = o_.recurrent_constraint});
  if (o_.use_bias) bias_ = add_weight("bias", bias_shape(), bias_start(), {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
}
void RNNCell::build_many(const std::vector<PartialShape>& inputs) { build(inputs[0]); }

Tensor RNNCell::project(const Tensor& x) const {
  const Tensor y = matmul_last(x, kernel_);
  return o_.use_bias ? bias_add(y, bias_) : y;
}

Tensor RNNCell::recurrent(const Tensor& h, const Tensor& kept) const { return matmul(kept.has_value() ? h * kept : h, recurrent_); }

std::vector<Tensor> RNNCell::call_many(const std::vector<Tensor>& inputs, const CallOptions&) const {
  if (int(inputs.size()) != num_states_ + 1)
    fail(Code::kInvalidArgument,
         "a " + type() + " takes an input and " + std::to_string(num_states_) + " states, not " + std::to_string(inputs.size()) + " tensors");
  std::vector<Tensor> states = step(project(inputs[0]), {inputs.begin() + 1, inputs.end()}, {});
  states.insert(states.begin(), states[0]);
  return states;
}

SimpleRNNCell::SimpleRNNCell(int64_t units, const RNNOptions& o) : LayerOf("SimpleRNNCell", units, 1, 1, o) {}
std::vector<Tensor> SimpleRNNCell::step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const {
  return {o_.activation(projected + recurrent(states[0], kept))};
}

LSTMCell::LSTMCell(int64_t units, const RNNOptions& o) : LayerOf("LSTMCell", units, 4, 2, o) {}
Initializer LSTMCell::bias_start() const {
  if (!o_.unit_forget_bias) return o_.bias_initializer;
  return [init = o_.bias_initializer, u = units_](const std::vector<int64_t>&, DType t) {
    return concat({init({u}, t), ones({u}, t), init({2 * u}, t)}, 0);
  };
}
std::vector<Tensor> LSTMCell::step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const {
  const std::vector<Tensor> z = split(projected + recurrent(states[0], kept), 4, 1);  // input, forget, candidate, output
  const Activation& gate = o_.recurrent_activation;
  const Tensor c = gate(z[1]) * states[1] + gate(z[0]) * o_.activation(z[2]);
  return {gate(z[3]) * o_.activation(c), c};
}

GRUCell::GRUCell(int64_t units, const RNNOptions& o) : LayerOf("GRUCell", units, 3, 1, o) {}
std::vector<int64_t> GRUCell::bias_shape() const {
  if (o_.reset_after) return {2, 3 * units_};  // of the input, and of the state
  return {3 * units_};
}
Tensor GRUCell::project(const Tensor& x) const {
  if (!o_.reset_after || !o_.use_bias) return RNNCell::project(x);
  return bias_add(matmul_last(x, kernel_), squeeze(slice(bias_, {0, 0}, {1, -1}), {0}));
}
std::vector<Tensor> GRUCell::step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const {
  const Tensor& h = states[0];
  const Activation& gate = o_.recurrent_activation;
  const std::vector<Tensor> x = split(projected, 3, 1);  // update, reset, candidate
  Tensor z, candidate;
  if (o_.reset_after) {
    Tensor inner = recurrent(h, kept);
    if (o_.use_bias) inner = bias_add(inner, squeeze(slice(bias_, {1, 0}, {1, -1}), {0}));
    const std::vector<Tensor> r = split(inner, 3, 1);
    z = gate(x[0] + r[0]);
    candidate = o_.activation(x[2] + gate(x[1] + r[1]) * r[2]);
  } else {
    const Tensor from = kept.has_value() ? h * kept : h;
    const std::vector<Tensor> r = split(matmul(from, slice(recurrent_, {0, 0}, {-1, 2 * units_})), 2, 1);
    z = gate(x[0] + r[0]);
    candidate = o_.activation(x[2] + matmul(gate(x[1] + r[1]) * from, slice(recurrent_, {0, 2 * units_}, {-1, -1})));
  }
  return {z * h + (number(1, z) - z) * candidate};
}

RNN::RNN(const std::string& type, std::shared_ptr<RNNCell> cell, const RNNOptions& o) : Layer(type, o.name), cell_(std::move(cell)), o_(o) {
  track("cell", cell_);
  if (o_.activity_regularizer) set_activity_regularizer(o_.activity_regularizer);
}

void RNN::build(const PartialShape& input) {
  if (!input.known_rank || input.dims.size() != 3)
    fail(Code::kInvalidArgument, "Input 0 of layer \"" + name() + "\" is incompatible with the layer: expected ndim=3, found " + text(input));
  const NameScope scope(cell_->name());
  cell_->build(PartialShape{input.dims[0], input.dims[2]});
  if (o_.dropout > 0 || o_.recurrent_dropout > 0) seed_ = add_seed(o_.seed);
}

Tensor RNN::call(const Tensor& x, const CallOptions& o) const { return call_many({x}, o)[0]; }

namespace {

// A graph of so many steps is faster than a loop, and still small.
constexpr int64_t kUnrolledSteps = 128;

// Ones, of which a share is zero and the others scaled up.
Tensor dropped(const Tensor& shape, double rate, const Tensor& seed, DType t) {
  const Tensor keep = random_uniform(shape, seed, t) >= number(rate, t);
  return cast(keep, t) * number(1 / (1 - rate), t);
}

}  // namespace

std::vector<Tensor> RNN::call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  Tensor x = inputs[0];
  const PartialShape s = shape_of_rank(x, 3, 3, name());
  const int64_t steps = s.dims[1], units = cell_->units();
  if (steps == 0) fail(Code::kInvalidArgument, "Layer \"" + name() + "\" was called on a sequence without steps");
  std::vector<Tensor> states(inputs.begin() + 1, inputs.end());
  const Tensor zero = raw::Fill(shape_like({like_dim(0), units}, x), number(0, x));
  if (states.empty()) states.assign(size_t(cell_->num_states()), zero);
  if (int(states.size()) != cell_->num_states())
    fail(Code::kInvalidArgument,
         "Layer \"" + name() + "\" has " + std::to_string(cell_->num_states()) + " states, but it was given " + std::to_string(states.size()));

  Tensor kept;
  if (o.training && o_.dropout > 0) x = x * dropped(shape_like({like_dim(0), 1, s.dims[2]}, x), o_.dropout, next_seed(seed_), x.dtype());
  if (o.training && o_.recurrent_dropout > 0) kept = dropped(shape_like({like_dim(0), units}, x), o_.recurrent_dropout, next_seed(seed_), x.dtype());

  // What does not depend on the states is done for all steps at once; steps come first, so that each is in one piece.
  const Tensor projected = cell_->project(transpose(x, {1, 0, 2}));
  const Tensor mask = !o.mask.has_value() || o.mask.dtype() == DType::boolean ? o.mask : cast(o.mask, DType::boolean);
  // One step: from the output and the states before it (`counts`: bool [batch, 1], or none) to those after it.
  const auto step = [&](const Tensor& input, const Tensor& counts, const std::vector<Tensor>& before) {
    std::vector<Tensor> after = cell_->step(input, {before.begin() + 1, before.end()}, kept);
    Tensor output = after[0];
    if (counts.has_value()) {
      output = where(counts, output, o_.zero_output_for_mask ? zero : before[0]);
      for (size_t k = 0; k < after.size(); ++k) after[k] = where(counts, after[k], before[k + 1]);
    }
    after.insert(after.begin(), std::move(output));
    return after;
  };
  std::vector<Tensor> now{zero};
  now.insert(now.end(), states.begin(), states.end());
  Tensor sequence;
  const bool unrolled = !x.is_symbolic() || o_.unroll || (steps >= 0 && steps <= kUnrolledSteps);
  if (unrolled && steps < 0)
    fail(Code::kInvalidArgument, "Cannot unroll a RNN if the time dimension is undefined. Layer \"" + name() + "\" was given " + text(s));
  if (unrolled) {
    const std::vector<Tensor> in = unstack(projected, 0);
    std::vector<Tensor> masks, outputs;
    if (mask.has_value()) masks = unstack(expand_dims(mask, 2), 1);
    for (int64_t i = 0; i < steps; ++i) {
      const auto t = size_t(o_.go_backwards ? steps - 1 - i : i);
      now = step(in[t], masks.empty() ? Tensor() : masks[t], now);
      if (o_.return_sequences) outputs.push_back(now[0]);
    }
    if (o_.return_sequences) sequence = stack(outputs, 1);
  } else {
    // A loop in the graph.
    auto in_order = [&](const Tensor& t) { return o_.go_backwards ? reverse(t, {0}) : t; };
    std::vector<Tensor> elements{in_order(projected)};
    if (mask.has_value()) elements.push_back(in_order(transpose(expand_dims(mask, 2), {1, 0, 2})));
    const auto body = [&](const std::vector<Tensor>& before, const std::vector<Tensor>& in) {
      return step(in[0], in.size() > 1 ? in[1] : Tensor(), before);
    };
    if (o_.return_sequences) {
      const std::vector<Tensor> all = scan(body, elements, now);
      for (size_t k = 0; k < all.size(); ++k) now[k] = squeeze(slice_axis(all[k], 0, -1, 0), {0});
      sequence = transpose(all[0], {1, 0, 2});
    } else {
      now = foldl(body, elements, now);
    }
  }
  std::vector<Tensor> out{o_.return_sequences ? sequence : now[0]};
  if (o_.return_state) out.insert(out.end(), now.begin() + 1, now.end());
  return out;
}

#define WEFT_RNN(Name)                                                                                          \
  Name::Name(int64_t units, const RNNOptions& o) : LayerOf(#Name, std::make_shared<Name##Cell>(units, o), o) {} \
  std::shared_ptr<RNN> Name::again(const RNNOptions& o) const { return std::make_shared<Name>(cell().units(), o); }
WEFT_RNN(SimpleRNN)
WEFT_RNN(LSTM)
WEFT_RNN(GRU)

Bidirectional::Bidirectional(const RNN& layer, BidirectionalOptions o) : LayerOf("Bidirectional", o.name), merge_mode_(o.merge_mode) {
  const std::vector<std::string> modes{"concat", "sum", "ave", "mul", ""};
  if (std::find(modes.begin(), modes.end(), merge_mode_) == modes.end())
    fail(Code::kInvalidArgument,
         "Invalid merge mode. Received: " + merge_mode_ + ". Merge mode should be one of {\"sum\", \"mul\", \"ave\", \"concat\", None}");
  RNNOptions f = layer.options(), b = layer.options();
  f.zero_output_for_mask = b.zero_output_for_mask = f.return_sequences;
  f.name = "forward_" + layer.name();
  b.name = "backward_" + layer.name();
  b.go_backwards = !f.go_backwards;
  forward_ = layer.again(f);
  backward_ = o.backward_layer ? o.backward_layer : layer.again(b);
  const RNNOptions& other = backward_->options();
  if (other.go_backwards == f.go_backwards || other.return_sequences != f.return_sequences || other.return_state != f.return_state)
    fail(Code::kInvalidArgument,
         "Forward layer and backward layer should have different `go_backwards` values, and equal `return_sequences` and `return_state`");
  track("forward_layer", forward_);
  track("backward_layer", backward_);
}

Tensor Bidirectional::call(const Tensor& x, const CallOptions& o) const { return call_many({x}, o)[0]; }

std::vector<Tensor> Bidirectional::call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  const size_t half = (inputs.size() - 1) / 2;
  std::vector<Tensor> to_forward{inputs[0]}, to_backward{inputs[0]};
  to_forward.insert(to_forward.end(), inputs.begin() + 1, inputs.begin() + 1 + int64_t(half));
  to_backward.insert(to_backward.end(), inputs.begin() + 1 + int64_t(half), inputs.end());
  const std::vector<Tensor> f = forward_->apply(to_forward, o), b = backward_->apply(to_backward, o);
  const Tensor& y = f[0];
  const Tensor rev = forward_->options().return_sequences ? reverse(b[0], {1}) : b[0];
  std::vector<Tensor> out;
  if (merge_mode_ == "concat") out = {concat({y, rev}, -1)};
  else if (merge_mode_ == "sum") out = {y + rev};
  else if (merge_mode_ == "ave") out = {(y + rev) / number(2, y)};
  else if (merge_mode_ == "mul") out = {y * rev};
  else out = {y, rev};
  out.insert(out.end(), f.begin() + 1, f.end());
  out.insert(out.end(), b.begin() + 1, b.end());
  return out;
}

TimeDistributed::TimeDistributed(const AnyLayer& layer, const std::string& name) : LayerOf("TimeDistributed", name), layer_(layer.ptr()) {
  track("layer", layer_);
}

Tensor TimeDistributed::call(const Tensor& x, const CallOptions& o) const {
  const PartialShape s = shape_of_rank(x, 3, 100, name());
  // Steps and batch together are one larger batch.
  std::vector<int64_t> flat{-1};
  for (size_t i = 2; i < s.dims.size(); ++i) flat.push_back(known_dim(s, int64_t(i), "a `TimeDistributed` layer"));
  const Tensor y = (*layer_)(reshape(x, flat), {.training = o.training});
  const PartialShape inner = y.partial_shape();
  if (!inner.known_rank) fail(Code::kInvalidArgument, "TimeDistributed needs a layer whose output has a known rank");
  std::vector<int64_t> dims{like_dim(0), like_dim(1)};
  for (size_t i = 1; i < inner.dims.size(); ++i) dims.push_back(known_dim(inner, int64_t(i), "the output of a `TimeDistributed` layer"));
  return reshape_like(y, dims, x);
}

}  // namespace weft::nn

#include "weft/nn/layer.h"

#include <atomic>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "api/nn/layer_state.h"
#include "api/nn/support.h"
#include "weft/function.h"

namespace weft::nn {

using namespace detail;

namespace {

struct Names {
  std::mutex mutex;
  std::map<std::string, int> used;
};
Names& names() {
  static auto* n = new Names;
  return *n;
}

// "BatchNormalization" becomes "batch_normalization", "Conv2D" "conv2d".
std::string snake_case(const std::string& type) {
  std::string out;
  auto upper = [&](size_t i) { return i < type.size() && type[i] >= 'A' && type[i] <= 'Z'; };
  auto lower = [&](size_t i) { return i < type.size() && type[i] >= 'a' && type[i] <= 'z'; };
  for (size_t i = 0; i < type.size(); ++i) {
    if (!std::isalnum(static_cast<unsigned char>(type[i]))) continue;
    if (!out.empty() && upper(i) && (lower(i + 1) || lower(i - 1))) out += '_';
    out += char(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return out;
}

std::string unique_name(const std::string& type) {
  const std::string base = snake_case(type);
  std::lock_guard lock(names().mutex);
  const int n = names().used[base]++;
  return n == 0 ? base : base + "_" + std::to_string(n);
}

struct CallContext {
  bool active = false, training = false;
};
thread_local CallContext call_context;

std::atomic<bool> losses_added{false};

void clear_losses(LayerState& s, int depth = 0) {
  {
    std::lock_guard lock(s.mutex);
    s.losses.clear();
  }
  if (depth < 100)
    for (const auto& l : s.layers) clear_losses(*l, depth + 1);
}

// The time of one call: what layers inside of it ask for.
class Entered {
 public:
  Entered(LayerState& s, bool training) : outer_(call_context) {
    if (!outer_.active && losses_added.load(std::memory_order_relaxed)) clear_losses(s);
    if (!s.called || is_tracing()) scope_.emplace(s.name);
    call_context = {true, training};
  }
  ~Entered() { call_context = outer_; }

 private:
  CallContext outer_;
  std::optional<NameScope> scope_;
};

void collect(const LayerState& s, bool with_seeds, std::set<const void*>& seen, std::vector<Variable>& out, int depth = 0) {
  auto add = [&](const Variable& v) {
    if (seen.insert(v.state().get()).second) out.push_back(v);
  };
  for (const auto& w : s.weights)
    if (w.trainable) add(w.variable);
  for (const auto& w : s.weights)
    if (!w.trainable) add(w.variable);
  if (with_seeds)
    for (const Variable& v : s.seeds) add(v);
  if (depth < 100)
    for (const auto& l : s.layers) collect(*l, with_seeds, seen, out, depth + 1);
}

void collect_states(const std::shared_ptr<LayerState>& s, std::set<const LayerState*>& seen, std::vector<LayerState*>& out) {
  if (!seen.insert(s.get()).second) return;
  out.push_back(s.get());
  for (const auto& l : s->layers) collect_states(l, seen, out);
}

std::vector<PartialShape> shapes_of(const std::vector<Tensor>& list) {
  std::vector<PartialShape> out;
  for (const Tensor& t : list) out.push_back(t.has_value() ? t.partial_shape() : PartialShape());
  return out;
}

}  // namespace

bool in_training() { return call_context.training; }

void clear_session() {
  std::lock_guard lock(names().mutex);
  names().used.clear();
}

Layer::Layer(const std::string& type, const std::string& name)
    : Module(name.empty() ? unique_name(type) : name), state_(std::make_shared<LayerState>()) {
  state_->type = type;
  state_->name = Module::name();
}

bool Layer::built() const { return built_; }
const std::string& Layer::type() const { return state_->type; }
DType Layer::dtype() const { return state_->dtype; }
void Layer::set_dtype(DType dtype) { state_->dtype = dtype; }

void Layer::build(const PartialShape&) {}
void Layer::build_many(const std::vector<PartialShape>& inputs) {
  if (!inputs.empty()) build(inputs[0]);
}
Tensor Layer::call(const Tensor&, const CallOptions&) const {
  fail(Code::kUnimplemented, "Layer " + type() + " does not have a `call()` method implemented.");
}
std::vector<Tensor> Layer::call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  if (inputs.size() != 1) {
    fail(Code::kInvalidArgument, "Layer \"" + name() + "\" expects 1 input(s), but it received " + std::to_string(inputs.size()) + " input tensors.");
  }
  return {call(inputs[0], o)};
}
Tensor Layer::compute_mask(const Tensor&, const Tensor&) const { return {}; }
Tensor Layer::compute_mask_many(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) const {
  return inputs.size() == 1 ? compute_mask(inputs[0], masks[0]) : Tensor();
}
std::shared_ptr<Layer> Layer::clone() const {
  fail(Code::kUnimplemented, "the class " + type() + " cannot be copied by the library: derive it from nn::LayerOf<" + type() +
                                 ">, or hold it in a shared pointer and call nn::AnyLayer(pointer)");
}

// Building is no change that a caller could see: the weights are those that would have been there from the beginning.
void Layer::ensure_built(const std::vector<PartialShape>& inputs) const {
  if (built_) return;
  auto* self = const_cast<Layer*>(this);
  const NameScope scope(state_->name);
  if (state_->input_shapes.empty()) state_->input_shapes = inputs;
  self->build_many(inputs);
  self->built_ = true;
}

Tensor Layer::operator()(const Tensor& x, const CallOptions& o) const {
  if (!x.has_value()) fail(Code::kInvalidArgument, "Layer \"" + name() + "\" was called on a tensor without a value");
  if (!built_) ensure_built({x.partial_shape()});
  Entered in(*state_, o.training);
  Tensor y = call(x, o);
  if (!state_->called) {
    state_->output_shapes = {y.partial_shape()};
    state_->called = true;
  }
  if (state_->activity_regularizer) add_loss(state_->activity_regularizer(y) / cast(size_along(x, 0), y.dtype()));
  return y;
}

std::vector<Tensor> Layer::apply(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  return as_call(inputs, o, [&] { return call_many(inputs, o); });
}

std::vector<Tensor> Layer::as_call(const std::vector<Tensor>& inputs, const CallOptions& o, const std::function<std::vector<Tensor>()>& body) const {
  if (inputs.empty() || !inputs[0].has_value()) fail(Code::kInvalidArgument, "Layer \"" + name() + "\" was called without an input");
  if (!built_) ensure_built(shapes_of(inputs));
  Entered in(*state_, o.training);
  std::vector<Tensor> out = body();
  if (!state_->called) {
    state_->output_shapes = shapes_of(out);
    state_->called = true;
  }
  if (state_->activity_regularizer) {
    for (const Tensor& y : out) add_loss(state_->activity_regularizer(y) / cast(size_along(inputs[0], 0), y.dtype()));
  }
  return out;
}

Tensor Layer::operator()(const std::vector<Tensor>& inputs, const CallOptions& o) const {
  std::vector<Tensor> out = apply(inputs, o);
  if (out.empty()) fail(Code::kInternal, "Layer \"" + name() + "\" gave nothing");
  return std::move(out[0]);
}

std::vector<Variable> Layer::weights() const {
  std::set<const void*> seen;
  std::vector<Variable> out;
  collect(*state_, false, seen, out);
  return out;
}

std::vector<Variable> Layer::variables() const {
  std::set<const void*> seen;
  std::vector<Variable> out;
  collect(*state_, true, seen, out);
  return out;
}

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> out;
  for (const Variable& v : weights()) out.push_back(v.value());
  return out;
}

void Layer::set_weights(const std::vector<Tensor>& values) const {
  const std::vector<Variable> own = weights();
  if (own.size() != values.size()) {
    fail(Code::kInvalidArgument, "You called `set_weights(weights)` on layer '" + name() + "' with a weight list of length " +
                                     std::to_string(values.size()) + ", but the layer was expecting " + std::to_string(own.size()) + " weights.");
  }
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].shape() != values[i].shape()) {
      fail(Code::kInvalidArgument, "Layer " + name() + " weight shape " + text(own[i].shape()) + " is not compatible with provided weight shape " +
                                       text(values[i].shape()) + ".");
    }
  }
  for (size_t i = 0; i < own.size(); ++i) own[i].assign(values[i].dtype() == own[i].dtype() ? values[i] : cast(values[i], own[i].dtype()));
}

int64_t Layer::count_params() const {
  int64_t n = 0;
  for (const Variable& v : weights()) {
    int64_t size = 1;
    for (int64_t d : v.shape()) size *= d;
    n += size;
  }
  return n;
}

bool Layer::trainable() const { return state_->trainable; }

void Layer::set_trainable(bool on) const {
  std::set<const LayerState*> seen;
  std::vector<LayerState*> all;
  collect_states(state_, seen, all);
  for (LayerState* s : all) {
    s->trainable = on;
    for (const auto& w : s->weights)
      if (w.trainable) w.variable.set_trainable(on);
  }
}

std::vector<Tensor> Layer::losses() const {
  std::set<const LayerState*> seen;
  std::vector<LayerState*> all;
  collect_states(state_, seen, all);
  std::vector<Tensor> out;
  for (LayerState* s : all) {
    std::lock_guard lock(s->mutex);
    out.insert(out.end(), s->losses.begin(), s->losses.end());
  }
  for (LayerState* s : all) {
    for (const auto& w : s->weights)
      if (w.regularizer && w.variable.trainable()) out.push_back(w.regularizer(w.variable));
  }
  return out;
}

void Layer::add_loss(const Tensor& loss) const {
  losses_added.store(true, std::memory_order_relaxed);
  std::lock_guard lock(state_->mutex);
  state_->losses.push_back(loss);
}

Variable Layer::add_weight(const std::string& name, const std::vector<int64_t>& shape, const Initializer& initializer, const WeightOptions& o) {
  for (const auto& w : state_->weights) {
    if (w.name != name) continue;
    if (w.variable.shape() != shape) {
      fail(Code::kInvalidArgument, "Layer \"" + this->name() + "\" was built with a weight '" + name + "' of shape " + text(w.variable.shape()) +
                                       " and cannot be used where it needs " + text(shape));
    }
    return w.variable;
  }
  const DType dtype = o.dtype == DType::invalid ? state_->dtype : o.dtype;
  const Initializer init = initializer ? initializer
                           : dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 || dtype == DType::bfloat16
                               ? initializers::glorot_uniform()
                               : initializers::zeros();
  VariableOptions v{.name = name, .trainable = o.trainable && state_->trainable, .dtype = dtype, .constraint = o.constraint.function()};
  const std::function<Tensor()> value = [&] { return init(shape, dtype); };
  Variable made(value, v);
  state_->weights.push_back({name, made, o.trainable, o.regularizer});
  Module::track(o.attribute.empty() ? name : o.attribute, made);
  return made;
}

Variable Layer::add_seed(int64_t seed) {
  if (!state_->seeds.empty()) return state_->seeds[0];
  const int64_t first = seed >= 0 ? seed : draw_seed();
  const std::function<Tensor()> value = [first] { return Tensor{first, int64_t(0)}; };
  const NameScope scope("seed_generator");
  Variable made(value, {.name = "seed_generator_state", .trainable = false});
  state_->seeds.push_back(made);
  return made;
}

Tensor Layer::next_seed(const Variable& state) {
  const Tensor now = state.value();
  state.assign_add(Tensor{int64_t(0), int64_t(1)});
  return now;
}

void Layer::set_activity_regularizer(const Regularizer& r) { state_->activity_regularizer = r; }

void Layer::track(const std::string& name, const Layer& l) {
  Module::track(name, static_cast<const Module&>(l));
  hold(l);
}

void Layer::hold(const Layer& l) {
  if (l.state_ == state_) return;
  for (const auto& s : state_->layers)
    if (s == l.state_) return;
  state_->layers.push_back(l.state_);
}

}  // namespace weft::nn

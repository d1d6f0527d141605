// clang-format off: the engine's headers before the public ones (unwrap.h)
#include "autodiff/gradients.h"
#include "op/emit.h"
#include "trace/variable.h"

#include "api/unwrap.h"
#include "weft/call.h"
#include "weft/math.h"
#include "weft/tape.h"
// clang-format on

namespace weft {

using api::check;
using autodiff::Tape;
using autodiff::TapeStack;

struct GradientTape::Impl {
  Tape tape;
  bool recording = false;
  TapeOptions options;
  void start() {
    if (recording) return;
    TapeStack::current().push(&tape);
    recording = true;
  }
  void stop() {
    if (!recording) return;
    TapeStack::current().pop(&tape);
    recording = false;
  }
};

namespace {

op::Emitter& emitter() { return trace::emitter_here(api::context()); }

Gradient to_gradient(const op::Value& v) {
  if (v.is_slices())
    return IndexedSlices{api::from_value(v.slice_values()), api::from_value(v.slice_indices()), api::from_value(v.slice_dense_shape())};
  return api::from_value(v);
}

op::Value from_gradient(const Gradient& g) {
  if (!g.has_value()) return {};
  if (g.is_slices()) return op::Value::slices(api::to_value(g.slices().values), api::to_value(g.slices().indices), api::to_value(g.slices().dense_shape));
  return api::to_value(g.dense());
}

op::Value value_of(const tape_detail::Source& s) {
  if (s.variable.has_value()) return api::unwrap(s.variable.state()->handle());
  if (!s.tensor.has_value()) check(core::invalid_argument("a source of a gradient has no value"));
  return api::to_value(s.tensor);
}

}  // namespace

Tensor Gradient::dense() const {
  if (!is_slices_) {
    if (!tensor_.has_value()) throw Error(Code::kInvalidArgument, "there is no gradient: the target does not depend on this source");
    return tensor_;
  }
  op::Value v = from_gradient(*this).dense();
  check(emitter().take_status());
  return api::from_value(v);
}

GradientTape::GradientTape(const TapeOptions& options) : impl_(new Impl{Tape(options.persistent, options.watch_accessed_variables), false, options}) { impl_->start(); }
GradientTape::~GradientTape() { impl_->stop(); }

void GradientTape::watch(const Tensor& t) { impl_->tape.watch(api::to_value(t)); }
void GradientTape::watch(const Variable& v) {
  if (!v.has_value()) check(core::invalid_argument("a variable that was not made was watched"));
  impl_->tape.watch_variable(api::unwrap(v.state()->handle()), v.state());
}

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> out;
  for (const auto& v : impl_->tape.variables()) out.push_back(Variable::adopt(std::static_pointer_cast<trace::VariableState>(v)));
  return out;
}

void GradientTape::stop() { impl_->stop(); }
void GradientTape::reset() {
  impl_->tape.reset();
  impl_->start();
}

void GradientTape::stop_recording(const std::function<void()>& f) {
  const bool was = impl_->recording;
  impl_->stop();
  struct Again {
    Impl& impl;
    bool was;
    ~Again() {
      if (was) impl.start();
    }
  } again{*impl_, was};
  f();
}

std::vector<Gradient> GradientTape::flat_gradient(const std::vector<Tensor>& targets, const std::vector<tape_detail::Source>& sources,
                                                  const GradientOptions& options) {
  // A tape that answers once records no more; a persistent one inside its own scope records the way back as well.
  if (!impl_->options.persistent) impl_->stop();
  std::vector<op::Value> flat;
  for (const auto& s : sources) flat.push_back(value_of(s));
  const std::vector<op::Value> ys = api::to_values(targets), seeds = api::to_values(options.output_gradients);
  op::Emitter& e = emitter();
  auto got = api::unwrap(impl_->tape.gradient(e, ys, flat, seeds, options.unconnected == UnconnectedGradients::zero ? autodiff::Unconnected::kZero : autodiff::Unconnected::kNone));
  std::vector<Gradient> out;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i].valid() && sources[i].variable.has_value() && options.unconnected == UnconnectedGradients::zero) {
      out.push_back(Call("ZerosLike").in(sources[i].variable.value()).one());
      continue;
    }
    out.push_back(to_gradient(got[i]));
  }
  return out;
}

Tensor stop_gradient(const Tensor& t) { return Call("StopGradient").in(t).one(); }

std::vector<Tensor> custom_gradient(const std::function<CustomGradient(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs) {
  CustomGradient made;
  {
    autodiff::PausedTapes paused;
    made = f(inputs);
  }
  // Results of their own: f may hand an input through, which is another value to a tape.
  std::vector<Tensor> outputs;
  {
    autodiff::PausedTapes paused;
    for (const Tensor& t : made.outputs) outputs.push_back(Call("Identity").in(t).one());
  }
  if (!TapeStack::current().recording()) return outputs;
  auto backprop = [gradient = made.gradient, outputs](op::Emitter&, std::span<const op::Value> dys) -> core::Result<op::Grads> {
    std::vector<Tensor> given;
    for (size_t i = 0; i < dys.size(); ++i) given.push_back(dys[i].valid() ? api::from_value(dys[i].dense()) : Call("ZerosLike").in(outputs[i]).one());
    return api::to_values(gradient(given));
  };
  TapeStack::current().record("custom_gradient", api::to_values(inputs), api::to_values(outputs), backprop);
  return outputs;
}

void register_gradient(const std::string& op, std::function<std::vector<Tensor>(const GradientInputs&)> gradient) {
  check(autodiff::register_gradient(op, [gradient = std::move(gradient)](const op::GradContext& g) -> op::Grads {
    GradientInputs in;
    for (int i = 0; i < g.num_inputs(); ++i) in.inputs.push_back(api::from_value(g.x(i)));
    for (int i = 0; i < g.num_outputs(); ++i) in.outputs.push_back(api::from_value(g.y(i)));
    for (int i = 0; i < g.num_outputs(); ++i) in.output_gradients.push_back(api::from_value(g.raw_dy(i).dense()));
    try {
      auto got = gradient(in);
      op::Grads out = api::to_values(got);
      return out;
    } catch (const Error& e) {
      return g.fail(core::Status(static_cast<core::Code>(e.code()), e.what()));
    }
  }));
}

namespace {

// Rows of the target's elements one after the other: as many walks back as there are elements.
Tensor jacobian_by_loop(GradientTape& tape, const Tensor& target, const tape_detail::Source& source, const JacobianOptions& o) {
  const std::vector<int64_t> shape = target.shape();
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < n; ++i) {
    Tensor seed = reshape(Call("OneHot").in(Tensor(int64_t(i))).in(Tensor(int32_t(n))).in(cast(Tensor(1.f), target.dtype())).in(cast(Tensor(0.f), target.dtype())).one(), shape);
    Gradient g = tape.flat_gradient({target}, {source}, {.output_gradients = {seed}, .unconnected = o.unconnected})[0];
    if (!g.has_value()) return {};
    rows.push_back(g.dense());
  }
  std::vector<int64_t> full = shape;
  const std::vector<int64_t> inner = source.variable.has_value() ? source.variable.shape() : source.tensor.shape();
  full.insert(full.end(), inner.begin(), inner.end());
  if (rows.empty()) return zeros(full, target.dtype());
  return reshape(stack(rows), full);
}

}  // namespace

Tensor GradientTape::jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& o) {
  GradientTape& self = *this;
  if (!impl_->options.persistent) impl_->stop();
  impl_->tape.set_persistent();
  return jacobian_by_loop(self, target, {source, {}}, o);
}

Tensor GradientTape::jacobian(const Tensor& target, const Variable& source, const JacobianOptions& o) {
  if (!impl_->options.persistent) impl_->stop();
  impl_->tape.set_persistent();
  return jacobian_by_loop(*this, target, {{}, source}, o);
}

// One walk back for each element of a row: the rows do not depend on each other, so their gradients come at once.
Tensor GradientTape::batch_jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& o) {
  const std::vector<int64_t> t = target.shape(), s = source.shape();
  if (t.empty() || s.empty() || t[0] != s[0])
    check(core::invalid_argument("Need first dimension of target shape and source shape to match."));
  if (!impl_->options.persistent) impl_->stop();
  impl_->tape.set_persistent();
  int64_t n = 1;
  for (size_t i = 1; i < t.size(); ++i) n *= t[i];
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < n; ++i) {
    Tensor row = Call("OneHot").in(Tensor(int64_t(i))).in(Tensor(int32_t(n))).in(cast(Tensor(1.f), target.dtype())).in(cast(Tensor(0.f), target.dtype())).one();
    Tensor seed = reshape(Call("BroadcastTo").in(row).in(Tensor::of<int64_t>({2}, {t[0], n})).one(), t);
    Gradient g = flat_gradient({target}, {{source, {}}}, {.output_gradients = {seed}, .unconnected = o.unconnected})[0];
    if (!g.has_value()) return {};
    columns.push_back(g.dense());
  }
  std::vector<int64_t> full = t;
  full.insert(full.end(), s.begin() + 1, s.end());
  if (columns.empty()) return zeros(full, target.dtype());
  return reshape(stack(columns, 1), full);
}

}  // namespace weft

#include "autodiff/gradients.h"
#include "op/emit.h"
#include "trace/variable.h"
#include "trace/vectorize.h"

#include "api/unwrap.h"
#include "weft/raw/array.h"
#include "weft/math.h"
#include "weft/tape.h"

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

// A tape that answers once is asked several times while this lives, and forgets all afterwards.
class AskedTwice {
 public:
  explicit AskedTwice(Tape& tape) : tape_(tape), once_(!tape.persistent()) { tape.set_persistent(true); }
  ~AskedTwice() {
    if (!once_) return;
    tape_.set_persistent(false);
    tape_.forget();
  }

 private:
  Tape& tape_;
  const bool once_;
};

op::Emitter& emitter() { return trace::emitter_here(api::context()); }

Gradient to_gradient(const op::Value& v) {
  if (v.is_slices())
    return IndexedSlices{api::from_value(v.slice_values()), api::from_value(v.slice_indices()), api::from_value(v.slice_dense_shape())};
  return api::from_value(v);
}

op::Value from_gradient(const Gradient& g) {
  if (!g.has_value()) return {};
  if (g.is_slices())
    return op::Value::slices(api::to_value(g.slices().values), api::to_value(g.slices().indices), api::to_value(g.slices().dense_shape));
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

GradientTape::GradientTape(const TapeOptions& options) : impl_(new Impl{Tape(options.persistent, options.watch_accessed_variables), false, options}) {
  impl_->start();
}
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
  // A tape that answers once records no more; a persistent one inside its own scope records the backward pass as well.
  if (!impl_->options.persistent) impl_->stop();
  std::vector<op::Value> flat;
  for (const auto& s : sources) flat.push_back(value_of(s));
  const std::vector<op::Value> ys = api::to_values(targets), seeds = api::to_values(options.output_gradients);
  op::Emitter& e = emitter();
  auto got = api::unwrap(impl_->tape.gradient(
      e, ys, flat, seeds, options.unconnected == UnconnectedGradients::zero ? autodiff::Unconnected::kZero : autodiff::Unconnected::kNone));
  std::vector<Gradient> out;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i].valid() && sources[i].variable.has_value() && options.unconnected == UnconnectedGradients::zero) {
      out.push_back(raw::ZerosLike(sources[i].variable.value()));
      continue;
    }
    out.push_back(to_gradient(got[i]));
  }
  return out;
}

Tensor stop_gradient(const Tensor& t) { return raw::StopGradient(t); }

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
    for (const Tensor& t : made.outputs) outputs.push_back(raw::Identity(t));
  }
  if (!TapeStack::current().recording()) return outputs;
  auto backprop = [gradient = made.gradient, outputs](op::Emitter&, std::span<const op::Value> dys) -> core::Result<op::Grads> {
    std::vector<Tensor> given;
    for (size_t i = 0; i < dys.size(); ++i) given.push_back(dys[i].valid() ? api::from_value(dys[i].dense()) : raw::ZerosLike(outputs[i]));
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

int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}
std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::vector<int64_t> shape_of(const tape_detail::Source& s) { return s.variable.has_value() ? s.variable.shape() : s.tensor.shape(); }
DType type_of(const tape_detail::Source& s) { return s.variable.has_value() ? s.variable.dtype() : s.tensor.dtype(); }
std::string python_shape(const std::vector<int64_t>& dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + std::to_string(dims[i]);
  return out + (dims.size() == 1 ? ",)" : ")");
}

Tensor identity_rows(int64_t n, DType type) {
  return raw::OneHot(range(Tensor(int64_t(0)), Tensor(n), Tensor(int64_t(1))), Tensor(int32_t(n)), cast(Tensor(1.f), type), cast(Tensor(0.f), type));
}

// All the gradients for seeds[0], seeds[1] ... in one walk: [seeds, source...]. False where an op on the way does not allow that.
bool all_at_once(Tape& tape, const Tensor& target, const tape_detail::Source& source, const Tensor& seeds, int64_t n, Gradient* out) {
  op::Emitter& base = emitter();
  const trace::RowOptions options;
  trace::RowEmitter many(base, api::context(), n, options);
  const op::Value t = api::to_value(target), s = value_of(source), seed = many.batched(api::to_value(seeds));
  auto got = tape.gradient(many, std::span(&t, 1), std::span(&s, 1), std::span(&seed, 1));
  op::Value v = got.ok() && (*got)[0].valid() ? many.unbatched((*got)[0].dense()) : op::Value();
  if (!(many.take_status().ok() & base.take_status().ok()) || !got.ok()) return false;
  if (!v.valid()) {
    *out = Gradient();
    return true;
  }
  *out = api::from_value(v);
  return true;
}

// [n, source...] for the seeds, which are [n, target...].
Gradient rows_of(GradientTape& tape, Tape& inner, const Tensor& target, const tape_detail::Source& source, const Tensor& seeds, int64_t n,
                 bool vectorize) {
  Gradient all;
  if (vectorize && n > 1 && all_at_once(inner, target, source, seeds, n, &all)) return all;
  std::vector<Tensor> rows;
  for (const Tensor& seed : raw::Unpack(seeds, n, {.axis = 0})) {
    Gradient g = tape.flat_gradient({target}, {source}, {.output_gradients = {seed}})[0];
    if (!g.has_value()) return {};
    rows.push_back(g.dense());
  }
  return stack(rows);
}

}  // namespace

Tensor GradientTape::jacobian_of(const Tensor& target, const tape_detail::Source& source, const JacobianOptions& o) {
  if (impl_->tape.used() && !impl_->tape.persistent())
    check(core::failed_precondition("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"));
  const std::vector<int64_t> t = target.shape(), full = joined(t, shape_of(source));
  const int64_t n = product(t);
  if (!impl_->options.persistent) impl_->stop();
  const AskedTwice asked(impl_->tape);
  if (n == 0) return zeros(full, type_of(source));
  Gradient g = rows_of(*this, impl_->tape, target, source, reshape(identity_rows(n, target.dtype()), joined({n}, t)), n, o.vectorize);
  if (!g.has_value()) return o.unconnected == UnconnectedGradients::zero ? zeros(full, type_of(source)) : Tensor();
  return reshape(g.dense(), full);
}

Tensor GradientTape::jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& o) { return jacobian_of(target, {source, {}}, o); }
Tensor GradientTape::jacobian(const Tensor& target, const Variable& source, const JacobianOptions& o) { return jacobian_of(target, {{}, source}, o); }

// One seed for each element of a row: the rows do not depend on each other, so their gradients come at once.
Tensor GradientTape::batch_jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& o) {
  const std::vector<int64_t> t = target.shape(), s = source.shape();
  if (t.empty() || s.empty() || t[0] != s[0])
    check(core::invalid_argument("Need first dimension of target shape (", python_shape(t), ") and source shape (", python_shape(s), ") to match."));
  if (impl_->tape.used() && !impl_->tape.persistent())
    check(core::failed_precondition("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"));
  if (!impl_->options.persistent) impl_->stop();
  const AskedTwice asked(impl_->tape);
  const std::vector<int64_t> row(t.begin() + 1, t.end()), rest(s.begin() + 1, s.end()), full = joined(t, rest);
  const int64_t n = product(row);
  if (n == 0 || t[0] == 0) return zeros(full, source.dtype());
  Tensor seeds = raw::BroadcastTo(reshape(identity_rows(n, target.dtype()), {n, 1, n}), Tensor{n, t[0], n});
  Gradient g = rows_of(*this, impl_->tape, target, {source, {}}, reshape(seeds, joined({n}, t)), n, o.vectorize);
  if (!g.has_value()) return o.unconnected == UnconnectedGradients::zero ? zeros(full, source.dtype()) : Tensor();
  // [n, batch, source...] -> [batch, n, source...]
  std::vector<int64_t> perm{1, 0};
  for (size_t i = 1; i < s.size(); ++i) perm.push_back(int64_t(i) + 1);
  return reshape(transpose(g.dense(), perm), full);
}

}  // namespace weft

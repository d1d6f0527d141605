// What all optimisers do around their formulas, in Keras' order: clip, decay, update, averages, constraints, count.
//
// How they are saved. Keras 3 writes an optimiser as a plain object: a list `_variables` with all that it keeps (iterations
// and learning rate first), the same variables again as `_iterations`, `_learning_rate` and one list for each kind
// (`_momentums`), and the trained ones as `_trainable_variables`. The same names in the same order are tracked here, so that
// checkpoints have the same keys and go both ways. Slot variables, as TensorFlow's older optimisers write them, are registered
// too, under their old names ("m", "v"): so files of these give their slots. They are never written as slots, since
// TensorFlow allows no variable to be a child and a slot at once (saved_model/tracked_objects.cc leaves them out).
#include "core/log.h"
#include "trace/trackable.h"
#include "trace/variable.h"

#include "api/unwrap.h"
#include "api/nn/train_ops.h"
#include "weft/context.h"
#include "weft/control_flow.h"
#include "weft/function.h"
#include "weft/optim.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"

#include <algorithm>
#include <unordered_map>

namespace weft::nn {

using api::check;

struct Optimizer::State {
  OptimizerOptions options;
  Schedule schedule;
  Variable iterations, learning_rate;
  std::vector<Variable> all;      // in Keras' order
  std::vector<Variable> trained;
  std::unordered_map<const trace::VariableState*, size_t> index;
  struct Kind {
    SlotKind names;
    std::vector<Variable> variables;  // by trained variable
  };
  std::vector<Kind> kinds;
  std::vector<Variable> averages, accumulated;  // with use_ema and gradient_accumulation_steps, by trained variable
  bool built = false, warned = false;
  std::vector<const trace::VariableState*> no_decay;
  std::vector<std::string> no_decay_words;
  std::shared_ptr<trace::TrackableState> list = std::make_shared<trace::TrackableState>("trackable_list_wrapper");
  // Numbers of the apply() that runs now.
  struct Shared {
    const char* name;
    DType dtype;
    Tensor value;
  };
  std::vector<Shared> shared;

  void add(const Variable& v) {
    check(list->track(std::to_string(all.size()), v.state()));
    all.push_back(v);
  }
};

namespace {

Variable make(const std::string& optimizer, const std::string& name, const std::function<Tensor()>& value, VariableAggregation aggregation) {
  NameScope scope(optimizer + "/");
  return Variable(value, {.name = name, .trainable = false, .aggregation = aggregation});
}

std::shared_ptr<trace::TrackableState> list_of(const std::vector<Variable>& variables) {
  auto list = std::make_shared<trace::TrackableState>("trackable_list_wrapper");
  for (size_t i = 0; i < variables.size(); ++i) check(list->track(std::to_string(i), variables[i].state()));
  return list;
}

Gradient with_values(const Gradient& g, const std::function<Tensor(const Tensor&)>& f) {
  if (!g.is_slices()) return f(g.dense());
  IndexedSlices s = g.slices();
  s.values = f(s.values);
  return s;
}
const Tensor& values_of(const Gradient& g, Tensor& dense) {
  if (g.is_slices()) return g.slices().values;
  return dense = g.dense();
}

}  // namespace

Optimizer::Optimizer(const std::string& default_name, const LearningRate& rate, const OptimizerOptions& options)
    : Module(options.name.empty() ? default_name : options.name, "optimizer"), state_(std::make_shared<State>()) {
  State& s = *state_;
  s.options = options;
  if (int(bool(options.clipnorm)) + int(bool(options.clipvalue)) + int(bool(options.global_clipnorm)) > 1)
    check(core::invalid_argument("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set."));
  if (options.use_ema && (options.ema_momentum > 1 || options.ema_momentum < 0))
    check(core::invalid_argument("`ema_momentum` must be in the range [0, 1]. Received: ema_momentum=", options.ema_momentum));
  if (options.gradient_accumulation_steps != 0 && options.gradient_accumulation_steps < 2)
    check(core::invalid_argument("`gradient_accumulation_steps` must be an integer >= 2. Received: gradient_accumulation_steps=",
                                 options.gradient_accumulation_steps));
  if (options.ema_overwrite_frequency < 0)
    check(core::invalid_argument("`ema_overwrite_frequency` must be an integer >= 1 or None. Received: ema_overwrite_frequency=",
                                 options.ema_overwrite_frequency));
  check(tracking()->track("_variables", s.list));
  check(tracking()->track("_trainable_variables", list_of({})));
  s.iterations = make(name(), "iteration", [] { return Tensor(int64_t(0)); }, VariableAggregation::only_first_replica);
  s.add(s.iterations);
  track("_iterations", s.iterations);
  s.schedule = rate.schedule;
  if (rate.schedule) return;
  s.learning_rate = make(name(), "learning_rate", [&] { return Tensor(float(rate.value)); }, VariableAggregation::only_first_replica);
  s.add(s.learning_rate);
  track("_learning_rate", s.learning_rate);
}

const std::optional<double>& Optimizer::loss_scale_factor() const { return state_->options.loss_scale_factor; }
bool Optimizer::built() const { return state_->built; }
Variable Optimizer::iterations() const { return state_->iterations; }
std::vector<Variable> Optimizer::variables() const { return state_->all; }
const std::vector<Variable>& Optimizer::trained_variables() const { return state_->trained; }
const Variable& Optimizer::slot(size_t kind, size_t index) const { return state_->kinds.at(kind).variables.at(index); }

Variable Optimizer::slot(const Variable& variable, const std::string& name) const {
  auto at = state_->index.find(variable.state().get());
  if (at == state_->index.end()) return {};
  if (name == "average" && !state_->averages.empty()) return state_->averages[at->second];
  for (const auto& k : state_->kinds) {
    if (k.names.slot == name || k.names.keras == name) return k.variables[at->second];
  }
  return {};
}

Tensor Optimizer::learning_rate() const {
  if (state_->schedule) return state_->schedule(state_->iterations);
  return state_->learning_rate;
}

void Optimizer::set_learning_rate(double v) {
  if (state_->schedule)
    check(core::failed_precondition(
        "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor argument, hence its "
        "learning rate is not settable. If you need the learning rate to be settable, you should instantiate the optimizer with a "
        "float `learning_rate` argument."));
  state_->learning_rate.assign(Tensor(float(v)));
}
void Optimizer::set_learning_rate(const LearningRate& rate) {
  if (!rate.schedule) return set_learning_rate(rate.value);
  state_->schedule = rate.schedule;
}

void Optimizer::exclude_from_weight_decay(const std::vector<Variable>& variables, const std::vector<std::string>& words) {
  if (state_->built) check(core::failed_precondition("`exclude_from_weight_decay()` can only be configured before the optimizer is built."));
  for (const Variable& v : variables) state_->no_decay.push_back(v.state().get());
  state_->no_decay_words.insert(state_->no_decay_words.end(), words.begin(), words.end());
}

void Optimizer::add_slots(const std::vector<SlotKind>& kinds) {
  State& s = *state_;
  const size_t first = s.kinds.size();
  for (const SlotKind& k : kinds) s.kinds.push_back({k, {}});
  for (const Variable& v : s.trained) {
    std::string path = v.name();
    std::replace(path.begin(), path.end(), '/', '_');
    std::replace(path.begin(), path.end(), ':', '_');
    for (size_t i = 0; i < kinds.size(); ++i) {
      auto value = [&] {
        const PartialShape shape = v.partial_shape();
        const bool known = shape.known_rank && std::none_of(shape.dims.begin(), shape.dims.end(), [](int64_t d) { return d < 0; });
        if (known && kinds[i].initial == 0) return zeros(shape.dims, v.dtype());
        return raw::Fill(known ? int_list({shape.dims.begin(), shape.dims.end()}) : shape_of(v), number(kinds[i].initial, v.dtype()));
      };
      DeviceScope device(v.device());  // beside the variable
      s.kinds[first + i].variables.push_back(make(name(), path + "_" + kinds[i].keras, value, VariableAggregation::none));
      s.add(s.kinds[first + i].variables.back());
      check(tracking()->add_slot(kinds[i].slot, v.state(), s.kinds[first + i].variables.back().state()));
    }
  }
  for (size_t i = 0; i < kinds.size(); ++i) check(tracking()->track(kinds[i].attribute, list_of(s.kinds[first + i].variables)));
}

Variable Optimizer::add_variable(const std::string& attribute, double initial, DType dtype, const std::string& variable_name) {
  Variable v = make(name(), variable_name, [&] { return number(initial, dtype); }, VariableAggregation::none);
  state_->add(v);
  track(attribute, v);
  return v;
}

void Optimizer::build(const std::vector<Variable>& variables) {
  State& s = *state_;
  if (s.built) return;
  s.trained = variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].has_value()) check(core::invalid_argument("a variable that was not made was given to an optimizer"));
    s.index.emplace(variables[i].state().get(), i);
  }
  check(tracking()->track("_trainable_variables", list_of(variables)));
  auto add_own = [&](const SlotKind& kind) {
    add_slots({kind});
    std::vector<Variable> made = std::move(s.kinds.back().variables);
    s.kinds.pop_back();
    return made;
  };
  if (s.options.use_ema) s.averages = add_own({"average", "average", "_model_variables_moving_average"});
  if (s.options.gradient_accumulation_steps) s.accumulated = add_own({"gradient_accumulator", "gradient_accumulator", "_accumulated_gradients"});
  make_slots();
  s.built = true;
}

Tensor Optimizer::once(const char* name, DType dtype, const std::function<Tensor()>& make) const {
  for (const auto& e : state_->shared) {
    if (e.dtype == dtype && std::string_view(e.name) == name) return e.value;
  }
  Tensor made = make();
  state_->shared.push_back({name, dtype, made});
  return made;
}

Tensor Optimizer::local_step(DType dtype) const {
  return once("local_step", dtype, [&] { return cast(updates_done() + Tensor(int64_t(1)), dtype); });
}

Tensor Optimizer::updates_done() const {
  const int64_t steps = state_->options.gradient_accumulation_steps;
  return steps ? raw::FloorDiv(state_->iterations, Tensor(steps)) : state_->iterations.value();
}

std::vector<Gradient> Optimizer::clipped(std::vector<Gradient> gradients) const {
  const OptimizerOptions& o = state_->options;
  if (o.clipnorm && *o.clipnorm > 0) {
    for (Gradient& g : gradients) {
      g = with_values(g, [&](const Tensor& v) {
        const Tensor squares = sum_all(v * v), some = squares > number_like(v, 0);
        const Tensor norm = where(some, sqrt(where(some, squares, number_like(v, 1))), squares), limit = number_like(v, *o.clipnorm);
        return v * limit / maximum(norm, limit);
      });
    }
  } else if (o.global_clipnorm && *o.global_clipnorm > 0) {
    std::vector<Tensor> squares;
    for (const Gradient& g : gradients) {
      Tensor dense;
      const Tensor& v = values_of(g, dense);
      squares.push_back(as_type(sum_all(square(v)), DType::float32));
    }
    const Tensor norm = sqrt(sum_all(stack(squares)));
    // Not finite: the scale is NaN, so that nobody trains on unnoticed.
    const Tensor scale = Tensor(float(*o.global_clipnorm)) * minimum(Tensor(1.f) / norm, Tensor(float(1.0 / *o.global_clipnorm))) + (norm - norm);
    for (Gradient& g : gradients) g = g.dense() * as_type(scale, g.dense().dtype());  // slices become dense, as in Keras
  } else if (o.clipvalue && *o.clipvalue > 0) {
    for (Gradient& g : gradients) g = with_values(g, [&](const Tensor& v) { return clip(v, -*o.clipvalue, *o.clipvalue); });
  }
  return gradients;
}

void Optimizer::decay_weights(const std::vector<size_t>& which) const {
  const State& s = *state_;
  if (!s.options.weight_decay) return;
  for (size_t i : which) {
    const Variable& v = s.trained[i];
    if (std::find(s.no_decay.begin(), s.no_decay.end(), v.state().get()) != s.no_decay.end()) continue;
    const std::string& name = v.name();
    if (std::any_of(s.no_decay_words.begin(), s.no_decay_words.end(), [&](const std::string& w) { return name.find(w) != std::string::npos; }))
      continue;
    const Tensor rate = once("learning_rate", v.dtype(), [&] { return as_type(learning_rate(), v.dtype()); });
    v.assign_sub(v * keras_cast(*s.options.weight_decay, v.dtype()) * rate);
  }
}

void Optimizer::update_averages() const {
  const State& s = *state_;
  if (s.averages.empty()) return;
  const Tensor step = updates_done();
  for (size_t i = 0; i < s.trained.size(); ++i) {
    const Variable &v = s.trained[i], &average = s.averages[i];
    // The first step takes the values as they are.
    const Tensor momentum = cast(step != Tensor(int64_t(0)), v.dtype()) * number(s.options.ema_momentum, v.dtype());
    average.assign(momentum * average + (number(1, v.dtype()) - momentum) * v);
  }
  if (s.options.ema_overwrite_frequency == 0) return;
  const Tensor now = raw::FloorMod(step + Tensor(int64_t(1)), Tensor(s.options.ema_overwrite_frequency)) == Tensor(int64_t(0));
  for (size_t i = 0; i < s.trained.size(); ++i) s.trained[i].assign(where(now, s.averages[i], s.trained[i]));
}

void Optimizer::finalize_variable_values() {
  for (size_t i = 0; i < state_->averages.size(); ++i) state_->trained[i].assign(state_->averages[i]);
}

void Optimizer::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  apply(std::vector<Gradient>(gradients.begin(), gradients.end()), variables);
}

void Optimizer::update(std::vector<Gradient> gradients, const std::vector<size_t>& which) {
  State& s = *state_;
  struct Clear {
    std::vector<State::Shared>& shared;
    ~Clear() { shared.clear(); }
  } clear{s.shared};
  s.shared.clear();
  gradients = clipped(std::move(gradients));
  decay_weights(which);
  begin_step();
  for (size_t i = 0; i < which.size(); ++i) {
    const DType dtype = s.trained[which[i]].dtype();
    update_step(gradients[i], which[i], once("learning_rate", dtype, [&] { return as_type(learning_rate(), dtype); }));
  }
}

void Optimizer::accumulate(const std::vector<Gradient>& gradients, const std::vector<size_t>& which) {
  State& s = *state_;
  const int64_t steps = s.options.gradient_accumulation_steps;
  const Tensor last = raw::FloorMod(s.iterations + Tensor(int64_t(1)), Tensor(steps)) == Tensor(int64_t(0));
  std::vector<Tensor> dense;
  for (const Gradient& g : gradients) dense.push_back(g.dense());
  auto use = [&] {
    std::vector<Gradient> means;
    for (size_t i = 0; i < which.size(); ++i) means.push_back((dense[i] + s.accumulated[which[i]]) / number_like(dense[i], double(steps)));
    update(std::move(means), which);
    for (const Variable& v : s.accumulated) v.assign(raw::ZerosLike(v));
  };
  auto keep = [&] {
    for (size_t i = 0; i < which.size(); ++i) s.accumulated[which[i]].assign_add(dense[i]);
  };
  cond(last, use, keep);
}

void Optimizer::apply(const std::vector<Gradient>& given, const std::vector<Variable>& variables) {
  State& s = *state_;
  if (given.empty()) return;
  if (given.size() != variables.size())
    check(core::invalid_argument("an optimizer was given ", given.size(), " gradients for ", variables.size(), " variables"));
  build(variables);
  std::vector<size_t> which;
  std::vector<Gradient> gradients;
  std::string missing;
  for (size_t i = 0; i < given.size(); ++i) {
    auto at = s.index.find(variables[i].state().get());
    if (at == s.index.end())
      check(core::invalid_argument(
          "Unknown variable: ", variables[i].has_value() ? variables[i].name() : "none",
          ". This optimizer can only be called for the variables it was originally built with. When working with a new set of variables, "
          "you should recreate a new optimizer instance."));
    if (!given[i].has_value()) {
      missing += (missing.empty() ? "'" : ", '") + variables[i].name() + "'";
      continue;
    }
    which.push_back(at->second);
    gradients.push_back(given[i]);
  }
  if (which.empty()) check(core::invalid_argument("No gradients provided for any variable."));
  if (!missing.empty() && !s.warned) {
    s.warned = true;
    core::log(core::LogLevel::kWarning, core::cat("Gradients do not exist for variables [", missing, "] when minimizing the loss."));
  }
  NameScope scope(name());
  for (size_t i = 0; i < which.size(); ++i) {
    const DType dtype = s.trained[which[i]].dtype();
    Tensor dense;
    if (values_of(gradients[i], dense).dtype() != dtype) gradients[i] = with_values(gradients[i], [&](const Tensor& v) { return cast(v, dtype); });
    if (s.options.loss_scale_factor)
      gradients[i] = with_values(gradients[i], [&](const Tensor& v) { return v / number_like(v, *s.options.loss_scale_factor); });
  }
  if (s.options.gradient_accumulation_steps) accumulate(gradients, which);
  else update(std::move(gradients), which);
  update_averages();
  for (size_t i : which) {
    if (const auto& constraint = s.trained[i].constraint()) s.trained[i].assign(constraint(s.trained[i]));
  }
  s.iterations.assign_add(Tensor(int64_t(1)));
}

Tensor Optimizer::minimize(const std::function<Tensor()>& loss, const std::vector<Variable>& variables) {
  GradientTape tape;
  const Tensor value = loss();
  const std::vector<Variable> all = variables.empty() ? tape.watched_variables() : variables;
  apply(tape.gradient(value, all), all);
  return value;
}

}  // namespace weft::nn

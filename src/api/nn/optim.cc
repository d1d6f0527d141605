// The formulas, one optimiser after the other. Where an op of TensorFlow computes the same, it is one op for a variable; else
// the formula is written out, with slots changed in place: a new value for each would cost its memory in every step.
// Gradients that are slices follow Keras 3 on TensorFlow: they become dense where they meet something dense, and rows that are
// named twice are squared (or made positive) before they are summed.
#include <cmath>

#include "api/nn/train_ops.h"
#include "weft/optim.h"
#include "weft/raw/math.h"
#include "weft/raw/training.h"

namespace weft::nn {
namespace {

Tensor squares(const Gradient& g) {
  if (!g.is_slices()) return square(g.dense());
  return Gradient(IndexedSlices{square(g.slices().values), g.slices().indices, g.slices().dense_shape}).dense();
}
Tensor sizes(const Gradient& g) {
  if (!g.is_slices()) return abs(g.dense());
  return Gradient(IndexedSlices{abs(g.slices().values), g.slices().indices, g.slices().dense_shape}).dense();
}

void check_momentum(double momentum) {
  if (!(momentum >= 0 && momentum <= 1)) throw Error(Code::kInvalidArgument, "`momentum` must be a float between [0, 1].");
}

// Whether ops that take `beta` and form 1 - beta in the type of the variable give what Keras gets from Python's numbers.
bool exact(double beta, DType dtype) {
  if (dtype == DType::float64) return true;
  if (dtype != DType::float32) return false;
  const double keras = float(1 - beta), op = 1.f - float(beta);
  return std::abs(keras - op) <= 5e-7 * std::abs(keras);
}

}  // namespace

// -- SGD

SGD::SGD(const SGDOptions& o) : Optimizer("sgd", o.learning_rate, common(o)), momentum_(o.momentum), nesterov_(o.nesterov) {
  check_momentum(momentum_);
}

void SGD::make_slots() {
  if (momentum_ != 0) add_slots({{"momentum", "momentum", "momentums"}});
}

void SGD::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const Variable& v = variable(i);
  if (momentum_ == 0 && g.is_slices()) {
    v.scatter_sub({g.slices().values * rate, g.slices().indices, {}});
  } else if (momentum_ == 0) {
    raw::ResourceApplyGradientDescent(v.handle(), rate, g.dense());
  } else {
    raw::ResourceApplyKerasMomentum(v.handle(), slot(0, i).handle(), rate, g.dense(), keras_cast(momentum_, v.dtype()), {.use_nesterov = nesterov_});
  }
}

// -- Adam, AdamW

Adam::Adam(const AdamOptions& o) : Adam(o, "adam") {}
Adam::Adam(const AdamOptions& o, const std::string& default_name) : Optimizer(default_name, o.learning_rate, common(o)), options_(o) {}

void Adam::make_slots() {
  add_slots({{"momentum", "m", "_momentums"}, {"velocity", "v", "_velocities"}});
  if (options_.amsgrad) add_slots({{"velocity_hat", "vhat", "_velocity_hats"}});
}

void Adam::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const AdamOptions& o = options_;
  const Variable &var = variable(i), &m = slot(0, i), &v = slot(1, i);
  const DType type = var.dtype();
  const Tensor power_1 = once("beta_1_power", type, [&] { return pow(keras_cast(o.beta_1, type), local_step(type)); });
  const Tensor power_2 = once("beta_2_power", type, [&] { return pow(keras_cast(o.beta_2, type), local_step(type)); });
  const bool fused = !g.is_slices() && o.fused.value_or(exact(o.beta_1, type) && exact(o.beta_2, type));
  if (fused) {
    const Tensor beta_1 = number(o.beta_1, type), beta_2 = number(o.beta_2, type), epsilon = number(o.epsilon, type);
    if (o.amsgrad)
      raw::ResourceApplyAdamWithAmsgrad(var.handle(), m.handle(), v.handle(), slot(2, i).handle(), power_1, power_2, rate, beta_1, beta_2, epsilon,
                                        g.dense());
    else raw::ResourceApplyAdam(var.handle(), m.handle(), v.handle(), power_1, power_2, rate, beta_1, beta_2, epsilon, g.dense());
    return;
  }
  const Tensor alpha = once("alpha", type, [&] { return rate * sqrt(minus_from(1, power_2)) / minus_from(1, power_1); });
  m.assign_add(times(g.dense() - m, 1 - o.beta_1));
  v.assign_add(times(squares(g) - v, 1 - o.beta_2));
  Tensor spread = v;
  if (o.amsgrad) {
    spread = maximum(slot(2, i), spread);
    slot(2, i).assign(spread);
  }
  var.assign_sub(m * alpha / plus(sqrt(spread), o.epsilon));
}

namespace {

AdamOptions adam_options(const AdamWOptions& o) {
  if (!o.weight_decay) throw Error(Code::kInvalidArgument, "Argument `weight_decay` must be a float. Received: weight_decay=None");
  return {o.learning_rate,
          o.beta_1,
          o.beta_2,
          o.epsilon,
          o.amsgrad,
          o.fused,
          o.weight_decay,
          o.clipnorm,
          o.clipvalue,
          o.global_clipnorm,
          o.use_ema,
          o.ema_momentum,
          o.ema_overwrite_frequency,
          o.loss_scale_factor,
          o.gradient_accumulation_steps,
          o.name};
}

}  // namespace

AdamW::AdamW(const AdamWOptions& o) : Adam(adam_options(o), "adamw") {}

// -- RMSprop

RMSprop::RMSprop(const RMSpropOptions& o) : Optimizer("rmsprop", o.learning_rate, common(o)), options_(o) {}

void RMSprop::make_slots() {
  add_slots({{"velocity", "rms", "_velocities"}});
  if (options_.momentum > 0) add_slots({{"momentum", "momentum", "_momentums"}});
  if (options_.centered) add_slots({{"average_gradient", "mg", "_average_gradients"}});
}

void RMSprop::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const RMSpropOptions& o = options_;
  const Variable &var = variable(i), &velocity = slot(0, i);
  const DType type = var.dtype();
  const bool has_momentum = o.momentum > 0;
  if (has_momentum && !o.centered && !g.is_slices() && exact(o.rho, type)) {
    raw::ResourceApplyRMSProp(var.handle(), velocity.handle(), slot(1, i).handle(), rate, number(o.rho, type), number(o.momentum, type),
                              number(o.epsilon, type), g.dense());
    return;
  }
  Tensor denominator;
  if (o.centered) {
    // Almost all of the two is taken away from each other where gradients hardly change: then only Keras' own order of operations,
    // unlike that of TensorFlow's op, leaves what Keras is left with.
    const Variable& average = slot(has_momentum ? 2 : 1, i);
    const Tensor new_velocity = times(velocity, o.rho) + times(squares(g), 1 - o.rho),
                 new_average = times(average, o.rho) + times(g.dense(), 1 - o.rho);
    velocity.assign(new_velocity);
    average.assign(new_average);
    denominator = new_velocity - square(new_average);
  } else {
    velocity.assign_add(times(squares(g) - velocity, 1 - o.rho));
    denominator = velocity;
  }
  Tensor increment = rate * g.dense() / sqrt(plus(denominator, o.epsilon));
  if (has_momentum) {
    increment = times(slot(1, i), o.momentum) + increment;
    slot(1, i).assign(increment);
  }
  var.assign_sub(increment);
}

// -- Adagrad

Adagrad::Adagrad(const AdagradOptions& o) : Optimizer("adagrad", o.learning_rate, common(o)), options_(o) {}

void Adagrad::make_slots() { add_slots({{"accumulator", "accumulator", "_accumulators", options_.initial_accumulator_value}}); }

// TensorFlow's ops add epsilon behind the root, Keras under it.
void Adagrad::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const Variable &var = variable(i), &accumulator = slot(0, i);
  if (g.is_slices()) {
    const IndexedSlices& s = g.slices();
    accumulator.scatter_add({square(s.values), s.indices, {}});
    var.scatter_sub({rate * s.values / sqrt(plus(accumulator.sparse_read(s.indices), options_.epsilon)), s.indices, {}});
    return;
  }
  accumulator.assign_add(squares(g));
  var.assign_sub(rate * g.dense() / sqrt(plus(accumulator, options_.epsilon)));
}

// -- Adadelta

Adadelta::Adadelta(const AdadeltaOptions& o) : Optimizer("adadelta", o.learning_rate, common(o)), options_(o) {}

void Adadelta::make_slots() {
  add_slots({{"accumulated_grad", "accum_grad", "_accumulated_grads"}, {"accumulated_delta_var", "accum_var", "_accumulated_delta_vars"}});
}

void Adadelta::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const AdadeltaOptions& o = options_;
  const Variable &var = variable(i), &gradients = slot(0, i), &deltas = slot(1, i);
  const DType type = var.dtype();
  if (!g.is_slices() && exact(o.rho, type)) {
    raw::ResourceApplyAdadelta(var.handle(), gradients.handle(), deltas.handle(), rate, number(o.rho, type), number(o.epsilon, type), g.dense());
    return;
  }
  const Tensor square_sum = squares(g);
  const Tensor new_gradients = times(gradients, o.rho) + times(square_sum, 1 - o.rho);
  gradients.assign(new_gradients);
  const Tensor old = deltas, factor = sqrt(plus(old, o.epsilon)) / sqrt(plus(new_gradients, o.epsilon));
  deltas.assign(times(old, o.rho) + times(square(factor) * square_sum, 1 - o.rho));
  var.assign_sub(rate * (factor * g.dense()));
}

// -- Ftrl

Ftrl::Ftrl(const FtrlOptions& o) : Optimizer("ftrl", o.learning_rate, common(o)), options_(o) {
  auto check = [](bool ok, const char* name, const char* want, double v) {
    if (!ok)
      throw Error(Code::kInvalidArgument,
                  std::string("`") + name + "` needs to be " + want + " or zero. Received: " + name + "=" + std::to_string(v) + ".");
  };
  check(o.initial_accumulator_value >= 0, "initial_accumulator_value", "positive", o.initial_accumulator_value);
  check(o.learning_rate_power <= 0, "learning_rate_power", "negative", o.learning_rate_power);
  check(o.l1_regularization_strength >= 0, "l1_regularization_strength", "positive", o.l1_regularization_strength);
  check(o.l2_regularization_strength >= 0, "l2_regularization_strength", "positive", o.l2_regularization_strength);
  check(o.l2_shrinkage_regularization_strength >= 0, "l2_shrinkage_regularization_strength", "positive", o.l2_shrinkage_regularization_strength);
}

void Ftrl::make_slots() {
  add_slots({{"accumulator", "accumulator", "_accumulators", options_.initial_accumulator_value}, {"linear", "linear", "_linears"}});
}

void Ftrl::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const FtrlOptions& o = options_;
  const Variable &var = variable(i), &accumulator = slot(0, i), &linear = slot(1, i);
  const DType type = var.dtype();
  Tensor l2 = number(o.l2_regularization_strength, type);
  if (o.beta != 0) l2 = l2 + number(o.beta, type) / times(rate, 2);
  if (!g.is_slices()) {
    raw::ResourceApplyFtrlV2(var.handle(), accumulator.handle(), linear.handle(), g.dense(), rate, number(o.l1_regularization_strength, type), l2,
                             number(o.l2_shrinkage_regularization_strength, type), number(o.learning_rate_power, type));
    return;
  }
  const Tensor value = var, old = accumulator, power = number(-o.learning_rate_power, type);
  const Tensor shrunk = g.dense() + times(value, 2 * o.l2_shrinkage_regularization_strength);
  const Tensor sum = old + squares(g), sum_power = pow(sum, power);
  const Tensor new_linear = linear + (shrunk - (sum_power - pow(old, power)) / rate * value);
  linear.assign(new_linear);
  const Tensor quadratic = sum_power / rate + times(l2, 2);
  var.assign((clip(new_linear, -o.l1_regularization_strength, o.l1_regularization_strength) - new_linear) / quadratic);
  accumulator.assign(sum);
}

// -- Adamax

Adamax::Adamax(const AdamaxOptions& o) : Optimizer("adamax", o.learning_rate, common(o)), options_(o) {}

void Adamax::make_slots() { add_slots({{"momentum", "m", "_m"}, {"norm", "v", "_u"}}); }

void Adamax::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const AdamaxOptions& o = options_;
  const Variable &var = variable(i), &m = slot(0, i), &u = slot(1, i);
  const DType type = var.dtype();
  const Tensor power = once("beta_1_power", type, [&] { return pow(keras_cast(o.beta_1, type), local_step(type)); });
  if (!g.is_slices() && exact(o.beta_1, type)) {
    raw::ResourceApplyAdaMax(var.handle(), m.handle(), u.handle(), power, rate, number(o.beta_1, type), number(o.beta_2, type),
                             number(o.epsilon, type), g.dense());
    return;
  }
  const Tensor old = m, new_m = old + times(g.dense() - old, 1 - o.beta_1), new_u = maximum(times(u, o.beta_2), sizes(g));
  m.assign(new_m);
  u.assign(new_u);
  var.assign_sub(rate * new_m / (minus_from(1, power) * plus(new_u, o.epsilon)));
}

// -- Nadam

Nadam::Nadam(const NadamOptions& o) : Optimizer("nadam", o.learning_rate, common(o)), options_(o), u_product_(std::make_shared<Variable>()) {}

void Nadam::make_slots() {
  add_slots({{"momentum", "m", "_momentums"}, {"velocity", "v", "_velocities"}});
  *u_product_ = add_variable("_u_product", 1, trained_variables().empty() ? DType::float32 : trained_variables()[0].dtype(), "variable");
}

void Nadam::begin_step() {
  const Tensor u = *u_product_;
  u_product_->assign(times(u, options_.beta_1) * minus_from(1, times(pow(number_like(u, 0.96), local_step(u.dtype())), 0.5)));
}

void Nadam::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const NadamOptions& o = options_;
  const Variable &var = variable(i), &m = slot(0, i), &v = slot(1, i);
  const DType type = var.dtype();
  auto momentum_at = [&](const Tensor& step) { return keras_cast(o.beta_1, type) * minus_from(1, times(pow(keras_cast(0.96, type), step), 0.5)); };
  const Tensor u = once("u", type, [&] { return momentum_at(local_step(type)); });
  const Tensor next_u = once("next_u", type, [&] { return momentum_at(plus(local_step(type), 1)); });
  const Tensor product = once("u_product", type, [&] { return as_type(*u_product_, type); });
  const Tensor power_2 = once("beta_2_power", type, [&] { return pow(keras_cast(o.beta_2, type), local_step(type)); });
  // Keras takes these from numbers of the variable's type, unlike Adam.
  const Tensor one = number(1, type), rest_1 = one - keras_cast(o.beta_1, type), rest_2 = one - keras_cast(o.beta_2, type);
  const Tensor gradient = g.dense();
  m.assign_add((gradient - m) * rest_1);
  v.assign_add((squares(g) - v) * rest_2);
  const Tensor m_hat = next_u * m / (one - product * next_u) + (one - u) * gradient / (one - product);
  var.assign_sub(m_hat * rate / plus(sqrt(v / (one - power_2)), o.epsilon));
}

// -- Lion

Lion::Lion(const LionOptions& o) : Optimizer("lion", o.learning_rate, common(o)), options_(o) {
  if (!(o.beta_1 > 0 && o.beta_1 <= 1))
    throw Error(Code::kInvalidArgument,
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to SignSGD. Received: beta_1=" +
                    std::to_string(o.beta_1) + ".");
}

void Lion::make_slots() { add_slots({{"momentum", "m", "_momentums"}}); }

void Lion::update_step(const Gradient& g, size_t i, const Tensor& rate) {
  const Variable &var = variable(i), &m = slot(0, i);
  const DType type = var.dtype();
  const Tensor one = number(1, type), beta_1 = keras_cast(options_.beta_1, type), beta_2 = keras_cast(options_.beta_2, type);
  const Tensor old = m, gradient = g.dense();
  var.assign_sub(rate * raw::Sign(old * beta_1 + gradient * (one - beta_1)));
  m.assign_add((gradient - old) * (one - beta_2));
}

}  // namespace weft::nn

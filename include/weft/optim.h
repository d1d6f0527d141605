// Optimisers: what turns gradients into better variables. Formulas, defaults and names are those of Keras 3.
//
//   weft::nn::Adam adam({.learning_rate = 1e-3, .clipnorm = 1.0});
//   weft::GradientTape tape;
//   weft::Tensor loss = weft::reduce_mean(weft::square(model(x) - y));
//   adam.apply(tape.gradient(loss, variables), variables);
//
// The same code runs eagerly and inside weft::function. Variables that an optimiser keeps beside each trained one (its
// momentum) are made at the first apply(), in TensorFlow's rule of functions: inside of one only in its first call. Copies
// of an optimiser mean the same one. One thread at a time may use it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/module.h"
#include "weft/tape.h"

namespace weft::nn {

// Learning rates that change with the number of updates done. Any function of the step, a scalar of int64, will do.
using Schedule = std::function<Tensor(const Tensor& step)>;

// initial * rate ^ (step / steps)
struct WEFT_API ExponentialDecay {
  double initial_learning_rate = 0.01;
  int64_t decay_steps = 1;
  double decay_rate = 0.96;
  bool staircase = false;  // whole periods only
  Tensor operator()(const Tensor& step) const;
};
// values[i] up to and with step boundaries[i], the last value after that.
struct WEFT_API PiecewiseConstantDecay {
  std::vector<int64_t> boundaries;
  std::vector<double> values;
  Tensor operator()(const Tensor& step) const;
};
struct WEFT_API PolynomialDecay {
  double initial_learning_rate = 0.01;
  int64_t decay_steps = 1;
  double end_learning_rate = 0.0001;
  double power = 1;
  bool cycle = false;  // begins again, with longer periods, instead of staying at the end
  Tensor operator()(const Tensor& step) const;
};
// initial / (1 + rate * step / steps)
struct WEFT_API InverseTimeDecay {
  double initial_learning_rate = 0.01;
  int64_t decay_steps = 1;
  double decay_rate = 1;
  bool staircase = false;
  Tensor operator()(const Tensor& step) const;
};
// Half a wave down to alpha * initial; with a warm-up target first a line up to that.
struct WEFT_API CosineDecay {
  double initial_learning_rate = 0.01;
  int64_t decay_steps = 1;
  double alpha = 0;
  std::optional<double> warmup_target = {};
  int64_t warmup_steps = 0;
  Tensor operator()(const Tensor& step) const;
};
// Such waves again and again, each t_mul times as long and m_mul times as high as the one before.
struct WEFT_API CosineDecayRestarts {
  double initial_learning_rate = 0.01;
  int64_t first_decay_steps = 1;
  double t_mul = 2, m_mul = 1, alpha = 0;
  Tensor operator()(const Tensor& step) const;
};

// A number, kept in a variable that can be set, or a schedule.
struct LearningRate {
  LearningRate(double number) : value(number) {}  // NOLINT: implicit on purpose
  template <class F>
    requires std::invocable<const F&, const Tensor&>
  LearningRate(F f) : schedule(std::move(f)) {}  // NOLINT
  double value = 0;
  Schedule schedule;
};

// What all optimisers know; each one's options have the same fields behind its own.
#define WEFT_OPTIMIZER_OPTIONS(decay)                                                                        \
  std::optional<double> weight_decay = decay; /* variables shrink by this much of the learning rate */       \
  std::optional<double> clipnorm = {};        /* each gradient's norm is at most this */                            \
  std::optional<double> clipvalue = {};       /* each number of a gradient is within this */                       \
  std::optional<double> global_clipnorm = {}; /* the norm of all gradients together is at most this */       \
  bool use_ema = false;                       /* keeps moving averages of the variables */                                         \
  double ema_momentum = 0.99;                                                                                \
  int64_t ema_overwrite_frequency = 0;        /* steps after which the averages become the variables; 0: never */   \
  std::optional<double> loss_scale_factor = {}; /* gradients are divided by this */                          \
  int64_t gradient_accumulation_steps = 0;    /* so many gradients make one update, with their mean; 0: each */ \
  std::string name = {};                      /* empty: "adam", "sgd" ... */

struct OptimizerOptions {
  WEFT_OPTIMIZER_OPTIONS({})
};

class WEFT_API Optimizer : public Module {
 public:
  // Changes the variables, in place, by their gradients. Variables without a gradient stay as they are; none at all with a
  // gradient is an error. Gradients that are slices of rows touch only these rows where the formula allows it.
  void apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables);
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  // Computes the loss under a tape, and applies its gradients; the variables are those that the loss read, if none are named.
  Tensor minimize(const std::function<Tensor()>& loss, const std::vector<Variable>& variables = {});
  // Makes the variables that it keeps for these; apply() does so by itself.
  void build(const std::vector<Variable>& variables);
  bool built() const;

  Variable iterations() const;       // int64: how often apply() was called
  Tensor learning_rate() const;      // the one that the next update will use
  // A rate or a schedule from here on.
  void set_learning_rate(double v);  // FailedPrecondition where a schedule decides
  void set_learning_rate(const LearningRate& rate);
  // Iterations, learning rate, and what it keeps for each variable, in Keras' order.
  std::vector<Variable> variables() const override;
  const std::vector<Variable>& trained_variables() const;  // those that it was built for
  // What it keeps for a variable: "m" and "v" of Adam; a variable without a value where there is none.
  Variable slot(const Variable& variable, const std::string& name) const;

  // Variables that do not shrink: these, and those whose names contain one of the words. Before the first update.
  void exclude_from_weight_decay(const std::vector<Variable>& variables, const std::vector<std::string>& words = {});
  const std::optional<double>& loss_scale_factor() const;  // what a loss is to be multiplied by before gradients are taken
  // With use_ema: the averages become the values of the variables, at the end of training.
  void finalize_variable_values();

 protected:
  // One kind of variable that is kept beside each trained one.
  struct SlotKind {
    std::string keras;      // "momentum": in the variable's name
    std::string slot;       // "m": TensorFlow's name
    std::string attribute;  // "_momentums": the list's name in files
    double initial = 0;
  };
  Optimizer(const std::string& default_name, const LearningRate& rate, const OptimizerOptions& options);

  // Makes what is kept, by add_slots(), once.
  virtual void make_slots() = 0;
  // Changes one variable. The learning rate is of the variable's type.
  virtual void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) = 0;
  // Before the first update_step() of each apply().
  virtual void begin_step() {}
  // A number that all variables of one apply() share: made by the first that asks.
  Tensor once(const char* name, DType dtype, const std::function<Tensor()>& make) const;

  // One variable of each kind for each trained one. Kinds of one call lie side by side in variables().
  void add_slots(const std::vector<SlotKind>& kinds);
  Variable add_variable(const std::string& attribute, double initial, DType dtype, const std::string& name);
  const Variable& slot(size_t kind, size_t index) const;  // kinds count from 0, in the order of add_slots()
  const Variable& variable(size_t index) const { return trained_variables()[index]; }
  Tensor local_step(DType dtype) const;  // the number of this update, from 1

  template <class O>
  static OptimizerOptions common(const O& o) {
    return {o.weight_decay,
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

 private:
  struct State;
  void update(std::vector<Gradient> gradients, const std::vector<size_t>& which);
  void accumulate(const std::vector<Gradient>& gradients, const std::vector<size_t>& which);
  Tensor updates_done() const;
  std::vector<Gradient> clipped(std::vector<Gradient> gradients) const;
  void decay_weights(const std::vector<size_t>& which) const;
  void update_averages() const;
  std::shared_ptr<State> state_;
};

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API SGD : public Optimizer {
 public:
  explicit SGD(const SGDOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  double momentum_;
  bool nesterov_;
};

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  // One op for a variable. It takes 1 - beta_2 in the variable's own type, which for 0.999 in float32 is 5e-5 off what Keras
  // uses: fewer ops, which counts eagerly (a traced step is as fast without), and equal to Keras in four or five digits of each
  // update only. Unset: only where it is equal.
  std::optional<bool> fused = {};
  WEFT_OPTIMIZER_OPTIONS({})
};
struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<bool> fused = {};
  WEFT_OPTIMIZER_OPTIONS(0.004)
};
class WEFT_API Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options = {});

 protected:
  Adam(const AdamOptions& options, const std::string& default_name);
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  AdamOptions options_;
};
class WEFT_API AdamW : public Adam {
 public:
  explicit AdamW(const AdamWOptions& options = {});
};

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const RMSpropOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  RMSpropOptions options_;
};

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const AdagradOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  AdagradOptions options_;
};

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API Adadelta : public Optimizer {
 public:
  explicit Adadelta(const AdadeltaOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  AdadeltaOptions options_;
};

struct FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1, l1_regularization_strength = 0, l2_regularization_strength = 0,
         l2_shrinkage_regularization_strength = 0, beta = 0;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API Ftrl : public Optimizer {
 public:
  explicit Ftrl(const FtrlOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  FtrlOptions options_;
};

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API Adamax : public Optimizer {
 public:
  explicit Adamax(const AdamaxOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  AdamaxOptions options_;
};

struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API Nadam : public Optimizer {
 public:
  explicit Nadam(const NadamOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;
  void begin_step() override;

 private:
  NadamOptions options_;
  std::shared_ptr<Variable> u_product_;
};

struct LionOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.99;
  WEFT_OPTIMIZER_OPTIONS({})
};
class WEFT_API Lion : public Optimizer {
 public:
  explicit Lion(const LionOptions& options = {});

 protected:
  void make_slots() override;
  void update_step(const Gradient& gradient, size_t index, const Tensor& learning_rate) override;

 private:
  LionOptions options_;
};

#undef WEFT_OPTIMIZER_OPTIONS

}  // namespace weft::nn

// Training without a loop of one's own: fit, evaluate and predict, as a compiled Keras model does them, for any module that
// can be called.
//
//   nn::Sequential model{nn::Dense(128, "relu"), nn::Dense(10)};
//   nn::Trainer trainer(model, {.optimizer = nn::Adam(),
//                               .loss = nn::losses::SparseCategoricalCrossentropy({.from_logits = true}),
//                               .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});
//   nn::History history = trainer.fit(x, y, {.epochs = 5, .validation_split = 0.1, .callbacks = {nn::EarlyStopping({.patience = 2})}});
//   nn::Logs scores = trainer.evaluate(x_test, y_test);
//   Tensor predictions = trainer.predict(x_test);
//
// A whole step (forward, gradients, update, metrics) is one weft::function. The model must live as long as its trainer.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/dataset.h"
#include "weft/losses.h"
#include "weft/metrics.h"
#include "weft/nn/layer.h"
#include "weft/optim.h"

namespace weft::nn {

class Trainer;

// An object of any class behind Base, kept. Objects of this library are handles, so the caller's copy stays the same object.
template <class Base>
class Any {
 public:
  Any() = default;
  template <class T>
    requires std::derived_from<std::decay_t<T>, Base>
  Any(T&& object) : object_(std::make_shared<std::decay_t<T>>(std::forward<T>(object))) {}  // NOLINT: implicit on purpose
  template <std::derived_from<Base> T>
  Any(std::shared_ptr<T> object) : object_(std::move(object)) {}  // NOLINT
  explicit operator bool() const { return object_ != nullptr; }
  Base* operator->() const { return object_.get(); }
  Base& operator*() const { return *object_; }

 private:
  std::shared_ptr<Base> object_;
};
using AnyOptimizer = Any<Optimizer>;
using AnyMetric = Any<metrics::Metric>;

// Numbers by name, in their order: "loss", the metrics, and with "val_" before them those of the validation.
struct WEFT_API Logs : std::vector<std::pair<std::string, double>> {
  using vector::vector;
  const double* find(const std::string& name) const;  // null where there is none
  double at(const std::string& name) const;           // NotFound
  // Sets or adds a value.
  void set(const std::string& name, double value);
};

// What fit() saw: one value for each epoch.
struct WEFT_API History {
  std::vector<int> epoch;
  std::vector<std::pair<std::string, std::vector<double>>> series;
  const std::vector<double>& operator[](const std::string& name) const;  // NotFound
  // Whether there are values of that name.
  bool has(const std::string& name) const;
};

// Called on the way. Those of this library are in weft/callbacks.h.
class WEFT_API Callback {
 public:
  virtual ~Callback();
  // Called when training begins, ends, and around epochs and batches.
  virtual void on_train_begin(Trainer&) {}
  virtual void on_train_end(Trainer&, const Logs&) {}
  virtual void on_epoch_begin(Trainer&, int /*epoch*/) {}
  virtual void on_epoch_end(Trainer&, int /*epoch*/, Logs&) {}
  // Only asked for where wants_batches() says so: reading the numbers of each batch takes time.
  virtual bool wants_batches() const { return false; }
  virtual void on_train_batch_end(Trainer&, int64_t /*batch*/, const Logs&) {}
};
using AnyCallback = Any<Callback>;

struct TrainerOptions {
  AnyOptimizer optimizer = {};             // none: RMSprop, as in Keras
  std::optional<losses::Loss> loss = {};   // none: only what the layers add
  std::vector<AnyMetric> metrics = {};
  std::vector<AnyMetric> weighted_metrics = {};  // that see the weights of samples
  bool run_eagerly = false;                // op by op, for debugging
};

// What is trained or validated on: all samples at once, or batches of {x, y} or {x, y, weight} from a dataset.
struct Samples {
  std::vector<Tensor> x;  // the inputs of the model
  Tensor y, sample_weight = {};
  std::optional<data::Dataset> batches = {};
  Samples() = default;
  Samples(Tensor x, Tensor y, Tensor weight = {}) : x{std::move(x)}, y(std::move(y)), sample_weight(std::move(weight)) {}
  Samples(std::vector<Tensor> x, Tensor y, Tensor weight = {}) : x(std::move(x)), y(std::move(y)), sample_weight(std::move(weight)) {}
  Samples(data::Dataset dataset) : batches(std::move(dataset)) {}  // NOLINT: implicit on purpose
};

struct FitOptions {
  int epochs = 1;
  int64_t batch_size = 32;
  std::optional<Samples> validation_data = {};
  double validation_split = 0;              // this part of the samples, from the end
  int validation_freq = 1;                  // epochs
  int64_t validation_steps = 0;             // batches; 0: all
  bool shuffle = true;
  std::optional<uint64_t> seed = {};        // of shuffling
  std::map<int64_t, double> class_weight = {};  // by label, which must be a class number
  int initial_epoch = 0;
  int64_t steps_per_epoch = 0;              // 0: to the end of the samples; else a dataset goes on where the last epoch stopped
  std::vector<AnyCallback> callbacks = {};
  int verbose = 1;                          // 0: silent; 1: a bar on a terminal, a line for each epoch elsewhere
};
struct EvaluateOptions {
  int64_t batch_size = 32, steps = 0;
  int verbose = 0;
};
struct PredictOptions {
  int64_t batch_size = 32;
};

class WEFT_API Trainer {
 public:
  using Forward = std::function<Tensor(const std::vector<Tensor>& inputs, bool training)>;

  // Layers and models of this library, modules called with (Tensor, bool training), and modules called with a Tensor.
  template <std::derived_from<Module> M>
  Trainer(M& model, const TrainerOptions& options) : Trainer(model, forward_of(model), losses_of(model), options, mask_of(model)) {}
  // `output_mask`: from the inputs, which parts of the predictions count.
  Trainer(const Module& module, Forward forward, std::function<std::vector<Tensor>()> extra_losses, const TrainerOptions& options,
          std::function<Tensor(const std::vector<Tensor>& inputs)> output_mask = {});

  // Trains for some epochs.
  History fit(const Samples& samples, const FitOptions& options = {});
  History fit(const Tensor& x, const Tensor& y, const FitOptions& options = {}) { return fit(Samples(x, y), options); }
  // The loss and the metrics on samples.
  Logs evaluate(const Samples& samples, const EvaluateOptions& options = {});
  Logs evaluate(const Tensor& x, const Tensor& y, const EvaluateOptions& options = {}) { return evaluate(Samples(x, y), options); }
  // The model's outputs, batch by batch.
  Tensor predict(const Tensor& x, const PredictOptions& options = {}) { return predict(std::vector<Tensor>{x}, options); }
  Tensor predict(const std::vector<Tensor>& x, const PredictOptions& options = {});

  // One batch, and the numbers of the epoch so far, as tensors in the order of log_names().
  std::vector<Tensor> train_on_batch(const std::vector<Tensor>& x, const Tensor& y, const Tensor& sample_weight = {});
  std::vector<Tensor> test_on_batch(const std::vector<Tensor>& x, const Tensor& y, const Tensor& sample_weight = {});
  std::vector<std::string> log_names() const;
  void reset_metrics();

  // What is trained, and by what.
  const Module& model() const;
  Optimizer& optimizer() const;
  const History& history() const;  // of the fit() that runs, or of the last
  void stop_training();            // after this epoch; for callbacks
  int epochs() const;              // that fit() was asked for

 private:
  template <class M>
  static Forward forward_of(M& m) {
    if constexpr (std::derived_from<M, Layer>) {
      return [&m](const std::vector<Tensor>& x, bool training) {
        CallOptions o;
        o.training = training;
        return x.size() == 1 ? m(x[0], o) : m(x, o);
      };
    } else {
      return [&m](const std::vector<Tensor>& x, bool training) {
        if (x.size() != 1) throw Error(Code::kInvalidArgument, "this module is called with one tensor, " + std::to_string(x.size()) + " were given");
        if constexpr (std::is_invocable_v<M&, const Tensor&, bool>) return Tensor(m(x[0], training));
        else return (void)training, Tensor(m(x[0]));
      };
    }
  }
  template <class M>
  static std::function<std::vector<Tensor>()> losses_of(M& m) {
    if constexpr (std::derived_from<M, Layer>) return [&m] { return m.losses(); };
    else return {};
  }
  template <class M>
  static std::function<Tensor(const std::vector<Tensor>&)> mask_of(M& m) {
    if constexpr (std::derived_from<M, Layer>)
      return [&m](const std::vector<Tensor>& x) { return m.compute_mask_many(x, std::vector<Tensor>(x.size())); };
    else return {};
  }
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace weft::nn

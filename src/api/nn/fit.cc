// fit, evaluate and predict. Numbers are Keras': the loss of an epoch is the mean over samples, not over batches, and metrics
// see weights of samples only if they are asked to.
#include "weft/fit.h"

#include <algorithm>
#include <cmath>

#include "api/nn/loss_shapes.h"
#include "weft/function.h"
#include "weft/progress.h"
#include "weft/raw/array.h"

namespace weft::nn {

const double* Logs::find(const std::string& name) const {
  for (const auto& [n, v] : *this) {
    if (n == name) return &v;
  }
  return nullptr;
}
double Logs::at(const std::string& name) const {
  if (const double* v = find(name)) return *v;
  std::string all;
  for (const auto& [n, v] : *this) all += (all.empty() ? "" : ", ") + n;
  throw Error(Code::kNotFound, "there is no '" + name + "' among the numbers of this epoch: " + all);
}
void Logs::set(const std::string& name, double value) {
  for (auto& [n, v] : *this) {
    if (n == name) {
      v = value;
      return;
    }
  }
  emplace_back(name, value);
}

bool History::has(const std::string& name) const {
  return std::any_of(series.begin(), series.end(), [&](const auto& s) { return s.first == name; });
}
const std::vector<double>& History::operator[](const std::string& name) const {
  for (const auto& [n, values] : series) {
    if (n == name) return values;
  }
  throw Error(Code::kNotFound, "the history has no '" + name + "'");
}

Callback::~Callback() = default;

using Step = TracedFunction<std::vector<Tensor>(std::vector<Tensor>, Tensor, std::vector<Tensor>)>;

struct Trainer::Impl {
  const Module* module;
  Forward forward;
  std::function<std::vector<Tensor>()> extra_losses;
  std::function<Tensor(const std::vector<Tensor>&)> output_mask;
  TrainerOptions options;
  metrics::Mean loss{"loss"};
  Step train, test;
  TracedFunction<Tensor(std::vector<Tensor>)> predict;
  History history;
  bool stop = false;
  int epochs = 0;

  // Forward, loss and metrics; shared by training and testing.
  Tensor compute(const std::vector<Tensor>& x, const Tensor& y, const std::vector<Tensor>& weight, bool training, Tensor& y_pred) {
    y_pred = forward(x, training);
    const Tensor w = weight.empty() ? Tensor() : weight[0];
    Tensor value;
    if (options.loss) value = (*options.loss)(y, y_pred, w, output_mask ? output_mask(x) : Tensor());
    if (value.has_value() && rank_of(value) > 0) value = reduce_op(raw::Mean, value, axes_of(value));
    if (extra_losses) {
      for (const Tensor& extra : extra_losses()) value = value.has_value() ? value + as_type(extra, value.dtype()) : extra;
    }
    if (!value.has_value()) throw Error(Code::kInvalidArgument, "there is nothing to train by: no loss was given, and no layer added one");
    return value;
  }
  static std::vector<int32_t> axes_of(const Tensor& t) {
    std::vector<int32_t> axes;
    for (int i = 0; i < rank_of(t); ++i) axes.push_back(i);
    return axes;
  }

  std::vector<Tensor> count(const Tensor& value, const std::vector<Tensor>& x, const Tensor& y, const Tensor& y_pred,
                            const std::vector<Tensor>& weight) {
    const int64_t n = dim_of(x[0], 0);
    loss.update_state(value, n >= 0 ? Tensor(float(n)) : cast(gather(shape_of(x[0]), Tensor(int32_t(0))), DType::float32));
    const Tensor mask = output_mask ? output_mask(x) : Tensor();
    std::vector<Tensor> logs{loss.result()};
    auto add = [&](const AnyMetric& m, const Tensor& w) {
      // As in Keras, masks are for metrics that are means over samples.
      const bool masked = mask.has_value() && dynamic_cast<const metrics::MeanMetricWrapper*>(&*m);
      m->update_state(y, y_pred, masked ? masked_weights(w, mask, DType::float32, losses::Reduction::sum) : w);
      logs.push_back(m->result());
    };
    for (const AnyMetric& m : options.metrics) add(m, {});
    for (const AnyMetric& m : options.weighted_metrics) add(m, weight.empty() ? Tensor() : weight[0]);
    return logs;
  }

  std::vector<Tensor> train_step(const std::vector<Tensor>& x, const Tensor& y, const std::vector<Tensor>& weight) {
    Tensor y_pred, value;
    std::vector<Variable> variables;
    std::vector<Gradient> gradients;
    {
      GradientTape tape;
      value = compute(x, y, weight, true, y_pred);
      tape.stop();
      variables = module->trainable_variables();
      if (variables.empty()) throw Error(Code::kFailedPrecondition, "the model has no trainable variables");
      const auto& scale = options.optimizer->loss_scale_factor();
      gradients = tape.gradient(scale ? times(value, *scale) : value, variables);
    }
    options.optimizer->apply(gradients, variables);
    return count(value, x, y, y_pred, weight);
  }

  void prepare() {
    if (options.run_eagerly) return;
    train = Step([this](const std::vector<Tensor>& x, const Tensor& y, const std::vector<Tensor>& w) { return train_step(x, y, w); },
                 {.name = "train_step"});
    test = Step(
        [this](const std::vector<Tensor>& x, const Tensor& y, const std::vector<Tensor>& w) {
          Tensor y_pred;
          const Tensor value = compute(x, y, w, false, y_pred);
          return count(value, x, y, y_pred, w);
        },
        {.name = "test_step"});
    predict =
        TracedFunction<Tensor(std::vector<Tensor>)>([this](const std::vector<Tensor>& x) { return forward(x, false); }, {.name = "predict_step"});
  }
};

Trainer::Trainer(const Module& module, Forward forward, std::function<std::vector<Tensor>()> extra_losses, const TrainerOptions& options,
                 std::function<Tensor(const std::vector<Tensor>&)> output_mask)
    : impl_(std::make_shared<Impl>()) {
  impl_->module = &module;
  impl_->forward = std::move(forward);
  impl_->extra_losses = std::move(extra_losses);
  impl_->output_mask = std::move(output_mask);
  impl_->options = options;
  if (!impl_->options.optimizer) impl_->options.optimizer = RMSprop();
  impl_->prepare();
}

const Module& Trainer::model() const { return *impl_->module; }
Optimizer& Trainer::optimizer() const { return *impl_->options.optimizer; }
const History& Trainer::history() const { return impl_->history; }
void Trainer::stop_training() { impl_->stop = true; }
int Trainer::epochs() const { return impl_->epochs; }

std::vector<std::string> Trainer::log_names() const {
  std::vector<std::string> names{"loss"};
  for (const auto* list : {&impl_->options.metrics, &impl_->options.weighted_metrics}) {
    for (const AnyMetric& m : *list) names.push_back(m->name());
  }
  return names;
}

void Trainer::reset_metrics() {
  impl_->loss.reset_state();
  for (const auto* list : {&impl_->options.metrics, &impl_->options.weighted_metrics}) {
    for (const AnyMetric& m : *list) m->reset_state();
  }
}

std::vector<Tensor> Trainer::train_on_batch(const std::vector<Tensor>& x, const Tensor& y, const Tensor& sample_weight) {
  const std::vector<Tensor> w = sample_weight.has_value() ? std::vector<Tensor>{sample_weight} : std::vector<Tensor>{};
  return impl_->options.run_eagerly ? impl_->train_step(x, y, w) : impl_->train(x, y, w);
}
std::vector<Tensor> Trainer::test_on_batch(const std::vector<Tensor>& x, const Tensor& y, const Tensor& sample_weight) {
  const std::vector<Tensor> w = sample_weight.has_value() ? std::vector<Tensor>{sample_weight} : std::vector<Tensor>{};
  if (!impl_->options.run_eagerly) return impl_->test(x, y, w);
  Tensor y_pred;
  const Tensor value = impl_->compute(x, y, w, false, y_pred);
  return impl_->count(value, x, y, y_pred, w);
}

namespace {

int64_t rows_of(const Tensor& t) {
  const auto shape = t.shape();
  if (shape.empty()) throw Error(Code::kInvalidArgument, "samples must have a first dimension that counts them");
  return shape[0];
}

Tensor rows(const Tensor& t, int64_t begin, int64_t end) {
  const int rank = rank_of(t);
  std::vector<int64_t> from(size_t(rank), 0), size(size_t(rank), -1);
  from[0] = begin;
  size[0] = end - begin;
  auto list = [](const std::vector<int64_t>& v) { return Tensor::of<int64_t>({int64_t(v.size())}, std::span<const int64_t>(v)); };
  return raw::Slice(t, list(from), list(size));
}

Samples part(const Samples& s, int64_t begin, int64_t end) {
  Samples out;
  for (const Tensor& x : s.x) out.x.push_back(rows(x, begin, end));
  out.y = rows(s.y, begin, end);
  if (s.sample_weight.has_value()) out.sample_weight = rows(s.sample_weight, begin, end);
  return out;
}

void check_samples(const Samples& s) {
  if (s.batches) return;
  if (s.x.empty() || !s.y.has_value()) throw Error(Code::kInvalidArgument, "samples need inputs and labels");
  const int64_t n = rows_of(s.x[0]);
  auto check = [&](const Tensor& t, const char* what) {
    if (rows_of(t) != n)
      throw Error(Code::kInvalidArgument, "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples: " +
                                              std::to_string(n) + " inputs, " + std::to_string(rows_of(t)) + " " + what);
  };
  for (const Tensor& x : s.x) check(x, "inputs");
  check(s.y, "labels");
  if (s.sample_weight.has_value()) check(s.sample_weight, "weights");
  if (n == 0) throw Error(Code::kInvalidArgument, "there are no samples");
}

// Batches of the samples: an element is the inputs, the labels, and the weights if there are any.
data::Dataset batches_of(const Samples& s, int64_t batch_size, bool shuffle, std::optional<uint64_t> seed) {
  if (s.batches) return *s.batches;
  if (batch_size <= 0) throw Error(Code::kInvalidArgument, "batch_size must be positive, not " + std::to_string(batch_size));
  std::vector<Tensor> all = s.x;
  all.push_back(s.y);
  if (s.sample_weight.has_value()) all.push_back(s.sample_weight);
  data::Dataset d = data::Dataset::from_tensor_slices(std::move(all));
  if (shuffle) d = d.shuffle(0, seed);
  return d.batch(batch_size);  // a few microseconds, less than it takes to wake a thread that would do it ahead
}

struct Batch {
  std::vector<Tensor> x;
  Tensor y, weight;
};
// `inputs`: how many of the tensors are inputs; 0: a dataset's, whose elements are one input, labels, and perhaps weights.
Batch take_apart(data::Element& e, size_t inputs) {
  if (inputs == 0) inputs = 1;
  if (e.size() < inputs + 1 || e.size() > inputs + 2)
    throw Error(Code::kInvalidArgument,
                "an element of a dataset to train on has inputs, labels, and perhaps weights; this one has " + std::to_string(e.size()) + " tensors");
  Batch b;
  b.x.assign(std::make_move_iterator(e.begin()), std::make_move_iterator(e.begin() + int64_t(inputs)));
  b.y = std::move(e[inputs]);
  if (e.size() > inputs + 1) b.weight = std::move(e[inputs + 1]);
  return b;
}

Logs read(const std::vector<std::string>& names, const std::vector<Tensor>& values) {
  Logs logs;
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
    const Tensor& t = values[i];
    if (t.dtype() == DType::float32 && t.size() == 1) logs.emplace_back(names[i], double(t.data<float>()[0]));
    else logs.emplace_back(names[i], reduce_mean(cast(t, DType::float64)).item<double>());  // scores of several classes
  }
  return logs;
}

// By label: weight of the class; 1 for classes that are not named.
Tensor weights_of_classes(const std::map<int64_t, double>& weights, const Tensor& labels) {
  int64_t most = 0;
  for (const auto& [c, w] : weights) {
    if (c < 0 || c > 1'000'000) throw Error(Code::kInvalidArgument, "class_weight names a class that cannot be: " + std::to_string(c));
    most = std::max(most, c);
  }
  std::vector<float> table(size_t(most) + 2, 1.f);
  for (const auto& [c, w] : weights) table[size_t(c)] = float(w);
  Tensor y = as_type(labels, DType::int64);
  if (rank_of(y) > 1 && dim_of(y, -1) == 1) y = squeeze(y, -1);
  else if (rank_of(y) > 1) y = argmax(labels, -1);  // one-hot
  return gather(Tensor::of<float>({int64_t(table.size())}, std::span<const float>(table)), minimum(y, Tensor(int64_t(most + 1))));
}

int64_t steps_in(const data::Dataset& d, int64_t asked) {
  const int64_t n = d.cardinality();
  if (asked > 0) return asked;
  if (n == data::Dataset::kInfinite) throw Error(Code::kInvalidArgument, "the dataset never ends: say how many steps make an epoch");
  return n;
}

}  // namespace

Logs Trainer::evaluate(const Samples& samples, const EvaluateOptions& o) {
  check_samples(samples);
  const data::Dataset batches = batches_of(samples, o.batch_size, false, {});
  const auto names = log_names();
  reset_metrics();
  std::optional<Progress> bar;
  if (o.verbose > 0) bar.emplace(std::max<int64_t>(steps_in(batches, o.steps), -1), ProgressOptions{.label = "evaluate"});
  std::vector<Tensor> last;
  int64_t done = 0;
  for (data::Element& e : batches) {
    const Batch b = take_apart(e, samples.x.size());
    last = test_on_batch(b.x, b.y, b.weight);
    if (bar) bar->step();
    if (++done == o.steps) break;
  }
  if (done == 0) throw Error(Code::kInvalidArgument, "there is nothing to evaluate: the dataset is empty");
  Logs logs = read(names, last);
  if (bar) bar->finish(logs);
  return logs;
}

Tensor Trainer::predict(const std::vector<Tensor>& x, const PredictOptions& o) {
  if (x.empty()) throw Error(Code::kInvalidArgument, "there is nothing to predict from");
  if (o.batch_size <= 0) throw Error(Code::kInvalidArgument, "batch_size must be positive, not " + std::to_string(o.batch_size));
  const int64_t n = rows_of(x[0]);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n || at == 0; at += o.batch_size) {
    std::vector<Tensor> now;
    for (const Tensor& t : x) now.push_back(n <= o.batch_size ? t : rows(t, at, std::min(n, at + o.batch_size)));
    parts.push_back(impl_->options.run_eagerly ? impl_->forward(now, false) : impl_->predict(now));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

History Trainer::fit(const Samples& given, const FitOptions& o) {
  Impl& s = *impl_;
  check_samples(given);
  Samples samples = given;
  std::optional<Samples> validation = o.validation_data;
  if (!validation && o.validation_split > 0) {
    if (samples.batches || o.validation_split >= 1)
      throw Error(Code::kInvalidArgument, "validation_split is a part, below 1, of samples that are given as tensors");
    const int64_t n = rows_of(samples.x[0]), cut = int64_t(std::floor(double(n) * (1 - o.validation_split)));
    if (cut == 0 || cut == n)
      throw Error(Code::kInvalidArgument,
                  "Training data contains " + std::to_string(n) + " samples, which is not sufficient to split it into a validation and training set");
    validation = part(samples, cut, n);
    samples = part(samples, 0, cut);
  }
  if (!o.class_weight.empty() && !samples.batches) {
    const Tensor w = weights_of_classes(o.class_weight, samples.y);
    samples.sample_weight = samples.sample_weight.has_value() ? samples.sample_weight * w : w;
  }
  if (validation) check_samples(*validation);
  const data::Dataset batches = batches_of(samples, o.batch_size, o.shuffle, o.seed);
  const int64_t steps = steps_in(batches, o.steps_per_epoch);
  const auto names = log_names();
  const bool watch = std::any_of(o.callbacks.begin(), o.callbacks.end(), [](const AnyCallback& c) { return c->wants_batches(); });
  s.history = {};
  s.stop = false;
  s.epochs = o.epochs;
  for (const AnyCallback& c : o.callbacks) c->on_train_begin(*this);
  Logs logs;
  std::optional<data::Iterator> iterator;
  for (int epoch = o.initial_epoch; epoch < o.epochs && !s.stop; ++epoch) {
    reset_metrics();
    for (const AnyCallback& c : o.callbacks) c->on_epoch_begin(*this, epoch);
    std::optional<Progress> bar;
    if (o.verbose > 0)
      bar.emplace(std::max<int64_t>(steps, -1), ProgressOptions{.label = "Epoch " + std::to_string(epoch + 1) + "/" + std::to_string(o.epochs)});
    std::vector<Tensor> last;
    // An epoch of a number of steps continues in the dataset where the last one stopped.
    if (!iterator || o.steps_per_epoch == 0) iterator = batches.begin();
    int64_t done = 0;
    for (bool again = false; steps < 0 || done < steps;) {
      if (*iterator == batches.end()) {
        if (o.steps_per_epoch == 0 || again) break;
        iterator = batches.begin();
        again = true;
        continue;
      }
      again = false;
      Batch b = take_apart(**iterator, samples.x.size());
      if (!o.class_weight.empty() && samples.batches) {
        const Tensor w = weights_of_classes(o.class_weight, b.y);
        b.weight = b.weight.has_value() ? b.weight * w : w;
      }
      last = train_on_batch(b.x, b.y, b.weight);
      ++done;
      if (watch || bar) {
        const Logs now = read(names, last);
        if (bar) bar->step(now);
        for (const AnyCallback& c : o.callbacks) {
          if (c->wants_batches()) c->on_train_batch_end(*this, done - 1, now);
        }
      }
      ++*iterator;
      if (s.stop && watch) break;
    }
    if (done == 0) throw Error(Code::kInvalidArgument, "there is nothing to train on: the dataset is empty");
    logs = read(names, last);
    if (validation && (epoch + 1) % std::max(o.validation_freq, 1) == 0) {
      for (const auto& [name, value] : evaluate(*validation, {.batch_size = o.batch_size, .steps = o.validation_steps}))
        logs.set("val_" + name, value);
    }
    for (const AnyCallback& c : o.callbacks) c->on_epoch_end(*this, epoch, logs);
    if (bar) bar->finish(logs);
    s.history.epoch.push_back(epoch);
    for (const auto& [name, value] : logs) {
      if (!s.history.has(name)) s.history.series.emplace_back(name, std::vector<double>());
      for (auto& [n, values] : s.history.series) {
        if (n == name) values.push_back(value);
      }
    }
  }
  optimizer().finalize_variable_values();
  for (const AnyCallback& c : o.callbacks) c->on_train_end(*this, logs);
  return s.history;
}

}  // namespace weft::nn

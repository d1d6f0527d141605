#include "wire/file.h"

#include "api/unwrap.h"
#include "weft/callbacks.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <sstream>

#include "weft/checkpoint.h"
#include "weft/math.h"
#include "weft/plot.h"
#include "weft/summary.h"

namespace weft::nn {
namespace {

bool wants_max(Mode mode, const std::string& monitor) {
  if (mode != Mode::automatic) return mode == Mode::max;
  for (const char* word : {"acc", "auc", "precision", "recall", "fmeasure", "f1", "iou", "io_u", "r2", "score"}) {
    if (monitor.find(word) != std::string::npos) return true;
  }
  return false;
}
double worst(bool max) { return (max ? -1 : 1) * std::numeric_limits<double>::infinity(); }
bool better(double value, double best, double min_delta, bool max) {
  return max ? value - std::abs(min_delta) > best : value + std::abs(min_delta) < best;
}

// Null, and a word to the user, where the number is not there: an epoch without validation, or a misspelt name.
const double* watched(const Logs& logs, const std::string& monitor, const char* who) {
  const double* v = logs.find(monitor);
  if (!v) {
    std::cerr << who << ": there is no '" << monitor << "' among";
    for (const auto& [name, value] : logs) std::cerr << ' ' << name;
    std::cerr << '\n';
  }
  return v;
}

double rate_of(Trainer& t) { return cast(t.optimizer().learning_rate(), DType::float64).item<double>(); }

std::string digits(double v) {
  char text[40];
  snprintf(text, sizeof text, "%.9g", v);
  return text;
}

}  // namespace

// -- EarlyStopping

void EarlyStopping::on_train_begin(Trainer&) {
  wait_ = stopped_epoch_ = best_epoch_ = 0;
  best_ = worst(wants_max(options_.mode, options_.monitor));
  best_weights_.clear();
}

void EarlyStopping::on_epoch_end(Trainer& trainer, int epoch, Logs& logs) {
  const double* now = watched(logs, options_.monitor, "EarlyStopping");
  if (!now || epoch < options_.start_from_epoch) return;
  const bool max = wants_max(options_.mode, options_.monitor);
  auto keep = [&] {
    best_weights_.clear();
    for (const Variable& v : trainer.model().variables()) best_weights_.push_back(v.value());
  };
  if (options_.restore_best_weights && best_weights_.empty()) {
    keep();  // were it to get worse from here on
    best_epoch_ = epoch;
  }
  ++wait_;
  if (better(*now, best_, options_.min_delta, max)) {
    best_ = *now;
    best_epoch_ = epoch;
    if (options_.restore_best_weights) keep();
    // Only what beats the baseline starts the count again.
    if (!options_.baseline || better(*now, *options_.baseline, options_.min_delta, max)) wait_ = 0;
    return;
  }
  if (wait_ >= options_.patience && epoch > 0) {
    stopped_epoch_ = epoch;
    trainer.stop_training();
  }
}

void EarlyStopping::on_train_end(Trainer& trainer, const Logs&) {
  if (options_.verbose && stopped_epoch_ > 0) std::cout << "Epoch " << stopped_epoch_ + 1 << ": early stopping\n";
  if (!options_.restore_best_weights || best_weights_.empty()) return;
  if (options_.verbose) std::cout << "Restoring model weights from the end of the best epoch: " << best_epoch_ + 1 << ".\n";
  const auto variables = trainer.model().variables();
  for (size_t i = 0; i < variables.size() && i < best_weights_.size(); ++i) variables[i].assign(best_weights_[i]);
}

// -- ReduceLROnPlateau

ReduceLROnPlateau::ReduceLROnPlateau(const ReduceLROnPlateauOptions& options) : options_(options) {
  if (options.factor >= 1) throw Error(Code::kInvalidArgument, "ReduceLROnPlateau does not support a factor >= 1.0. Got " + digits(options.factor));
}

void ReduceLROnPlateau::on_train_begin(Trainer&) {
  best_ = worst(wants_max(options_.mode, options_.monitor));
  wait_ = cooldown_ = 0;
}

void ReduceLROnPlateau::on_epoch_end(Trainer& trainer, int epoch, Logs& logs) {
  const double rate = rate_of(trainer);
  logs.set("learning_rate", rate);
  const double* now = watched(logs, options_.monitor, "ReduceLROnPlateau");
  if (!now) return;
  if (cooldown_ > 0) {
    --cooldown_;
    wait_ = 0;
  }
  const bool max = wants_max(options_.mode, options_.monitor);
  if (max ? *now > best_ + options_.min_delta : *now < best_ - options_.min_delta) {
    best_ = *now;
    wait_ = 0;
  } else if (cooldown_ == 0) {
    if (++wait_ < options_.patience || rate <= double(float(options_.min_lr))) return;
    const double lower = std::max(rate * options_.factor, options_.min_lr);
    trainer.optimizer().set_learning_rate(lower);
    if (options_.verbose) std::cout << "Epoch " << epoch + 1 << ": ReduceLROnPlateau reducing learning rate to " << lower << ".\n";
    cooldown_ = options_.cooldown;
    wait_ = 0;
  }
}

// -- LearningRateScheduler

void LearningRateScheduler::on_epoch_begin(Trainer& trainer, int epoch) { trainer.optimizer().set_learning_rate(schedule_(epoch, rate_of(trainer))); }
void LearningRateScheduler::on_epoch_end(Trainer& trainer, int, Logs& logs) { logs.set("learning_rate", rate_of(trainer)); }

// -- ModelCheckpoint

void ModelCheckpoint::on_train_begin(Trainer&) {
  if (began_) return;  // a second fit() continues
  began_ = true;
  best_ = options_.initial_value_threshold.value_or(worst(wants_max(options_.mode, options_.monitor)));
}

void ModelCheckpoint::on_epoch_end(Trainer& trainer, int epoch, Logs& logs) {
  if ((epoch + 1) % std::max(options_.save_freq, 1) != 0) return;
  if (options_.save_best_only) {
    const double* now = watched(logs, options_.monitor, "ModelCheckpoint");
    if (!now || !better(*now, best_, 0, wants_max(options_.mode, options_.monitor))) return;
    best_ = *now;
  }
  std::string path = path_;
  auto put = [&](const std::string& name, const std::string& value) {
    for (size_t at; (at = path.find("{" + name + "}")) != std::string::npos;) path.replace(at, name.size() + 2, value);
  };
  put("epoch", std::to_string(epoch + 1));
  for (const auto& [name, value] : logs) put(name, digits(value));
  if (options_.verbose) std::cout << "Epoch " << epoch + 1 << ": saving model to " << path << '\n';
  if (options_.save) options_.save(trainer, path);
  else Checkpoint({{"model", trainer.model()}, {"optimizer", static_cast<const Module&>(trainer.optimizer())}}).write(path);
}

// -- CSVLogger

void CSVLogger::on_train_begin(Trainer&) {
  names_.clear();
  if (append_) return;
  api::check(wire::write_file(path_, ""));
}

void CSVLogger::on_epoch_end(Trainer&, int epoch, Logs& logs) {
  auto file = api::unwrap(wire::open_to_append(path_));
  std::ostringstream out;
  if (names_.empty()) {
    for (const auto& [name, value] : logs) names_.push_back(name);
    std::string before;
    if (!wire::read_file(path_, before).ok() || before.empty()) {
      out << "epoch";
      for (const auto& n : names_) out << separator_ << n;
      out << '\n';
    }
  }
  out << epoch;
  for (const auto& n : names_) {
    const double* v = logs.find(n);
    out << separator_ << (v ? digits(*v) : "NA");
  }
  out << '\n';
  api::check(file->append(out.str()));
  api::check(file->close());
}

// -- TerminateOnNaN

void TerminateOnNaN::on_train_batch_end(Trainer& trainer, int64_t batch, const Logs& logs) {
  const double* loss = logs.find("loss");
  if (!loss || std::isfinite(*loss)) return;
  std::cout << "Batch " << batch << ": Invalid loss, terminating training\n";
  trainer.stop_training();
}

// -- TensorBoard

struct TensorBoard::Impl {
  std::string logdir;
  TensorBoardOptions options;
  std::optional<SummaryWriter> train, validation;
  int64_t batches = 0;
  SummaryWriter& writer(bool val) {
    auto& w = val ? validation : train;
    if (!w) w.emplace(logdir + (val ? "/validation" : "/train"));
    return *w;
  }
};

TensorBoard::TensorBoard(std::string logdir, const TensorBoardOptions& options) : impl_(std::make_shared<Impl>()) {
  impl_->logdir = std::move(logdir);
  impl_->options = options;
}
bool TensorBoard::wants_batches() const { return impl_->options.batches; }
void TensorBoard::on_train_batch_end(Trainer&, int64_t, const Logs& logs) {
  for (const auto& [name, value] : logs) impl_->writer(false).scalar("batch_" + name, value, impl_->batches);
  ++impl_->batches;
}
void TensorBoard::on_epoch_end(Trainer& trainer, int epoch, Logs& logs) {
  for (const auto& [name, value] : logs) {
    const bool val = name.starts_with("val_");
    impl_->writer(val).scalar("epoch_" + (val ? name.substr(4) : name), value, epoch);
  }
  if (!logs.find("learning_rate")) impl_->writer(false).scalar("epoch_learning_rate", rate_of(trainer), epoch);
  if (impl_->options.histogram_freq > 0 && epoch % impl_->options.histogram_freq == 0) {
    for (const Variable& v : trainer.model().trainable_variables()) impl_->writer(false).histogram(v.name() + "/histogram", v.value(), epoch);
  }
  for (auto* w : {&impl_->train, &impl_->validation}) {
    if (*w) (*w)->flush();
  }
}
void TensorBoard::on_train_end(Trainer&, const Logs&) {
  for (auto* w : {&impl_->train, &impl_->validation}) {
    if (*w) (*w)->close();
    w->reset();
  }
}

// -- LearningCurves

void LearningCurves::on_epoch_end(Trainer& trainer, int, Logs& logs) {
  std::vector<plot::Series> series;
  for (const auto& [name, value] : logs) {
    plot::Series s{name, {}, {}, {}};
    if (trainer.history().has(name)) s.y = trainer.history()[name];
    s.y.push_back(value);
    series.push_back(std::move(s));
  }
  plot::write_curves(path_, series, {.title = title_});
}

// -- LambdaCallback

void LambdaCallback::on_train_begin(Trainer& t) {
  if (train_begin) train_begin(t);
}
void LambdaCallback::on_train_end(Trainer& t, const Logs& logs) {
  if (train_end) train_end(t, logs);
}
void LambdaCallback::on_epoch_begin(Trainer& t, int epoch) {
  if (epoch_begin) epoch_begin(t, epoch);
}
void LambdaCallback::on_epoch_end(Trainer& t, int epoch, Logs& logs) {
  if (epoch_end) epoch_end(t, epoch, logs);
}
void LambdaCallback::on_train_batch_end(Trainer& t, int64_t batch, const Logs& logs) {
  if (batch_end) batch_end(t, batch, logs);
}

}  // namespace weft::nn

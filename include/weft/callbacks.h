// What can be done on the way of Trainer::fit(): Keras' callbacks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/fit.h"

namespace weft::nn {

enum class Mode { automatic, min, max };  // automatic: max for names with "acc", "auc" and the like, else min

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int patience = 0;  // epochs without improvement
  Mode mode = Mode::automatic;
  std::optional<double> baseline = {};
  bool restore_best_weights = false;
  int start_from_epoch = 0;
  bool verbose = false;
};
class WEFT_API EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {}) : options_(options) {}
  void on_train_begin(Trainer&) override;
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;
  void on_train_end(Trainer& trainer, const Logs&) override;
  int stopped_epoch() const { return stopped_epoch_; }  // 0: it did not
  // The epoch with the best value so far.
  int best_epoch() const { return best_epoch_; }

 private:
  EarlyStoppingOptions options_;
  double best_ = 0;
  int wait_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
  std::vector<Tensor> best_weights_;
};

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int patience = 10;
  Mode mode = Mode::automatic;
  double min_delta = 1e-4;
  int cooldown = 0;
  double min_lr = 0;
  bool verbose = false;
};
class WEFT_API ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});
  void on_train_begin(Trainer&) override;
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;

 private:
  ReduceLROnPlateauOptions options_;
  double best_ = 0;
  int wait_ = 0, cooldown_ = 0;
};

class WEFT_API LearningRateScheduler : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(int epoch, double learning_rate)> schedule) : schedule_(std::move(schedule)) {}
  void on_epoch_begin(Trainer& trainer, int epoch) override;
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;

 private:
  std::function<double(int, double)> schedule_;
};

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  bool save_best_only = false;
  Mode mode = Mode::automatic;
  int save_freq = 1;  // epochs
  std::optional<double> initial_value_threshold = {};
  bool verbose = false;
  // Saves; by default a weft::Checkpoint of {"model", "optimizer"} is written.
  std::function<void(Trainer& trainer, const std::string& path)> save = {};
};
class WEFT_API ModelCheckpoint : public Callback {
 public:
  // "{epoch}" in the path is the number of the epoch, from 1, and "{val_loss}" the number of that name.
  explicit ModelCheckpoint(std::string path, const ModelCheckpointOptions& options = {}) : path_(std::move(path)), options_(options) {}
  void on_train_begin(Trainer&) override;
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;

 private:
  std::string path_;
  ModelCheckpointOptions options_;
  double best_ = 0;
  bool began_ = false;
};

// A line for each epoch in a table that spreadsheets read.
class WEFT_API CSVLogger : public Callback {
 public:
  explicit CSVLogger(std::string path, char separator = ',', bool append = false) : path_(std::move(path)), separator_(separator), append_(append) {}
  void on_train_begin(Trainer&) override;
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;

 private:
  std::string path_;
  char separator_;
  bool append_;
  std::vector<std::string> names_;
};

class WEFT_API TerminateOnNaN : public Callback {
 public:
  bool wants_batches() const override { return true; }
  void on_train_batch_end(Trainer& trainer, int64_t batch, const Logs& logs) override;
};

// Event files: LOGDIR/train and LOGDIR/validation, with Keras' tags ("epoch_loss").
struct TensorBoardOptions {
  int histogram_freq = 0;  // epochs between histograms of the weights; 0: none
  bool batches = false;    // "batch_loss" for each batch
};
class WEFT_API TensorBoard : public Callback {
 public:
  explicit TensorBoard(std::string logdir, const TensorBoardOptions& options = {});
  bool wants_batches() const override;
  void on_train_batch_end(Trainer& trainer, int64_t batch, const Logs& logs) override;
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;
  void on_train_end(Trainer& trainer, const Logs&) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Learning curves, drawn anew behind each epoch (weft/plot.h).
class WEFT_API LearningCurves : public Callback {
 public:
  explicit LearningCurves(std::string path, std::string title = {}) : path_(std::move(path)), title_(std::move(title)) {}
  void on_epoch_end(Trainer& trainer, int epoch, Logs& logs) override;

 private:
  std::string path_, title_;
};

class WEFT_API LambdaCallback : public Callback {
 public:
  std::function<void(Trainer&, int epoch)> epoch_begin;
  std::function<void(Trainer&, int epoch, Logs&)> epoch_end;
  std::function<void(Trainer&, int64_t batch, const Logs&)> batch_end;
  std::function<void(Trainer&)> train_begin;
  std::function<void(Trainer&, const Logs&)> train_end;
  bool wants_batches() const override { return bool(batch_end); }
  void on_train_begin(Trainer& t) override;
  void on_train_end(Trainer& t, const Logs& logs) override;
  void on_epoch_begin(Trainer& t, int epoch) override;
  void on_epoch_end(Trainer& t, int epoch, Logs& logs) override;
  void on_train_batch_end(Trainer& t, int64_t batch, const Logs& logs) override;
};

}  // namespace weft::nn

// Metrics with Keras' formulas: numbers that are gathered over many batches, in variables.
//
//   weft::nn::metrics::SparseCategoricalAccuracy accuracy;
//   accuracy.update_state(labels, predictions);
//   float so_far = accuracy.result().item<float>();
//   accuracy.reset_state();
//
// The same code runs eagerly and inside weft::function. Copies of a metric mean the same one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/module.h"

namespace weft::nn::metrics {

class WEFT_API Metric : public Module {
 public:
  // Metrics of values alone (Mean, Sum) have their own update_state(), and throw from this one.
  virtual void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  virtual Tensor result() const = 0;
  void reset_state();  // all variables are zero again
  // Adds, and gives the result so far.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) {
    update_state(y_true, y_pred, sample_weight);
    return result();
  }
  std::vector<Variable> variables() const override;  // in the order in which they were made

 protected:
  explicit Metric(const std::string& name);
  // Zeros, kept under that name.
  Variable add_variable(const std::string& attribute, const std::vector<int64_t>& shape, DType dtype = DType::float32, const std::string& name = {});

 private:
  std::shared_ptr<std::vector<Variable>> made_ = std::make_shared<std::vector<Variable>>();
};

class WEFT_API Sum : public Metric {
 public:
  explicit Sum(const std::string& name = "sum");
  void update_state(const Tensor& values, const Tensor& sample_weight = {});
  Tensor result() const override;

 private:
  Variable total_;
};

class WEFT_API Mean : public Metric {
 public:
  explicit Mean(const std::string& name = "mean");
  void update_state(const Tensor& values, const Tensor& sample_weight = {});
  Tensor result() const override;

 protected:
  void add(const Tensor& values, const Tensor& sample_weight);

 private:
  Variable total_, count_;
};

// The mean of what a function gives for each sample.
class WEFT_API MeanMetricWrapper : public Mean {
 public:
  using Function = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  MeanMetricWrapper(Function f, const std::string& name);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;

 private:
  Function function_;
};

// How many predictions are right, for each sample.
WEFT_API Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold = 0.5);
WEFT_API Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
WEFT_API Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, int k = 5);
WEFT_API Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, int k = 5);

#define WEFT_MEAN_METRIC(Class, ...)                \
  class WEFT_API Class : public MeanMetricWrapper { \
   public:                                          \
    explicit Class(__VA_ARGS__);                    \
  };
WEFT_MEAN_METRIC(Accuracy, const std::string& name = "accuracy")
WEFT_MEAN_METRIC(BinaryAccuracy, const std::string& name = "binary_accuracy", double threshold = 0.5)
WEFT_MEAN_METRIC(CategoricalAccuracy, const std::string& name = "categorical_accuracy")
WEFT_MEAN_METRIC(SparseCategoricalAccuracy, const std::string& name = "sparse_categorical_accuracy")
WEFT_MEAN_METRIC(TopKCategoricalAccuracy, int k = 5, const std::string& name = "top_k_categorical_accuracy")
WEFT_MEAN_METRIC(SparseTopKCategoricalAccuracy, int k = 5, const std::string& name = "sparse_top_k_categorical_accuracy")
WEFT_MEAN_METRIC(MeanSquaredError, const std::string& name = "mean_squared_error")
WEFT_MEAN_METRIC(MeanAbsoluteError, const std::string& name = "mean_absolute_error")
WEFT_MEAN_METRIC(MeanAbsolutePercentageError, const std::string& name = "mean_absolute_percentage_error")
WEFT_MEAN_METRIC(MeanSquaredLogarithmicError, const std::string& name = "mean_squared_logarithmic_error")
WEFT_MEAN_METRIC(CosineSimilarity, const std::string& name = "cosine_similarity", int axis = -1)  // 1: alike, unlike the loss
WEFT_MEAN_METRIC(LogCoshError, const std::string& name = "logcosh")
WEFT_MEAN_METRIC(Hinge, const std::string& name = "hinge")
WEFT_MEAN_METRIC(SquaredHinge, const std::string& name = "squared_hinge")
WEFT_MEAN_METRIC(CategoricalHinge, const std::string& name = "categorical_hinge")
WEFT_MEAN_METRIC(KLDivergence, const std::string& name = "kl_divergence")
WEFT_MEAN_METRIC(Poisson, const std::string& name = "poisson")
WEFT_MEAN_METRIC(BinaryCrossentropy, const std::string& name = "binary_crossentropy", bool from_logits = false, double label_smoothing = 0)
WEFT_MEAN_METRIC(CategoricalCrossentropy, const std::string& name = "categorical_crossentropy", bool from_logits = false, double label_smoothing = 0)
WEFT_MEAN_METRIC(SparseCategoricalCrossentropy, const std::string& name = "sparse_categorical_crossentropy", bool from_logits = false)
#undef WEFT_MEAN_METRIC

class WEFT_API RootMeanSquaredError : public Mean {
 public:
  explicit RootMeanSquaredError(const std::string& name = "root_mean_squared_error");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;
};

// Counts of right and wrong answers at thresholds in [0, 1].
struct ThresholdOptions {
  std::vector<double> thresholds = {};  // empty: 0.5
  std::optional<int> top_k = {};        // Precision and Recall: only the k best predictions of a row are positive
  std::optional<int> class_id = {};     // Precision and Recall: only this column counts
  std::string name = {};
};
// What the metrics below share: which counts they keep, and how these grow.
class WEFT_API ConfusionMetric : public Metric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;

 protected:
  enum Count { kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives };
  ConfusionMetric(const std::string& name, std::vector<double> thresholds, bool even, std::optional<int> top_k = {},
                  std::optional<int> class_id = {});
  void keep(Count which, const std::string& attribute, const std::vector<int64_t>& shape);
  Variable count(Count which) const { return (*counts_)[size_t(which)]; }
  size_t num_thresholds() const { return thresholds_.size(); }
  // The only threshold's number, or those of all.
  Tensor one_or_all(const Tensor& t) const;

  bool from_logits_ = false, multi_label_ = false;
  std::vector<double> label_weights_;

 private:
  std::vector<double> thresholds_;
  bool even_;  // spread evenly over [0, 1]: counted in buckets
  std::optional<int> top_k_, class_id_;
  std::shared_ptr<std::vector<Variable>> counts_ = std::make_shared<std::vector<Variable>>(4);
};

#define WEFT_COUNT_METRIC(Class)                          \
  class WEFT_API Class : public ConfusionMetric {         \
   public:                                                \
    explicit Class(const ThresholdOptions& options = {}); \
    Tensor result() const override;                       \
  };
WEFT_COUNT_METRIC(TruePositives)
WEFT_COUNT_METRIC(FalsePositives)
WEFT_COUNT_METRIC(TrueNegatives)
WEFT_COUNT_METRIC(FalseNegatives)
WEFT_COUNT_METRIC(Precision)
WEFT_COUNT_METRIC(Recall)
#undef WEFT_COUNT_METRIC

struct AtOptions {
  int num_thresholds = 200;
  std::optional<int> class_id = {};
  std::string name = {};
};
// The best of one where the other is at least `value`.
#define WEFT_AT_METRIC(Class)                                    \
  class WEFT_API Class : public ConfusionMetric {                \
   public:                                                       \
    explicit Class(double value, const AtOptions& options = {}); \
    Tensor result() const override;                              \
                                                                 \
   private:                                                      \
    double value_;                                               \
  };
WEFT_AT_METRIC(SensitivityAtSpecificity)
WEFT_AT_METRIC(SpecificityAtSensitivity)
WEFT_AT_METRIC(PrecisionAtRecall)
WEFT_AT_METRIC(RecallAtPrecision)
#undef WEFT_AT_METRIC

enum class Curve { roc, pr, pr_gain };
enum class Summation { interpolation, majoring, minoring };
struct AUCOptions {
  int num_thresholds = 200;
  Curve curve = Curve::roc;
  Summation summation_method = Summation::interpolation;
  std::vector<double> thresholds = {};  // instead of their number
  bool multi_label = false;             // one curve for each column; the mean of the areas
  std::vector<double> label_weights = {};
  bool from_logits = false;
  std::string name = {};
};
class WEFT_API AUC : public ConfusionMetric {
 public:
  explicit AUC(const AUCOptions& options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  Tensor mean_of_labels(const Tensor& areas) const;
  AUCOptions options_;
};

// Overlap of classes, from their confusion matrix.
struct IoUOptions {
  int num_classes = 2;
  std::vector<int> target_class_ids = {};  // empty: all
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;  // class numbers; else one number for each class, of which the greatest counts
  int axis = -1;
  std::string name = {};
};
class WEFT_API IoU : public Metric {
 public:
  explicit IoU(const IoUOptions& options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  IoUOptions options_;
  Variable total_;
};
class WEFT_API MeanIoU : public IoU {
 public:
  explicit MeanIoU(int num_classes, const std::string& name = "mean_io_u");
  explicit MeanIoU(IoUOptions options);
};
class WEFT_API BinaryIoU : public IoU {
 public:
  explicit BinaryIoU(std::vector<int> target_class_ids = {0, 1}, double threshold = 0.5, const std::string& name = "binary_io_u");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;

 private:
  double threshold_;
};

enum class Average { none, micro, macro, weighted };
struct FBetaOptions {
  Average average = Average::none;
  double beta = 1;
  std::optional<double> threshold = {};  // unset: the greatest number of a row is positive
  std::string name = {};
};
class WEFT_API FBetaScore : public Metric {
 public:
  explicit FBetaScore(const FBetaOptions& options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  FBetaOptions options_;
  std::shared_ptr<std::vector<Variable>> counts_ = std::make_shared<std::vector<Variable>>();
};
class WEFT_API F1Score : public FBetaScore {
 public:
  explicit F1Score(FBetaOptions options = {});
};

enum class ClassAggregation { none, uniform_average, variance_weighted_average };
class WEFT_API R2Score : public Metric {
 public:
  explicit R2Score(ClassAggregation aggregation = ClassAggregation::uniform_average, const std::string& name = "r2_score");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  ClassAggregation aggregation_;
  Variable samples_;
  std::shared_ptr<std::vector<Variable>> sums_ = std::make_shared<std::vector<Variable>>();
};

}  // namespace weft::nn::metrics

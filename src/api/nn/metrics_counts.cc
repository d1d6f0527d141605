// Metrics that count: thresholds and their curves, confusion matrices, scores of classes and of regressions.
#include <algorithm>
#include <cmath>

#include "api/nn/loss_shapes.h"
#include "weft/metrics.h"
#include "weft/raw/array.h"
#include "weft/raw/linalg.h"
#include "weft/raw/math.h"

namespace weft::nn::metrics {
namespace {

constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()
constexpr double kMinusInfinity = -1e10;

bool evenly_spread(const std::vector<double>& t) {
  if (t.size() < 3) return false;
  for (size_t i = 0; i < t.size(); ++i) {
    const double even = double(float(i) / float(t.size() - 1));
    if (!(std::abs(t[i] - even) <= kEpsilon + 1e-5 * std::abs(even))) return false;
  }
  return true;
}

std::vector<double> or_half(const ThresholdOptions& o) {
  for (double t : o.thresholds) {
    if (!(t >= 0 && t <= 1)) throw Error(Code::kInvalidArgument, "Threshold values must be in [0, 1]. Received: [" + std::to_string(t) + "]");
  }
  if (!o.thresholds.empty()) return o.thresholds;
  return {o.top_k ? kMinusInfinity : 0.5};
}

std::vector<double> steps_between(int count, double low, double high) {
  if (count < 2)
    throw Error(Code::kInvalidArgument, "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=" + std::to_string(count));
  std::vector<double> out{low};
  for (int i = 0; i < count - 2; ++i) out.push_back((i + 1) * 1.0 / (count - 1));
  out.push_back(high);
  return out;
}

std::string named(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : name; }

Tensor floats(const std::vector<double>& v, std::vector<int64_t> shape) {
  const std::vector<float> f(v.begin(), v.end());
  return Tensor::of<float>(std::move(shape), std::span<const float>(f));
}

Tensor only_best(const Tensor& p, int k) {
  const Tensor best = raw::TopKV2(p, Tensor(int32_t(k))).indices;
  const Tensor mask =
      reduce_op(raw::Sum, raw::OneHot(best, gather(shape_of(p), Tensor(int32_t(rank_of(p) - 1))), number_like(p, 1), number_like(p, 0)), {-2});
  return p * mask + times(minus_from(1, mask), kMinusInfinity);
}

Tensor column(const Tensor& t, int id) { return raw::GatherV2(t, int_list({id}), Tensor(int32_t(rank_of(t) - 1))); }

Tensor ratio(const Tensor& part, const Tensor& rest) { return div_no_nan(part, part + rest); }

// Rows [0, n-1) and [1, n).
Tensor but_last(const Tensor& t, size_t n) { return gather(t, range(Tensor(int32_t(0)), Tensor(int32_t(n - 1)), Tensor(int32_t(1)))); }
Tensor but_first(const Tensor& t, size_t n) { return gather(t, range(Tensor(int32_t(1)), Tensor(int32_t(n)), Tensor(int32_t(1)))); }

}  // namespace

ConfusionMetric::ConfusionMetric(const std::string& name, std::vector<double> thresholds, bool even, std::optional<int> top_k,
                                 std::optional<int> class_id)
    : Metric(name), thresholds_(std::move(thresholds)), even_(even), top_k_(top_k), class_id_(class_id) {}

void ConfusionMetric::keep(Count which, const std::string& attribute, const std::vector<int64_t>& shape) {
  (*counts_)[size_t(which)] = add_variable(attribute, shape);
}

Tensor ConfusionMetric::one_or_all(const Tensor& t) const { return thresholds_.size() == 1 ? gather(t, Tensor(int32_t(0))) : t; }

void ConfusionMetric::update_state(const Tensor& given, const Tensor& given_pred, const Tensor& sample_weight) {
  Tensor y = as_type(given, DType::float32), p = as_type(given_pred, DType::float32), weights;
  if (from_logits_) p = sigmoid(p);
  same_rank(p, y);
  if (sample_weight.has_value()) {
    weights = expand_dims(as_type(sample_weight, DType::float32), -1);
    Tensor like = y;
    same_rank(like, weights, false);
  }
  if (top_k_) p = only_best(p, *top_k_);
  if (class_id_) {
    if (rank_of(p) == 1)
      throw Error(Code::kInvalidArgument, "When class_id is provided, y_pred must be a 2D array with shape (num_samples, num_classes)");
    y = column(y, *class_id_);
    p = column(p, *class_id_);
  }
  if (weights.has_value()) weights = raw::BroadcastTo(weights, shape_of(p));
  if (!label_weights_.empty() && !multi_label_) {
    const Tensor of_labels = raw::BroadcastTo(floats(label_weights_, {1, int64_t(label_weights_.size())}), shape_of(p));
    weights = weights.has_value() ? weights * of_labels : of_labels;
  }
  // Samples in rows, labels in columns; one column for all where labels are not told apart.
  const int64_t labels = multi_label_ ? dim_of(p, -1) : 1;
  y = reshape(y, {-1, labels});
  p = reshape(p, {-1, labels});
  if (weights.has_value()) weights = reshape(weights, {-1, labels});
  const Tensor is_true = y != number_like(y, 0);
  auto weighted = [&](const Tensor& yes) { return weights.has_value() ? where(yes, weights, number_like(weights, 0)) : cast(yes, DType::float32); };
  const Tensor trues = weighted(is_true), falses = weighted(logical_not(is_true));
  const int64_t n = int64_t(thresholds_.size());
  Tensor tp, fp;
  if (even_) {
    Tensor bucket = plus(raw::Ceil(times(clip(p, 0, 1), double(n - 1))), -1);
    if (thresholds_[0] < 0 || thresholds_.back() > 1) bucket = relu(bucket);
    bucket = cast(bucket, DType::int32);
    if (labels > 1) {
      const Tensor at = range(Tensor(int32_t(0)), Tensor(int32_t(labels)), Tensor(int32_t(1)));
      bucket = where(bucket < Tensor(int32_t(0)), bucket, bucket * Tensor(int32_t(labels)) + at);
    }
    bucket = reshape(bucket, {-1});
    auto count_in = [&](const Tensor& t) {
      const Tensor sums = raw::UnsortedSegmentSum(reshape(t, {-1}), bucket, Tensor(int32_t(n * labels)));
      return raw::Cumsum(reshape(sums, {n, labels}), Tensor(int32_t(0)), {.reverse = true});
    };
    tp = count_in(trues);
    fp = count_in(falses);
  } else {
    const Tensor positive = cast(expand_dims(p, 0) > floats(thresholds_, {n, 1, 1}), DType::float32);
    tp = reduce_op(raw::Sum, positive * trues, {1});
    fp = reduce_op(raw::Sum, positive * falses, {1});
  }
  auto add = [&](Count which, const Tensor& value) {
    const Variable v = count(which);
    if (v.has_value()) v.assign_add(multi_label_ ? value : reshape(value, {n}));
  };
  add(kTruePositives, tp);
  add(kFalsePositives, fp);
  if (count(kTrueNegatives).has_value()) add(kTrueNegatives, reduce_op(raw::Sum, falses, {0}) - fp);
  if (count(kFalseNegatives).has_value()) add(kFalseNegatives, reduce_op(raw::Sum, trues, {0}) - tp);
}

#define WEFT_COUNT_METRIC(Class, which, label)                                                                                                  \
  Class::Class(const ThresholdOptions& o) : ConfusionMetric(named(o.name, label), or_half(o), evenly_spread(or_half(o)), o.top_k, o.class_id) { \
    keep(which, "accumulator", {int64_t(num_thresholds())});                                                                                    \
  }                                                                                                                                             \
  Tensor Class::result() const { return one_or_all(count(which)); }
WEFT_COUNT_METRIC(TruePositives, kTruePositives, "true_positives")
WEFT_COUNT_METRIC(FalsePositives, kFalsePositives, "false_positives")
WEFT_COUNT_METRIC(TrueNegatives, kTrueNegatives, "true_negatives")
WEFT_COUNT_METRIC(FalseNegatives, kFalseNegatives, "false_negatives")
#undef WEFT_COUNT_METRIC

Precision::Precision(const ThresholdOptions& o)
    : ConfusionMetric(named(o.name, "precision"), or_half(o), evenly_spread(or_half(o)), o.top_k, o.class_id) {
  keep(kTruePositives, "true_positives", {int64_t(num_thresholds())});
  keep(kFalsePositives, "false_positives", {int64_t(num_thresholds())});
}
Tensor Precision::result() const { return one_or_all(ratio(count(kTruePositives), count(kFalsePositives))); }

Recall::Recall(const ThresholdOptions& o) : ConfusionMetric(named(o.name, "recall"), or_half(o), evenly_spread(or_half(o)), o.top_k, o.class_id) {
  keep(kTruePositives, "true_positives", {int64_t(num_thresholds())});
  keep(kFalseNegatives, "false_negatives", {int64_t(num_thresholds())});
}
Tensor Recall::result() const { return one_or_all(ratio(count(kTruePositives), count(kFalseNegatives))); }

#define WEFT_AT_METRIC(Class, label, given, best)                                                                                            \
  Class::Class(double value, const AtOptions& o)                                                                                             \
      : ConfusionMetric(named(o.name, label), o.num_thresholds == 1 ? std::vector<double>{0.5} : steps_between(o.num_thresholds, 0, 1),      \
                        o.num_thresholds > 1, {}, o.class_id),                                                                               \
        value_(value) {                                                                                                                      \
    if (!(value >= 0 && value <= 1)) throw Error(Code::kInvalidArgument, "the argument of " + name() + " must be in the range [0, 1]");      \
    const std::vector<int64_t> shape{int64_t(num_thresholds())};                                                                             \
    keep(kTruePositives, "true_positives", shape);                                                                                           \
    keep(kFalsePositives, "false_positives", shape);                                                                                         \
    keep(kTrueNegatives, "true_negatives", shape);                                                                                           \
    keep(kFalseNegatives, "false_negatives", shape);                                                                                         \
  }                                                                                                                                          \
  Tensor Class::result() const {                                                                                                             \
    const Tensor tp = count(kTruePositives), fp = count(kFalsePositives), tn = count(kTrueNegatives), fn = count(kFalseNegatives);           \
    [[maybe_unused]] const Tensor sensitivity = ratio(tp, fn), specificity = ratio(tn, fp), precision = ratio(tp, fp), recall = sensitivity; \
    return reduce_op(raw::Max, where(given >= Tensor(float(value_)), best, Tensor(0.f)), {0});                                               \
  }
WEFT_AT_METRIC(SensitivityAtSpecificity, "sensitivity_at_specificity", specificity, sensitivity)
WEFT_AT_METRIC(SpecificityAtSensitivity, "specificity_at_sensitivity", sensitivity, specificity)
WEFT_AT_METRIC(PrecisionAtRecall, "precision_at_recall", recall, precision)
WEFT_AT_METRIC(RecallAtPrecision, "recall_at_precision", precision, recall)
#undef WEFT_AT_METRIC

namespace {

// A threshold below 0 and one above 1, so that no rounding hides a prediction at the ends.
std::vector<double> auc_thresholds(const AUCOptions& o, bool* even) {
  if (o.thresholds.empty()) {
    *even = true;
    return steps_between(o.num_thresholds, -kEpsilon, 1 + kEpsilon);
  }
  std::vector<double> t = o.thresholds;
  std::sort(t.begin(), t.end());
  t.insert(t.begin(), 0);
  t.push_back(1);
  *even = evenly_spread(t);
  t.front() = -kEpsilon;
  t.back() = 1 + kEpsilon;
  return t;
}
std::vector<double> auc_thresholds(const AUCOptions& o) {
  bool even;
  return auc_thresholds(o, &even);
}
bool auc_even(const AUCOptions& o) {
  bool even;
  auc_thresholds(o, &even);
  return even;
}

}  // namespace

AUC::AUC(const AUCOptions& o) : ConfusionMetric(named(o.name, "auc"), auc_thresholds(o), auc_even(o)), options_(o) {
  from_logits_ = o.from_logits;
  multi_label_ = o.multi_label;
  label_weights_ = o.label_weights;
  if (o.multi_label) return;  // the number of labels is not known yet
  for (auto [which, name] : {std::pair(kTruePositives, "true_positives"),
                             {kFalsePositives, "false_positives"},
                             {kTrueNegatives, "true_negatives"},
                             {kFalseNegatives, "false_negatives"}})
    keep(which, name, {int64_t(num_thresholds())});
}

void AUC::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  if (options_.multi_label && !count(kTruePositives).has_value()) {
    if (rank_of(y_pred) != 2 || dim_of(y_pred, 1) < 0)
      throw Error(Code::kInvalidArgument, "`y_pred` must have rank 2 when `multi_label=True`, and its number of labels must be known");
    const std::vector<int64_t> shape{int64_t(num_thresholds()), dim_of(y_pred, 1)};
    for (auto [which, name] : {std::pair(kTruePositives, "true_positives"),
                               {kFalsePositives, "false_positives"},
                               {kTrueNegatives, "true_negatives"},
                               {kFalseNegatives, "false_negatives"}})
      keep(which, name, shape);
  }
  ConfusionMetric::update_state(y_true, y_pred, sample_weight);
}

Tensor AUC::mean_of_labels(const Tensor& areas) const {
  const Tensor by_label = reduce_op(raw::Sum, areas, {0});
  if (!options_.multi_label) return by_label;
  if (options_.label_weights.empty()) return reduce_op(raw::Mean, by_label, {0});
  const Tensor weights = floats(options_.label_weights, {int64_t(options_.label_weights.size())});
  return div_no_nan(sum_all(by_label * weights), sum_all(weights));
}

Tensor AUC::result() const {
  if (!count(kTruePositives).has_value()) return Tensor(0.f);
  const size_t n = num_thresholds();
  const Tensor tp = count(kTruePositives), fp = count(kFalsePositives), tn = count(kTrueNegatives), fn = count(kFalseNegatives);
  const Tensor zero(0.f), one(1.f);
  if (options_.curve == Curve::pr && options_.summation_method == Summation::interpolation) {
    // Davis and Goadrich, "The Relationship Between Precision-Recall and ROC Curves" (2006), as Keras integrates it.
    const Tensor dtp = but_last(tp, n) - but_first(tp, n), all = tp + fp, dp = but_last(all, n) - but_first(all, n);
    const Tensor slope = div_no_nan(dtp, maximum(dp, zero)), intercept = but_first(tp, n) - slope * but_first(all, n);
    const Tensor p0 = but_last(all, n), p1 = but_first(all, n);
    const Tensor safe = where(logical_and(p0 > zero, p1 > zero), div_no_nan(p0, maximum(p1, zero)), one);
    return mean_of_labels(div_no_nan(slope * (dtp + intercept * log(safe)), maximum(but_first(tp, n) + but_first(fn, n), zero)));
  }
  Tensor x, y;
  if (options_.curve == Curve::roc) {
    x = ratio(fp, tn);
    y = ratio(tp, fn);
  } else if (options_.curve == Curve::pr) {
    x = ratio(tp, fn);
    y = ratio(tp, fp);
  } else {
    const Tensor scale = div_no_nan(tp + fn, tn + fp), none = tp == zero;
    x = maximum(where(none, zero, one - scale * div_no_nan(fn, tp)), zero);
    y = where(none, one, one - scale * div_no_nan(fp, tp));
  }
  Tensor heights;
  if (options_.summation_method == Summation::interpolation) heights = (but_last(y, n) + but_first(y, n)) / Tensor(2.f);
  else if (options_.summation_method == Summation::minoring) heights = minimum(but_last(y, n), but_first(y, n));
  else heights = maximum(but_last(y, n), but_first(y, n));
  return mean_of_labels((but_last(x, n) - but_first(x, n)) * heights);
}

// -- IoU

IoU::IoU(const IoUOptions& o) : Metric(named(o.name, "io_u")), options_(o) {
  if (o.num_classes <= 0) throw Error(Code::kInvalidArgument, "IoU needs a positive number of classes");
  for (int id : o.target_class_ids) {
    if (id < 0 || id >= o.num_classes)
      throw Error(Code::kInvalidArgument,
                  "Target class id " + std::to_string(id) + " is out of range, which is [0, " + std::to_string(o.num_classes) + ").");
  }
  total_ = add_variable("total_cm", {o.num_classes, o.num_classes}, DType::int64, "total_confusion_matrix");
}

void IoU::update_state(const Tensor& given, const Tensor& given_pred, const Tensor& sample_weight) {
  Tensor y = options_.sparse_y_true ? given : argmax(given, options_.axis),
         p = options_.sparse_y_pred ? given_pred : argmax(given_pred, options_.axis);
  y = reshape(as_type(y, DType::int64), {-1});
  p = reshape(as_type(p, DType::int64), {-1});
  const Tensor zero(int64_t(0)), classes(int64_t(options_.num_classes));
  Tensor weights = sample_weight.has_value() ? as_type(sample_weight, DType::int64) : Tensor(int64_t(1));
  if (rank_of(weights) > 1) weights = reshape(weights, {-1});
  Tensor valid = logical_and(logical_and(y >= zero, y < classes), logical_and(p >= zero, p < classes));
  if (options_.ignore_class) valid = logical_and(valid, y != Tensor(*options_.ignore_class));
  y = where(valid, y, zero);
  p = where(valid, p, zero);
  weights = where(valid, weights, zero);
  const Tensor shape = Tensor::of<int64_t>({2}, {options_.num_classes, options_.num_classes});
  total_.assign_add(raw::ScatterNd(stack({y, p}, 1), weights, shape));
}

Tensor IoU::result() const {
  const Tensor cm = total_;
  Tensor tp = raw::DiagPart(cm), all = reduce_op(raw::Sum, cm, {0}) + reduce_op(raw::Sum, cm, {1}) - tp;
  if (!options_.target_class_ids.empty()) {
    const Tensor ids = int_list({options_.target_class_ids.begin(), options_.target_class_ids.end()});
    tp = gather(tp, ids);
    all = gather(all, ids);
  }
  tp = cast(tp, DType::float32);
  all = cast(all, DType::float32);
  const Tensor there = all > Tensor(1e-9f);
  const Tensor each = where(there, tp / plus(all, kEpsilon), Tensor(0.f));
  return sum_all(each) / plus(sum_all(cast(there, DType::float32)), kEpsilon);
}

MeanIoU::MeanIoU(int num_classes, const std::string& name) : IoU({.num_classes = num_classes, .name = name}) {}
MeanIoU::MeanIoU(IoUOptions o)
    : IoU([&] {
        o.target_class_ids.clear();
        if (o.name.empty()) o.name = "mean_io_u";
        return o;
      }()) {}

BinaryIoU::BinaryIoU(std::vector<int> ids, double threshold, const std::string& name)
    : IoU({.num_classes = 2, .target_class_ids = std::move(ids), .name = name}), threshold_(threshold) {}
void BinaryIoU::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  const Tensor p = as_type(y_pred, DType::float32);
  IoU::update_state(y_true, cast(p >= Tensor(float(threshold_)), DType::int64), sample_weight);
}

// -- F scores

FBetaScore::FBetaScore(const FBetaOptions& o) : Metric(named(o.name, "fbeta_score")), options_(o) {
  if (!(o.beta > 0)) throw Error(Code::kInvalidArgument, "Invalid `beta` argument value. It should be > 0. Received: beta=" + std::to_string(o.beta));
  if (o.threshold && !(*o.threshold > 0 && *o.threshold <= 1))
    throw Error(Code::kInvalidArgument,
                "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: threshold=" + std::to_string(*o.threshold));
}

void FBetaScore::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  const Tensor y = as_type(y_true, DType::float32);
  Tensor p = as_type(y_pred, DType::float32);
  const bool micro = options_.average == Average::micro;
  if (counts_->empty()) {
    if (rank_of(p) != 2 || rank_of(y) != 2 || dim_of(p, 1) < 0)
      throw Error(Code::kInvalidArgument, "FBetaScore expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined");
    const std::vector<int64_t> shape = micro ? std::vector<int64_t>{} : std::vector<int64_t>{dim_of(p, 1)};
    std::vector<Variable> made;
    for (const char* n : {"true_positives", "false_positives", "false_negatives", "intermediate_weights"}) made.push_back(add_variable(n, shape));
    *counts_ = std::move(made);
  }
  const Tensor positive =
      options_.threshold ? p > Tensor(float(*options_.threshold)) : logical_and(p >= reduce_op(raw::Max, p, {-1}, true), abs(p) > Tensor(1e-9f));
  p = cast(positive, DType::float32);
  auto add = [&](size_t which, Tensor values) {
    if (sample_weight.has_value()) values = values * expand_dims(as_type(sample_weight, DType::float32), 1);
    (*counts_)[which].assign_add(micro ? sum_all(values) : reduce_op(raw::Sum, values, {0}));
  };
  add(0, p * y);
  add(1, p * minus_from(1, y));
  add(2, minus_from(1, p) * y);
  add(3, y);
}

Tensor FBetaScore::result() const {
  if (counts_->empty()) return Tensor(0.f);
  const Tensor tp = (*counts_)[0], weight = (*counts_)[3];
  const Tensor precision = tp / plus(tp + (*counts_)[1], kEpsilon), recall = tp / plus(tp + (*counts_)[2], kEpsilon);
  const double b2 = options_.beta * options_.beta;
  const Tensor score = times(precision * recall / plus(times(precision, b2) + recall, kEpsilon), 1 + b2);
  if (options_.average == Average::none) return score;
  if (options_.average == Average::weighted) return sum_all(score * (weight / plus(sum_all(weight), kEpsilon)));
  return options_.average == Average::micro ? score : reduce_op(raw::Mean, score, {0});
}

F1Score::F1Score(FBetaOptions o)
    : FBetaScore([&] {
        o.beta = 1;
        if (o.name.empty()) o.name = "f1_score";
        return o;
      }()) {}

// -- R2

R2Score::R2Score(ClassAggregation aggregation, const std::string& name)
    : Metric(name), aggregation_(aggregation), samples_(add_variable("num_samples", {})) {}

void R2Score::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  Tensor y = as_type(y_true, DType::float32), p = as_type(y_pred, DType::float32);
  same_rank(y, p);
  if (sums_->empty()) {
    if (rank_of(p) != 2 || rank_of(y) != 2 || dim_of(p, 1) < 0)
      throw Error(Code::kInvalidArgument, "R2Score expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined");
    std::vector<Variable> made;
    for (const char* n : {"squared_sum", "sum", "total_mse", "count"})
      made.push_back(add_variable(n, {dim_of(p, 1)}, DType::float32, std::string(n) == "total_mse" ? "residual" : n));
    *sums_ = std::move(made);
  }
  Tensor weights = sample_weight.has_value() ? as_type(sample_weight, DType::float32) : Tensor(1.f);
  if (rank_of(weights) == 1) weights = expand_dims(weights, 1);
  weights = raw::BroadcastTo(weights, shape_of(y));
  const Tensor weighted = y * weights;
  (*sums_)[1].assign_add(reduce_op(raw::Sum, weighted, {0}));
  (*sums_)[0].assign_add(reduce_op(raw::Sum, y * weighted, {0}));
  (*sums_)[2].assign_add(reduce_op(raw::Sum, square(y - p) * weights, {0}));
  (*sums_)[3].assign_add(reduce_op(raw::Sum, weights, {0}));
  samples_.assign_add(size_like(y));
}

Tensor R2Score::result() const {
  if (sums_->empty()) return Tensor(0.f);
  const Tensor sum = (*sums_)[1], mean = sum / (*sums_)[3], total = (*sums_)[0] - sum * mean;
  Tensor raw = minus_from(1, (*sums_)[2] / total);
  raw = where(weft::raw::IsInf(raw), Tensor(0.f), raw);
  if (aggregation_ == ClassAggregation::none) return raw;
  if (aggregation_ == ClassAggregation::uniform_average) return reduce_op(weft::raw::Mean, raw, {0});
  return sum_all(total * raw) / sum_all(total);
}

}  // namespace weft::nn::metrics

// Means, sums, and metrics that are the mean of something for each sample.
#include "weft/metrics.h"

#include "api/nn/loss_shapes.h"
#include "weft/losses.h"
#include "weft/raw/array.h"
#include "weft/raw/nn.h"

namespace weft::nn::metrics {

Metric::Metric(const std::string& name) : Module(name) {}
std::vector<Variable> Metric::variables() const { return *made_; }

Variable Metric::add_variable(const std::string& attribute, const std::vector<int64_t>& shape, DType dtype, const std::string& variable_name) {
  NameScope scope(name() + "/");
  Variable v([&] { return zeros(shape, dtype); }, {.name = variable_name.empty() ? attribute : variable_name,
                                                   .trainable = false,
                                                   .synchronization = VariableSynchronization::on_read,
                                                   .aggregation = VariableAggregation::sum});
  made_->push_back(v);
  track(attribute, v);
  return v;
}

void Metric::reset_state() {
  for (const Variable& v : *made_) v.assign(zeros(v.shape(), v.dtype()));
}

void Metric::update_state(const Tensor&, const Tensor&, const Tensor&) {
  throw Error(Code::kUnimplemented, "the metric '" + name() + "' takes values, not labels and predictions");
}

namespace {

std::vector<int32_t> axes_from(int first, int rank) {
  std::vector<int32_t> axes;
  for (int i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

// One number for each sample, weighted; and the weights of the samples, if there are any.
template <class Options>
std::pair<Tensor, Tensor> samplewise(const Tensor& given, const Tensor& given_weights, Reduction<Options> reduce) {
  Tensor values = as_type(given, DType::float32), weights;
  if (given_weights.has_value()) {
    weights = as_type(given_weights, DType::float32);
    same_rank(values, weights);
    const int rank = rank_of(weights);
    if (rank_of(values) > rank) values = reduce_op(reduce, values, axes_from(rank, rank_of(values)));
    weights = raw::BroadcastTo(weights, shape_of(values));
    values = values * weights;
    if (rank > 1) weights = reduce_op(reduce, weights, axes_from(1, rank));
  }
  if (rank_of(values) > 1) values = reduce_op(reduce, values, axes_from(1, rank_of(values)));
  return {values, weights};
}

}  // namespace

Sum::Sum(const std::string& name) : Metric(name), total_(add_variable("total", {})) {}
void Sum::update_state(const Tensor& values, const Tensor& sample_weight) {
  total_.assign_add(sum_all(samplewise(values, sample_weight, raw::Sum).first));
}
Tensor Sum::result() const { return total_; }

Mean::Mean(const std::string& name) : Metric(name), total_(add_variable("total", {})), count_(add_variable("count", {})) {}
void Mean::update_state(const Tensor& values, const Tensor& sample_weight) { add(values, sample_weight); }
void Mean::add(const Tensor& given, const Tensor& sample_weight) {
  const auto [values, weights] = samplewise(given, sample_weight, raw::Mean);
  total_.assign_add(sum_all(values));
  count_.assign_add(weights.has_value() ? sum_all(weights) : size_like(values));
}
Tensor Mean::result() const { return div_no_nan(total_, count_); }

MeanMetricWrapper::MeanMetricWrapper(Function f, const std::string& name) : Mean(name), function_(std::move(f)) {}
void MeanMetricWrapper::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  add(function_(y_true, y_pred), sample_weight);
}

RootMeanSquaredError::RootMeanSquaredError(const std::string& name) : Mean(name) {}
void RootMeanSquaredError::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  Tensor y = as_type(y_true, DType::float32), p = as_type(y_pred, DType::float32);
  same_rank(y, p);
  add(square(p - y), sample_weight);
}
Tensor RootMeanSquaredError::result() const { return sqrt(Mean::result()); }

namespace {

Tensor as_float(const Tensor& matches) { return cast(matches, DType::float32); }
bool is_integer(DType t) {
  return t == DType::int32 || t == DType::int64 || t == DType::uint8 || t == DType::int8 || t == DType::int16 || t == DType::uint16;
}

// Class numbers against those of predictions; labels of any shape, which the result has too.
Tensor in_top_k(const Tensor& given, const Tensor& given_pred, int k) {
  Tensor y = as_type(given, DType::int32), p = given_pred;
  const bool flatten = rank_of(y) > 1;
  const Tensor shape = flatten ? shape_of(y) : Tensor();
  if (rank_of(p) > 2) p = reshape(p, {-1, dim_of(p, -1)});
  if (flatten) y = reshape(y, {-1});
  const Tensor matches = as_float(raw::InTopKV2(as_type(p, DType::float32), y, Tensor(int32_t(k))));
  return flatten ? raw::Reshape(matches, shape) : matches;
}

}  // namespace

Tensor binary_accuracy(const Tensor& given, const Tensor& given_pred, double threshold) {
  Tensor y = given, p = given_pred;
  same_rank(y, p);
  return as_float(y == cast(p > number_like(p, threshold), y.dtype()));
}
Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) { return as_float(argmax(y_true, -1) == argmax(y_pred, -1)); }
Tensor sparse_categorical_accuracy(const Tensor& given, const Tensor& p) {
  Tensor y = given;
  if (rank_of(y) == rank_of(p) && dim_of(y, -1) == 1) y = squeeze(y, -1);
  const Tensor best = argmax(p, -1);
  return as_float(is_integer(y.dtype()) ? as_type(y, DType::int64) == best : y == cast(best, y.dtype()));
}
Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, int k) { return in_top_k(argmax(y_true, -1), y_pred, k); }
Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, int k) { return in_top_k(y_true, y_pred, k); }

Accuracy::Accuracy(const std::string& name)
    : MeanMetricWrapper(
          [](const Tensor& given, const Tensor& given_pred) {
            Tensor y = as_type(given, given_pred.dtype()), p = given_pred;
            same_rank(y, p);
            return as_float(y == p);
          },
          name) {}
BinaryAccuracy::BinaryAccuracy(const std::string& name, double threshold)
    : MeanMetricWrapper([threshold](const Tensor& y, const Tensor& p) { return binary_accuracy(y, p, threshold); }, name) {}
TopKCategoricalAccuracy::TopKCategoricalAccuracy(int k, const std::string& name)
    : MeanMetricWrapper([k](const Tensor& y, const Tensor& p) { return top_k_categorical_accuracy(y, p, k); }, name) {}
SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(int k, const std::string& name)
    : MeanMetricWrapper([k](const Tensor& y, const Tensor& p) { return sparse_top_k_categorical_accuracy(y, p, k); }, name) {}
CosineSimilarity::CosineSimilarity(const std::string& name, int axis)
    : MeanMetricWrapper([axis](const Tensor& y, const Tensor& p) { return -losses::cosine_similarity(y, p, axis); }, name) {}
BinaryCrossentropy::BinaryCrossentropy(const std::string& name, bool from_logits, double label_smoothing)
    : MeanMetricWrapper([=](const Tensor& y, const Tensor& p) { return losses::binary_crossentropy(y, p, {from_logits, label_smoothing}); }, name) {}
CategoricalCrossentropy::CategoricalCrossentropy(const std::string& name, bool from_logits, double label_smoothing)
    : MeanMetricWrapper([=](const Tensor& y, const Tensor& p) { return losses::categorical_crossentropy(y, p, {from_logits, label_smoothing}); },
                        name) {}
SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const std::string& name, bool from_logits)
    : MeanMetricWrapper([=](const Tensor& y, const Tensor& p) { return losses::sparse_categorical_crossentropy(y, p, {from_logits, {}}); }, name) {}

#define WEFT_MEAN_METRIC(Class, function) \
  Class::Class(const std::string& name) : MeanMetricWrapper(function, name) {}
WEFT_MEAN_METRIC(CategoricalAccuracy, categorical_accuracy)
WEFT_MEAN_METRIC(SparseCategoricalAccuracy, sparse_categorical_accuracy)
WEFT_MEAN_METRIC(MeanSquaredError, losses::mean_squared_error)
WEFT_MEAN_METRIC(MeanAbsoluteError, losses::mean_absolute_error)
WEFT_MEAN_METRIC(MeanAbsolutePercentageError, losses::mean_absolute_percentage_error)
WEFT_MEAN_METRIC(MeanSquaredLogarithmicError, losses::mean_squared_logarithmic_error)
WEFT_MEAN_METRIC(LogCoshError, losses::log_cosh)
WEFT_MEAN_METRIC(Hinge, losses::hinge)
WEFT_MEAN_METRIC(SquaredHinge, losses::squared_hinge)
WEFT_MEAN_METRIC(CategoricalHinge, losses::categorical_hinge)
WEFT_MEAN_METRIC(KLDivergence, losses::kl_divergence)
WEFT_MEAN_METRIC(Poisson, losses::poisson)
#undef WEFT_MEAN_METRIC

}  // namespace weft::nn::metrics

// Losses, in Keras' order of operations: what is computed for each sample, and how it is reduced.
#include "weft/losses.h"

#include <numbers>

#include "api/nn/loss_shapes.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"
#include "weft/raw/nn.h"

namespace weft::nn {

Tensor masked_weights(Tensor weights, const Tensor& mask, DType dtype, losses::Reduction reduction) {
  if (!mask.has_value()) return weights;
  Tensor part = as_type(mask, dtype);
  if (reduction == losses::Reduction::mean || reduction == losses::Reduction::sum_over_batch_size)
    part = where(as_type(mask, DType::boolean), div_no_nan(size_like(part), sum_all(part)), number(0, dtype));
  if (!weights.has_value()) return part;
  weights = as_type(weights, dtype);
  same_rank(part, weights);
  return weights * part;
}

namespace losses {
namespace {

constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

bool is_float(DType t) { return t == DType::float32 || t == DType::float64; }

// Labels in the type of the predictions, and both of one rank.
void align(Tensor& y_true, const Tensor& given, Tensor& y_pred) {
  y_true = as_type(given, y_pred.dtype());
  same_rank(y_true, y_pred);
}

Tensor smoothed(const Tensor& y, double smoothing, const Tensor& share) { return y * number_like(y, 1 - smoothing) + share; }
Tensor smoothed_binary(const Tensor& y, double smoothing) { return smoothing == 0 ? y : smoothed(y, smoothing, number_like(y, 0.5 * smoothing)); }
Tensor smoothed_classes(const Tensor& y, double smoothing) {
  if (smoothing == 0) return y;
  const int64_t classes = dim_of(y, -1);
  const Tensor count = classes >= 0 ? number_like(y, double(classes)) : cast(gather(shape_of(y), Tensor(int32_t(rank_of(y) - 1))), y.dtype());
  return smoothed(y, smoothing, number_like(y, smoothing) / count);
}

Tensor normalized(const Tensor& x, int axis) {
  const Tensor norm = raw::Rsqrt(reduce_op(raw::Sum, square(x), {axis}, true));
  return x * minimum(norm, number_like(x, 1 / kEpsilon));
}

// Labels 0 and 1 as -1 and 1; others as they are.
Tensor signed_labels(const Tensor& y) {
  const Tensor zero = number_like(y, 0), one = number_like(y, 1);
  std::vector<int32_t> axes;
  for (int i = 0; i < rank_of(y); ++i) axes.push_back(i);
  const Tensor binary = reduce_op(raw::All, logical_or(y == zero, y == one), axes);
  return where(binary, times(y, 2) - one, y);
}

// Predictions as rows, for ops that take matrices only.
Tensor rows_of(const Tensor& x) {
  const int rank = rank_of(x);
  if (rank == 2) return x;
  const int64_t classes = dim_of(x, -1);
  if (classes >= 0) return reshape(x, {-1, classes});
  return raw::Reshape(x, concat({int_list({-1}), raw::Slice(shape_of(x), int_list({rank - 1}), int_list({1}))}, 0));
}
Tensor in_shape_of_rows(const Tensor& values, const Tensor& x) {
  const int rank = rank_of(x);
  if (rank == 2) return values;
  const PartialShape s = x.partial_shape();
  std::vector<int64_t> outer(s.dims.begin(), s.dims.end() - 1);
  int unknown = 0;
  for (int64_t d : outer) unknown += d < 0;
  if (unknown <= 1) return reshape(values, outer);
  return raw::Reshape(values, raw::Slice(shape_of(x), int_list({0}), int_list({rank - 1})));
}

void check_same_shape(const Tensor& y_true, const Tensor& y_pred) {
  const PartialShape a = y_true.partial_shape(), b = y_pred.partial_shape();
  if (!a.known_rank || !b.known_rank) return;
  bool same = a.dims.size() == b.dims.size();
  for (size_t i = 0; same && i < a.dims.size(); ++i) same = a.dims[i] < 0 || b.dims[i] < 0 || a.dims[i] == b.dims[i];
  if (same) return;
  auto text = [](const PartialShape& s) {
    std::string out = "(";
    for (size_t i = 0; i < s.dims.size(); ++i) out += (i ? ", " : "") + (s.dims[i] < 0 ? std::string("None") : std::to_string(s.dims[i]));
    return out + (s.dims.size() == 1 ? ",)" : ")");
  };
  throw Error(Code::kInvalidArgument, "Arguments `target` and `output` must have the same " +
                                          std::string(a.dims.size() == b.dims.size() ? "shape" : "rank (ndim)") +
                                          ". Received: target.shape=" + text(a) + ", output.shape=" + text(b));
}

int last_axis(int axis, const Tensor& x) { return axis < 0 ? axis : axis - rank_of(x); }

Tensor elementwise_binary_crossentropy(const Tensor& y, Tensor p, bool from_logits) {
  check_same_shape(y, p);
  if (const Tensor logits = before(p, "Sigmoid"); logits.has_value()) {
    p = logits;
    from_logits = true;
  }
  if (from_logits) {
    // max(x, 0) - x * y + log(1 + exp(-|x|))
    const Tensor zero = number_like(p, 0), positive = p >= zero;
    return where(positive, p, zero) - p * y + raw::Log1p(exp(where(positive, -p, p)));
  }
  p = clip(p, kEpsilon, 1 - kEpsilon);
  const Tensor one = number_like(p, 1);
  return -(y * log(p) + (one - y) * log(one - p));
}

Tensor keep_positive(const Tensor& x) { return maximum(x, number_like(x, 0)); }

}  // namespace

Loss::Loss(Function f, std::string name, Reduction reduction)
    : Loss([f = std::move(f)](const Tensor& y, const Tensor& p) { return Values{f(y, p), {}}; }, std::move(name), reduction,
           Labels::like_predictions) {}
Loss::Loss(Masked f, std::string name, Reduction reduction, Labels labels)
    : function_(std::move(f)), name_(std::move(name)), reduction_(reduction), labels_(labels) {}

Tensor Loss::operator()(const Tensor& given_true, const Tensor& given_pred, const Tensor& sample_weight, const Tensor& given_mask) const {
  Tensor y_pred = is_float(given_pred.dtype()) ? given_pred : cast(given_pred, DType::float32);
  Tensor y_true = labels_ == Labels::kept ? given_true : as_type(given_true, y_pred.dtype());
  same_rank(y_true, y_pred);
  const Values got = function_(y_true, y_pred);
  Tensor values = got.values;
  const DType dtype = values.dtype();
  Tensor mask = got.mask.has_value() ? got.mask : given_mask;
  if (got.mask.has_value() && given_mask.has_value()) mask = logical_and(as_type(given_mask, DType::boolean), got.mask);
  Tensor weights = masked_weights(sample_weight.has_value() ? as_type(sample_weight, dtype) : Tensor(), mask, dtype, reduction_);
  if (weights.has_value()) {
    weights = as_type(weights, dtype);
    same_rank(values, weights);
    values = values * weights;
  }
  if (reduction_ == Reduction::none || rank_of(values) == 0 || (rank_of(values) == 1 && dim_of(values, 0) == 0)) return values;
  const Tensor sum = sum_all(values);
  if (reduction_ == Reduction::sum) return sum;
  if (reduction_ == Reduction::mean_with_sample_weight && weights.has_value()) return div_no_nan(sum, sum_all(weights));
  return div_no_nan(sum, size_like(values));
}

Tensor mean_squared_error(const Tensor& given, const Tensor& given_pred) {
  Tensor y, p = given_pred;
  align(y, given, p);
  return mean_last(square(y - p));
}
Tensor mean_absolute_error(const Tensor& given, const Tensor& given_pred) {
  Tensor y, p = given_pred;
  align(y, given, p);
  return mean_last(abs(y - p));
}
Tensor mean_absolute_percentage_error(const Tensor& given, const Tensor& given_pred) {
  Tensor y, p = given_pred;
  align(y, given, p);
  return times(mean_last(abs((y - p) / maximum(abs(y), number_like(p, kEpsilon)))), 100);
}
Tensor mean_squared_logarithmic_error(const Tensor& given, const Tensor& given_pred) {
  Tensor y, p = given_pred;
  align(y, given, p);
  const Tensor least = number_like(p, kEpsilon), one = number_like(p, 1);
  return mean_last(square(log(maximum(p, least) + one) - log(maximum(y, least) + one)));
}
Tensor cosine_similarity(const Tensor& given, const Tensor& given_pred, int axis) {
  Tensor y, p = given_pred;
  align(y, given, p);
  return -reduce_op(raw::Sum, normalized(y, axis) * normalized(p, axis), {axis});
}
Tensor huber(const Tensor& given, const Tensor& given_pred, double delta) {
  Tensor y, p = given_pred;
  align(y, given, p);
  const Tensor limit = number_like(p, delta), half = number_like(p, 0.5), error = p - y, size = abs(error);
  return mean_last(where(size <= limit, half * square(error), limit * size - half * square(limit)));
}
Tensor log_cosh(const Tensor& given, const Tensor& given_pred) {
  Tensor y, p = given_pred;
  align(y, given, p);
  const Tensor x = p - y;
  return mean_last(x + raw::Softplus(times(x, -2)) - number_like(p, std::numbers::ln2));
}
Tensor kl_divergence(const Tensor& given, const Tensor& given_pred) {
  const Tensor y = clip(as_type(given, given_pred.dtype()), kEpsilon, 1), p = clip(given_pred, kEpsilon, 1);
  return sum_last(y * log(y / p));
}
Tensor poisson(const Tensor& given, const Tensor& p) {
  const Tensor y = as_type(given, p.dtype());
  return mean_last(p - y * log(plus(p, kEpsilon)));
}
Tensor hinge(const Tensor& given, const Tensor& p) {
  const Tensor y = signed_labels(as_type(given, p.dtype()));
  return mean_last(keep_positive(minus_from(1, y * p)));
}
Tensor squared_hinge(const Tensor& given, const Tensor& p) {
  const Tensor y = signed_labels(as_type(given, p.dtype()));
  return mean_last(square(keep_positive(minus_from(1, y * p))));
}
Tensor categorical_hinge(const Tensor& given, const Tensor& p) {
  const Tensor y = as_type(given, p.dtype());
  const Tensor right = sum_last(y * p), wrong = reduce_op(raw::Max, minus_from(1, y) * p, {-1});
  return keep_positive(plus(wrong - right, 1));
}

Tensor binary_crossentropy(const Tensor& given, const Tensor& p, const CrossentropyOptions& o) {
  const Tensor y = smoothed_binary(as_type(given, p.dtype()), o.label_smoothing);
  return reduce_op(raw::Mean, elementwise_binary_crossentropy(y, p, o.from_logits), {o.axis});
}

Tensor categorical_crossentropy(const Tensor& given, const Tensor& given_pred, const CrossentropyOptions& o) {
  Tensor p = given_pred;
  const Tensor y = smoothed_classes(as_type(given, p.dtype()), o.label_smoothing);
  check_same_shape(y, p);
  bool from_logits = o.from_logits;
  if (const Tensor logits = before(p, "Softmax"); logits.has_value()) {
    p = logits;
    from_logits = true;
  }
  if (from_logits) {
    const int axis = last_axis(o.axis, p);
    Tensor yt = y;
    if (axis != -1) {
      std::vector<int64_t> order;
      for (int i = 0; i < rank_of(p); ++i) {
        if (i != axis + rank_of(p)) order.push_back(i);
      }
      order.push_back(axis + rank_of(p));
      p = transpose(p, order);
      yt = transpose(y, order);
    }
    return in_shape_of_rows(raw::SoftmaxCrossEntropyWithLogits(rows_of(p), rows_of(yt)).loss, p);
  }
  p = p / reduce_op(raw::Sum, p, {o.axis}, true);
  return -reduce_op(raw::Sum, y * log(clip(p, kEpsilon, 1 - kEpsilon)), {o.axis});
}

namespace {

// With the mask of the samples that count, if a class is ignored.
std::pair<Tensor, Tensor> sparse_crossentropy(Tensor y, Tensor p, const SparseCrossentropyOptions& o) {
  if (rank_of(y) == rank_of(p) && dim_of(y, -1) == 1) y = squeeze(y, -1);
  bool from_logits = o.from_logits;
  if (const Tensor logits = before(p, "Softmax"); logits.has_value()) {
    p = logits;
    from_logits = true;
  }
  Tensor mask;
  if (o.ignore_class) {
    mask = y != number_like(y, double(*o.ignore_class));
    y = where(mask, y, number_like(y, 0));
    p = where(expand_dims(mask, -1), p, number_like(p, 0));
  }
  if (rank_of(y) + 1 != rank_of(p))
    throw Error(Code::kInvalidArgument, "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target of rank " +
                                            std::to_string(rank_of(y)) + ", output of rank " + std::to_string(rank_of(p)));
  if (!from_logits) p = log(clip(p, kEpsilon, 1 - kEpsilon));
  Tensor labels = y.dtype() == DType::int32 ? y : as_type(y, DType::int64);
  if (rank_of(p) != 2) labels = reshape(labels, {-1});
  Tensor values = in_shape_of_rows(raw::SparseSoftmaxCrossEntropyWithLogits(rows_of(p), labels).loss, p);
  if (mask.has_value()) values = where(mask, values, number_like(values, 0));
  return {values, mask};
}

}  // namespace

Tensor sparse_categorical_crossentropy(const Tensor& y, const Tensor& p, const SparseCrossentropyOptions& o) {
  return sparse_crossentropy(y, p, o).first;
}

Tensor binary_focal_crossentropy(const Tensor& given, const Tensor& given_pred, const FocalOptions& o) {
  const Tensor y = smoothed_binary(as_type(given, given_pred.dtype()), o.label_smoothing), p = o.from_logits ? sigmoid(given_pred) : given_pred;
  const Tensor one = number_like(p, 1);
  const Tensor entropy = elementwise_binary_crossentropy(y, p, false), hit = y * p + (one - y) * (one - p);
  Tensor focal = pow(one - hit, number_like(p, o.gamma)) * entropy;
  if (o.apply_class_balancing) focal = (times(y, o.alpha) + times(one - y, 1 - o.alpha)) * focal;
  return reduce_op(raw::Mean, focal, {o.axis});
}

Tensor categorical_focal_crossentropy(const Tensor& given, const Tensor& given_pred, const FocalOptions& o) {
  const Tensor y = smoothed_classes(as_type(given, given_pred.dtype()), o.label_smoothing);
  if (o.from_logits && last_axis(o.axis, given_pred) != -1)
    throw Error(Code::kUnimplemented, "categorical_focal_crossentropy of logits on another axis than the last");
  Tensor p = o.from_logits ? softmax(given_pred) : given_pred;
  p = clip(p / reduce_op(raw::Sum, p, {o.axis}, true), kEpsilon, 1 - kEpsilon);
  const Tensor factor = times(pow(minus_from(1, p), number_like(p, o.gamma)), o.alpha);
  return reduce_op(raw::Sum, factor * (-y * log(p)), {o.axis});
}

Tensor dice(const Tensor& given, const Tensor& p) {
  const Tensor y = as_type(given, p.dtype());
  return minus_from(1, times(sum_all(y * p), 2) / plus(sum_all(y) + sum_all(p), kEpsilon));
}
Tensor tversky(const Tensor& given, const Tensor& p, double alpha, double beta) {
  const Tensor y = as_type(given, p.dtype());
  const Tensor both = sum_all(y * p), only_true = sum_all(minus_from(1, p) * y), only_pred = sum_all(p * minus_from(1, y));
  return minus_from(1, both / plus(both + times(only_true, alpha) + times(only_pred, beta), kEpsilon));
}

// TensorFlow's op takes the last class for the blank and labels as a sparse matrix.
Tensor ctc(const Tensor& given, const Tensor& given_pred) {
  if (rank_of(given) != 2)
    throw Error(Code::kInvalidArgument, "Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in integer format.");
  if (rank_of(given_pred) != 3)
    throw Error(Code::kInvalidArgument, "Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, num_classes)`.");
  const Tensor y = as_type(given, DType::int32), p = as_type(given_pred, DType::float32), zero(int32_t(0)), one(int32_t(1));
  const Tensor shape = shape_of(p), batch = gather(shape, Tensor(int32_t(0))), steps = gather(shape, one);
  const Tensor lengths = reduce_op(raw::Sum, cast(y != zero, DType::int32), {-1}, true);
  const Tensor positions = expand_dims(range(zero, gather(shape_of(y), one), one), 0);
  const Tensor indices = raw::Where(positions < lengths);
  const Tensor labels = raw::GatherNd(y, indices) - one;
  const Tensor blank = raw::Slice(p, int_list({0, 0, 0}), int_list({-1, -1, 1}));
  const Tensor rest = raw::Slice(p, int_list({0, 0, 1}), int_list({-1, -1, -1}));
  const Tensor logits = transpose(concat({rest, blank}, 2), {1, 0, 2});
  const Tensor times = raw::Fill(expand_dims(batch, 0), steps);
  return as_type(raw::CTCLoss(logits, indices, labels, times).loss, given_pred.dtype());
}

namespace {

std::string named(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : name; }

}  // namespace

#define WEFT_PLAIN_LOSS(Class, function, label) \
  Class::Class(const LossOptions& o) : Loss(Function(function), named(o.name, label), o.reduction) {}
WEFT_PLAIN_LOSS(MeanSquaredError, mean_squared_error, "mean_squared_error")
WEFT_PLAIN_LOSS(MeanAbsoluteError, mean_absolute_error, "mean_absolute_error")
WEFT_PLAIN_LOSS(MeanAbsolutePercentageError, mean_absolute_percentage_error, "mean_absolute_percentage_error")
WEFT_PLAIN_LOSS(MeanSquaredLogarithmicError, mean_squared_logarithmic_error, "mean_squared_logarithmic_error")
WEFT_PLAIN_LOSS(LogCosh, log_cosh, "log_cosh")
WEFT_PLAIN_LOSS(KLDivergence, kl_divergence, "kl_divergence")
WEFT_PLAIN_LOSS(Poisson, poisson, "poisson")
WEFT_PLAIN_LOSS(Hinge, hinge, "hinge")
WEFT_PLAIN_LOSS(SquaredHinge, squared_hinge, "squared_hinge")
WEFT_PLAIN_LOSS(CategoricalHinge, categorical_hinge, "categorical_hinge")
WEFT_PLAIN_LOSS(Dice, dice, "dice")
#undef WEFT_PLAIN_LOSS

CTC::CTC(const LossOptions& o)
    : Loss([](const Tensor& y, const Tensor& p) { return Values{ctc(y, p), {}}; }, named(o.name, "ctc"), o.reduction, Labels::kept) {}
Huber::Huber(const HuberOptions& o)
    : Loss([d = o.delta](const Tensor& y, const Tensor& p) { return huber(y, p, d); }, named(o.name, "huber_loss"), o.reduction) {}
CosineSimilarity::CosineSimilarity(const CosineSimilarityOptions& o)
    : Loss([a = o.axis](const Tensor& y, const Tensor& p) { return cosine_similarity(y, p, a); }, named(o.name, "cosine_similarity"), o.reduction) {}
BinaryCrossentropy::BinaryCrossentropy(const CrossentropyLossOptions& o)
    : Loss([c = CrossentropyOptions{o.from_logits, o.label_smoothing, o.axis}](const Tensor& y,
                                                                               const Tensor& p) { return binary_crossentropy(y, p, c); },
           named(o.name, "binary_crossentropy"), o.reduction) {}
CategoricalCrossentropy::CategoricalCrossentropy(const CrossentropyLossOptions& o)
    : Loss([c = CrossentropyOptions{o.from_logits, o.label_smoothing, o.axis}](const Tensor& y,
                                                                               const Tensor& p) { return categorical_crossentropy(y, p, c); },
           named(o.name, "categorical_crossentropy"), o.reduction) {}
SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const SparseCrossentropyLossOptions& o)
    : Loss(
          [c = SparseCrossentropyOptions{o.from_logits, o.ignore_class}](const Tensor& y, const Tensor& p) {
            auto [values, mask] = sparse_crossentropy(y, p, c);
            return Values{values, mask};
          },
          named(o.name, "sparse_categorical_crossentropy"), o.reduction, Labels::kept) {}
BinaryFocalCrossentropy::BinaryFocalCrossentropy(const FocalLossOptions& o)
    : Loss([c = FocalOptions{o.alpha, o.gamma, o.apply_class_balancing, o.from_logits, o.label_smoothing, o.axis}](
               const Tensor& y, const Tensor& p) { return binary_focal_crossentropy(y, p, c); },
           named(o.name, "binary_focal_crossentropy"), o.reduction) {}
CategoricalFocalCrossentropy::CategoricalFocalCrossentropy(const FocalLossOptions& o)
    : Loss([c = FocalOptions{o.alpha, o.gamma, o.apply_class_balancing, o.from_logits, o.label_smoothing, o.axis}](
               const Tensor& y, const Tensor& p) { return categorical_focal_crossentropy(y, p, c); },
           named(o.name, "categorical_focal_crossentropy"), o.reduction) {}
Tversky::Tversky(const TverskyOptions& o)
    : Loss([a = o.alpha, b = o.beta](const Tensor& y, const Tensor& p) { return tversky(y, p, a, b); }, named(o.name, "tversky"), o.reduction) {}

}  // namespace losses
}  // namespace weft::nn

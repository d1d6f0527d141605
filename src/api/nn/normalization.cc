#include "weft/nn/normalization.h"

#include <algorithm>

#include "api/nn/support.h"
#include "weft/tape.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"
#include "weft/raw/nn.h"

namespace weft::nn {

using namespace detail;

namespace {

struct Moments {
  Tensor mean, variance;
};
Moments moments(const Tensor& x, const std::vector<int64_t>& axes) {
  const Tensor mean = reduce_mean(x, {.axis = axes, .keepdims = true});
  // The mean is taken as a number here: its gradient is zero in sum.
  return {mean, reduce_mean(raw::SquaredDifference(x, stop_gradient(mean)), {.axis = axes, .keepdims = true})};
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, where gamma and beta may have no value.
Tensor normalize(const Tensor& x, const Moments& m, double epsilon, const Tensor& gamma, const Tensor& beta) {
  Tensor inverse = raw::Rsqrt(m.variance + number(epsilon, x));
  if (gamma.has_value()) inverse = inverse * gamma;
  const Tensor offset = beta.has_value() ? beta - m.mean * inverse : -m.mean * inverse;
  return x * inverse + offset;
}

std::vector<int64_t> others(int rank, const std::vector<int64_t>& axes) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(i);
  return out;
}

}  // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions o) : LayerOf("BatchNormalization", o.name), o_(std::move(o)) {}

void BatchNormalization::build(const PartialShape& input) {
  const std::vector<int64_t> shape{known_dim(input, o_.axis, "a `BatchNormalization` layer")};
  if (o_.scale) gamma_ = add_weight("gamma", shape, o_.gamma_initializer, {.regularizer = o_.gamma_regularizer, .constraint = o_.gamma_constraint});
  if (o_.center) beta_ = add_weight("beta", shape, o_.beta_initializer, {.regularizer = o_.beta_regularizer, .constraint = o_.beta_constraint});
  mean_ = add_weight("moving_mean", shape, o_.moving_mean_initializer, {.trainable = false});
  variance_ = add_weight("moving_variance", shape, o_.moving_variance_initializer, {.trainable = false});
}

void BatchNormalization::move(const Tensor& mean, const Tensor& variance) const {
  const Tensor keep = number(o_.momentum, mean), take = number(1 - o_.momentum, mean);
  mean_.assign(mean_ * keep + stop_gradient(mean) * take);
  variance_.assign(variance_ * keep + stop_gradient(variance) * take);
}

Tensor BatchNormalization::call(const Tensor& x, const CallOptions& o) const {
  const int rank = rank_of(x, name());
  const int64_t axis = positive_axis(o_.axis, rank, name());
  const bool whole = x.dtype() == DType::float32 && axis == rank - 1 && (rank == 2 || rank == 4) && !o.mask.has_value();
  return whole ? fused(x, o.training && trainable()) : composed(x, axis, o);
}

Tensor BatchNormalization::fused(const Tensor& x, bool training) const {
  const PartialShape s = x.partial_shape();
  const int64_t channels = s.dims.back();
  const bool flat = s.dims.size() == 2;
  const Tensor in = flat ? reshape_like(x, {like_dim(0), 1, 1, channels}, x) : x;
  const Tensor gamma = o_.scale ? gamma_.value() : ones({channels});
  const Tensor beta = o_.center ? beta_.value() : zeros({channels});
  const Tensor none = training ? zeros({0}) : Tensor(), mean = training ? none : mean_.value(), variance = training ? none : variance_.value();
  const raw::FusedBatchNormV3Result out =
      raw::FusedBatchNormV3(in, gamma, beta, mean, variance, {.epsilon = float(o_.epsilon), .is_training = training});
  if (training) {
    // The op gives the variance of a sample (over n - 1); Keras moves that of the whole (over n).
    const Tensor n = cast(raw::Size(x), DType::float32) / number(double(channels), DType::float32);
    move(out.batch_mean, out.batch_variance * ((n - number(1, n)) / n));
  }
  return flat ? reshape_like(out.y, {like_dim(0), channels}, x) : out.y;
}

Tensor BatchNormalization::composed(const Tensor& x, int64_t axis, const CallOptions& o) const {
  const int rank = rank_of(x, name());
  std::vector<int64_t> wide(size_t(rank), 1);
  const int64_t channels = mean_.shape()[0];
  wide[size_t(axis)] = channels;
  Moments m;
  if (o.training && trainable()) {
    const std::vector<int64_t> axes = others(rank, {axis});
    if (o.mask.has_value()) {
      // Steps that do not count have no part in the mean.
      Tensor weight = cast(o.mask, x.dtype());
      for (int i = rank_of(o.mask, name()); i < rank; ++i) weight = expand_dims(weight, -1);
      const Tensor count = reduce_sum(weight, {.axis = axes, .keepdims = true}) + number(1e-7, x);
      const Tensor mean = reduce_sum(weight * x, {.axis = axes, .keepdims = true}) / count;
      const Tensor d = x - mean;
      m = {mean, reduce_sum(weight * d * d, {.axis = axes, .keepdims = true}) / count};
    } else {
      m = moments(x, axes);
    }
    move(reshape(m.mean, {channels}), reshape(m.variance, {channels}));
  } else {
    m = {reshape(mean_, wide), reshape(variance_, wide)};
  }
  return normalize(x, m, o_.epsilon, o_.scale ? reshape(gamma_, wide) : Tensor(), o_.center ? reshape(beta_, wide) : Tensor());
}

LayerNormalization::LayerNormalization(LayerNormalizationOptions o) : LayerOf("LayerNormalization", o.name), o_(std::move(o)) {
  if (o_.axis.empty()) fail(Code::kInvalidArgument, "LayerNormalization needs at least one axis");
}

void LayerNormalization::build(const PartialShape& input) {
  std::vector<int64_t> shape;
  for (int64_t a : o_.axis) shape.push_back(known_dim(input, a, "a `LayerNormalization` layer"));
  if (o_.scale) gamma_ = add_weight("gamma", shape, o_.gamma_initializer, {.regularizer = o_.gamma_regularizer, .constraint = o_.gamma_constraint});
  if (o_.center) beta_ = add_weight("beta", shape, o_.beta_initializer, {.regularizer = o_.beta_regularizer, .constraint = o_.beta_constraint});
}

Tensor LayerNormalization::call(const Tensor& x, const CallOptions&) const {
  const PartialShape s = shape_of_rank(x, 1, 100, name());
  const int rank = int(s.dims.size());
  std::vector<int64_t> axes, wide(size_t(rank), 1);
  for (int64_t a : o_.axis) {
    axes.push_back(positive_axis(a, rank, name()));
    wide[size_t(axes.back())] = s.dims[size_t(axes.back())];
  }
  const bool last = axes.size() == 1 && axes[0] == rank - 1;  // broadcasts as it is
  auto spread = [&](const Variable& v) { return last ? v.value() : reshape(v, wide); };
  return normalize(x, moments(x, axes), o_.epsilon, o_.scale ? spread(gamma_) : Tensor(), o_.center ? spread(beta_) : Tensor());
}

GroupNormalization::GroupNormalization(int64_t groups, GroupNormalizationOptions o)
    : LayerOf("GroupNormalization", o.name), groups_(groups), o_(std::move(o)) {}

void GroupNormalization::build(const PartialShape& input) {
  const int64_t channels = known_dim(input, o_.axis, "a `GroupNormalization` layer");
  if (groups_ == -1) groups_ = channels;
  if (groups_ <= 0 || channels < groups_ || channels % groups_) {
    fail(Code::kInvalidArgument, "The number of groups must be a multiple of the number of channels. Received: groups=" + std::to_string(groups_) +
                                     ", channels=" + std::to_string(channels) + ".");
  }
  if (o_.scale)
    gamma_ = add_weight("gamma", {channels}, o_.gamma_initializer, {.regularizer = o_.gamma_regularizer, .constraint = o_.gamma_constraint});
  if (o_.center) beta_ = add_weight("beta", {channels}, o_.beta_initializer, {.regularizer = o_.beta_regularizer, .constraint = o_.beta_constraint});
}

Tensor GroupNormalization::call(const Tensor& x, const CallOptions&) const {
  const PartialShape s = shape_of_rank(x, 2, 100, name());
  const int rank = int(s.dims.size());
  const int64_t axis = positive_axis(o_.axis, rank, name());
  const int64_t channels = s.dims[size_t(axis)];
  // The channels apart as [groups, channels / groups]; all but the batch and the group are normalised together.
  std::vector<int64_t> grouped, wide(size_t(rank) + 1, 1), axes, whole;
  for (int64_t i = 0; i < rank; ++i) {
    whole.push_back(like_dim(i));
    if (i != axis) {
      grouped.push_back(like_dim(i));
      continue;
    }
    grouped.push_back(groups_);
    grouped.push_back(channels / groups_);
    wide[size_t(i)] = groups_;
    wide[size_t(i) + 1] = channels / groups_;
  }
  for (int64_t i = 1; i <= rank; ++i)
    if (i != axis) axes.push_back(i);
  const Tensor g = reshape_like(x, grouped, x);
  const Tensor y =
      normalize(g, moments(g, axes), o_.epsilon, o_.scale ? reshape(gamma_, wide) : Tensor(), o_.center ? reshape(beta_, wide) : Tensor());
  return reshape_like(y, whole, x);
}

UnitNormalization::UnitNormalization(std::vector<int64_t> axis, const std::string& name)
    : LayerOf("UnitNormalization", name), axis_(std::move(axis)) {}
Tensor UnitNormalization::call(const Tensor& x, const CallOptions&) const {
  const Tensor squares = reduce_sum(square(x), {.axis = axis_, .keepdims = true});
  return x * raw::Rsqrt(maximum(squares, number(1e-12, x)));
}

Normalization::Normalization(NormalizationOptions o) : LayerOf("Normalization", o.name), o_(std::move(o)) {
  if (o_.mean.empty() != o_.variance.empty()) {
    fail(Code::kInvalidArgument, "When setting values directly, both `mean` and `variance` must be set.");
  }
}

std::vector<int64_t> Normalization::broadcast_shape(int rank, const std::vector<int64_t>& sizes) const {
  std::vector<int64_t> wide(size_t(rank), 1);
  std::vector<int64_t> kept;
  for (int64_t a : o_.axis) kept.push_back(positive_axis(a, rank, name()));
  std::sort(kept.begin(), kept.end());
  for (size_t i = 0; i < kept.size(); ++i) wide[size_t(kept[i])] = sizes[i];
  return wide;
}

void Normalization::build(const PartialShape& input) {
  if (!o_.mean.empty()) return;
  std::vector<int64_t> kept, shape;
  for (int64_t a : o_.axis) kept.push_back(positive_axis(a, int(input.dims.size()), name()));
  std::sort(kept.begin(), kept.end());
  for (int64_t a : kept) shape.push_back(known_dim(input, a, "a `Normalization` layer"));
  mean_ = add_weight("mean", shape, "zeros", {.trainable = false, .attribute = "adapt_mean"});
  variance_ = add_weight("variance", shape, "ones", {.trainable = false, .attribute = "adapt_variance"});
  count_ = add_weight("count", {}, "zeros", {.trainable = false, .dtype = DType::int32});
}

void Normalization::adapt(const Tensor& data) {
  if (!o_.mean.empty()) fail(Code::kInvalidArgument, "this Normalization was given its mean and variance; it has nothing to learn");
  const Tensor x = data.dtype() == dtype() ? data : cast(data, dtype());
  if (!built()) (*this)(x);
  const int rank = x.rank();
  std::vector<int64_t> kept;
  for (int64_t a : o_.axis) kept.push_back(positive_axis(a, rank, name()));
  const Moments m = moments(x, others(rank, kept));
  mean_.assign(reshape(m.mean, mean_.shape()));
  variance_.assign(reshape(m.variance, variance_.shape()));
}

Tensor Normalization::call(const Tensor& in, const CallOptions&) const {
  const Tensor x = in.dtype() == dtype() ? in : cast(in, dtype());
  const int rank = rank_of(x, name());
  Tensor mean, variance;
  if (o_.mean.empty()) {
    const std::vector<int64_t> wide = broadcast_shape(rank, mean_.shape());
    mean = reshape(mean_, wide);
    variance = reshape(variance_, wide);
  } else {
    auto given = [&](const std::vector<float>& v) {
      const Tensor t = Tensor::of<float>({int64_t(v.size())}, std::span<const float>(v));
      return cast(v.size() == 1 ? reshape(t, {}) : o_.axis.size() == 1 ? reshape(t, broadcast_shape(rank, {int64_t(v.size())})) : t, dtype());
    };
    mean = given(o_.mean);
    variance = given(o_.variance);
  }
  const Tensor deviation = maximum(weft::sqrt(variance), number(1e-7, x));
  return o_.invert ? x * deviation + mean : (x - mean) / deviation;
}

}  // namespace weft::nn

#include "weft/nn/core.h"

#include <algorithm>

#include "api/nn/support.h"
#include "weft/raw/array.h"

namespace weft::nn {

using namespace detail;

Dense::Dense(int64_t units, DenseOptions o) : LayerOf("Dense", o.name), units_(units), o_(std::move(o)) {
  if (units_ <= 0)
    fail(Code::kInvalidArgument, "Received an invalid value for `units`, expected a positive integer. Received: units=" + std::to_string(units_));
  if (o_.activity_regularizer) set_activity_regularizer(o_.activity_regularizer);
}
Dense::Dense(int64_t units, Activation activation) : Dense(units, DenseOptions{.activation = std::move(activation)}) {}

void Dense::build(const PartialShape& input) {
  in_ = known_dim(input, -1, "a `Dense` layer");
  kernel_ = add_weight("kernel", {in_, units_}, o_.kernel_initializer,
                       {.regularizer = o_.kernel_regularizer, .constraint = o_.kernel_constraint, .attribute = "_kernel"});
  if (o_.use_bias) bias_ = add_weight("bias", {units_}, o_.bias_initializer, {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
}

Tensor Dense::call(const Tensor& x, const CallOptions&) const {
  check_last(x, in_, name());
  Tensor y = matmul_last(x, kernel_);
  if (o_.use_bias) y = bias_add(y, bias_);
  return o_.activation(y);
}

Embedding::Embedding(int64_t input_dim, int64_t output_dim, EmbeddingOptions o)
    : LayerOf("Embedding", o.name), input_dim_(input_dim), output_dim_(output_dim), o_(std::move(o)) {}

void Embedding::build(const PartialShape&) {
  embeddings_ = add_weight("embeddings", {input_dim_, output_dim_}, o_.embeddings_initializer,
                           {.regularizer = o_.embeddings_regularizer, .constraint = o_.embeddings_constraint, .attribute = "_embeddings"});
}

Tensor Embedding::call(const Tensor& x, const CallOptions&) const {
  const bool is_index = x.dtype() == DType::int32 || x.dtype() == DType::int64;
  return embeddings_.sparse_read(is_index ? x : cast(x, DType::int32));
}

Tensor Embedding::compute_mask(const Tensor& x, const Tensor&) const { return o_.mask_zero && x.has_value() ? x != number(0, x) : Tensor(); }

Dropout::Dropout(double rate, DropoutOptions o) : Dropout("Dropout", rate, std::move(o)) {}
Dropout::Dropout(const std::string& type, double rate, DropoutOptions o) : LayerOf(type, o.name), rate_(rate), o_(std::move(o)) {
  if (!(rate >= 0 && rate <= 1)) {
    fail(Code::kInvalidArgument,
         "Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: rate=" + std::to_string(rate));
  }
}

void Dropout::build(const PartialShape&) {
  if (rate_ > 0 && rate_ < 1) seed_ = add_seed(o_.seed);
}

Tensor Dropout::call(const Tensor& x, const CallOptions& o) const {
  if (!o.training || rate_ == 0) return x;
  if (rate_ == 1) return raw::ZerosLike(x);
  Tensor shape;
  if (o_.noise_shape.empty()) {
    shape = x.is_symbolic() ? raw::Shape(x) : ints(x.shape());
  } else {
    std::vector<int64_t> dims = o_.noise_shape;
    if (int(dims.size()) != rank_of(x, "Dropout")) fail(Code::kInvalidArgument, "the noise_shape of Dropout has another rank than its input");
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = dims[i] < 0 ? like_dim(int64_t(i)) : dims[i];
    shape = shape_like(dims, x);
  }
  const Tensor keep = random_uniform(shape, next_seed(seed_), x.dtype()) >= number(rate_, x);
  return where(keep, x * number(1 / (1 - rate_), x), number(0, x));
}

SpatialDropout1D::SpatialDropout1D(double rate, NoiseOptions o) : LayerOf("SpatialDropout1D", rate, DropoutOptions{{-1, 1, -1}, o.seed, o.name}) {}
SpatialDropout2D::SpatialDropout2D(double rate, NoiseOptions o) : LayerOf("SpatialDropout2D", rate, DropoutOptions{{-1, 1, 1, -1}, o.seed, o.name}) {}
SpatialDropout3D::SpatialDropout3D(double rate, NoiseOptions o)
    : LayerOf("SpatialDropout3D", rate, DropoutOptions{{-1, 1, 1, 1, -1}, o.seed, o.name}) {}

GaussianNoise::GaussianNoise(double stddev, NoiseOptions o) : LayerOf("GaussianNoise", o.name), stddev_(stddev), o_(std::move(o)) {
  if (stddev < 0)
    fail(Code::kInvalidArgument,
         "Invalid value received for argument `stddev`. Expected a float value between 0 and 1. Received: stddev=" + std::to_string(stddev));
}
void GaussianNoise::build(const PartialShape&) {
  if (stddev_ > 0) seed_ = add_seed(o_.seed);
}
Tensor GaussianNoise::call(const Tensor& x, const CallOptions& o) const {
  if (!o.training || stddev_ == 0) return x;
  const Tensor shape = x.is_symbolic() ? raw::Shape(x) : ints(x.shape());
  return x + random_normal(shape, next_seed(seed_), x.dtype()) * number(stddev_, x);
}

Lambda::Lambda(std::function<Tensor(const Tensor&)> f, const std::string& name) : Lambda("Lambda", std::move(f), name) {}
Lambda::Lambda(const std::string& type, std::function<Tensor(const Tensor&)> f, const std::string& name) : LayerOf(type, name), f_(std::move(f)) {}
Tensor Lambda::call(const Tensor& x, const CallOptions&) const { return f_(x); }

ActivationLayer::ActivationLayer(Activation activation, const std::string& name)
    : LayerOf("Activation", [activation](const Tensor& x) { return activation(x); }, name) {}
ReLU::ReLU(ReluOptions o, const std::string& name) : LayerOf("ReLU", [o](const Tensor& x) { return activations::relu(x, o); }, name) {}
LeakyReLU::LeakyReLU(double slope, const std::string& name)
    : LayerOf("LeakyReLU", [slope](const Tensor& x) { return activations::leaky_relu(x, slope); }, name) {}
ELU::ELU(double alpha, const std::string& name) : LayerOf("ELU", [alpha](const Tensor& x) { return activations::elu(x, alpha); }, name) {}

Softmax::Softmax(int64_t axis, const std::string& name) : LayerOf("Softmax", name), axis_(axis) {}
Tensor Softmax::call(const Tensor& x, const CallOptions& o) const {
  if (!o.mask.has_value()) return activations::softmax(x, axis_);
  const double large = x.dtype() == DType::float16 ? -3e4 : -1e9;
  const Tensor keep = cast(o.mask, x.dtype());
  return activations::softmax(x + (number(1, x) - keep) * number(large, x), axis_) * keep;
}

PReLU::PReLU(PReLUOptions o) : LayerOf("PReLU", o.name), o_(std::move(o)) {}
void PReLU::build(const PartialShape& input) {
  if (!input.known_rank) fail(Code::kInvalidArgument, "PReLU cannot be built for an input of unknown rank");
  std::vector<int64_t> shape;
  for (size_t i = 1; i < input.dims.size(); ++i) {
    const bool shared = std::find(o_.shared_axes.begin(), o_.shared_axes.end(), int64_t(i)) != o_.shared_axes.end();
    shape.push_back(shared ? 1 : known_dim(input, int64_t(i), "a `PReLU` layer"));
  }
  alpha_ = add_weight("alpha", shape, o_.alpha_initializer, {.regularizer = o_.alpha_regularizer, .constraint = o_.alpha_constraint});
}
Tensor PReLU::call(const Tensor& x, const CallOptions&) const { return relu(x) - alpha_ * relu(-x); }

Flatten::Flatten(const std::string& name) : LayerOf("Flatten", name) {}
Tensor Flatten::call(const Tensor& x, const CallOptions&) const {
  const PartialShape s = x.partial_shape();
  int64_t rest = 1;
  bool known = s.known_rank;
  for (size_t i = 1; i < s.dims.size(); ++i) {
    if (s.dims[i] < 0) known = false;
    else rest *= s.dims[i];
  }
  if (known) return reshape_like(x, {like_dim(0), rest}, x);
  return raw::Reshape(x, stack({size_along(x, 0), Tensor(int32_t(-1))}));
}

Reshape::Reshape(std::vector<int64_t> target_shape, const std::string& name) : LayerOf("Reshape", name), target_(std::move(target_shape)) {}
Tensor Reshape::call(const Tensor& x, const CallOptions&) const {
  std::vector<int64_t> dims = target_;
  dims.insert(dims.begin(), like_dim(0));
  const PartialShape s = x.partial_shape();
  auto rest = std::find(dims.begin(), dims.end(), -1);
  // With the sizes known, what -1 stands for is too, and the batch may be the one that is open.
  if (rest != dims.end() && s.known_rank && std::all_of(s.dims.begin() + 1, s.dims.end(), [](int64_t d) { return d >= 0; })) {
    int64_t have = 1, want = 1;
    for (size_t i = 1; i < s.dims.size(); ++i) have *= s.dims[i];
    for (int64_t d : dims) want *= d > 0 ? d : 1;
    if (want > 0 && have % want == 0) *rest = have / want;
  }
  return reshape_like(x, std::move(dims), x);
}

Permute::Permute(std::vector<int64_t> dims, const std::string& name) : LayerOf("Permute", name), perm_(std::move(dims)) {
  std::vector<int64_t> sorted = perm_;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int64_t(i) + 1)
      fail(Code::kInvalidArgument,
           "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be consecutive and start from 1.");
  perm_.insert(perm_.begin(), 0);
}
Tensor Permute::call(const Tensor& x, const CallOptions&) const { return transpose(x, perm_); }

RepeatVector::RepeatVector(int64_t n, const std::string& name) : LayerOf("RepeatVector", name), n_(n) {}
Tensor RepeatVector::call(const Tensor& x, const CallOptions&) const {
  shape_of_rank(x, 2, 2, name());
  return raw::Tile(expand_dims(x, 1), ints32({1, n_, 1}));
}

Masking::Masking(double mask_value, const std::string& name) : LayerOf("Masking", name), mask_value_(mask_value) {}
Tensor Masking::call(const Tensor& x, const CallOptions&) const {
  return x * cast(reduce_any(x != number(mask_value_, x), {.axis = {-1}, .keepdims = true}), x.dtype());
}
Tensor Masking::compute_mask(const Tensor& x, const Tensor&) const {
  return x.has_value() ? reduce_any(x != number(mask_value_, x), {.axis = {-1}}) : Tensor();
}

Rescaling::Rescaling(double scale, double offset, const std::string& name) : LayerOf("Rescaling", name), scale_(scale), offset_(offset) {}
Tensor Rescaling::call(const Tensor& x, const CallOptions&) const {
  const Tensor f = x.dtype() == dtype() ? x : cast(x, dtype());
  return f * number(scale_, f) + number(offset_, f);
}

}  // namespace weft::nn

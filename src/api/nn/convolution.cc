#include "weft/nn/convolution.h"

#include "api/nn/spatial.h"
#include "api/nn/support.h"
#include "weft/raw/array.h"
#include "weft/raw/nn.h"

namespace weft::nn {

using namespace detail;

namespace detail {

std::vector<int64_t> spread(const Extent& e, int rank, const std::string& who, const char* what) {
  std::vector<int64_t> d = e.dims();
  if (d.size() == 1) d.assign(size_t(rank), d[0]);
  bool good = int(d.size()) == rank;
  for (int64_t v : d) good = good && v > 0;
  if (!good)
    fail(Code::kInvalidArgument,
         "The `" + std::string(what) + "` of " + who + " must be a positive integer, or " + std::to_string(rank) + " of them");
  return d;
}

std::string padding_attr(const std::string& padding, bool causal, const std::string& who) {
  if (padding == "valid") return "VALID";
  if (padding == "same") return "SAME";
  if (padding == "causal" && causal) return "VALID";
  fail(Code::kInvalidArgument, "The `padding` of " + who + " must be 'valid' or 'same'" + (causal ? ", or 'causal'" : "") + ". Received: " + padding);
}

std::vector<int64_t> with_batch(std::vector<int64_t> d) {
  if (d.size() == 1) d.insert(d.begin(), 1);  // one dimension is two, the first of size 1
  d.insert(d.begin(), 1);
  d.push_back(1);
  return d;
}

Tensor convolve(const Tensor& x, const Tensor& kernel, const std::vector<int64_t>& strides, const std::string& padding,
                const std::vector<int64_t>& dilations) {
  if (strides.size() == 1) return squeeze(convolve(expand_dims(x, 1), expand_dims(kernel, 0), {1, strides[0]}, padding, {1, dilations[0]}), {1});
  if (strides.size() == 3) return raw::Conv3D(x, kernel, with_batch(strides), padding, {.dilations = with_batch(dilations)});
  return raw::Conv2D(x, kernel, with_batch(strides), padding, {.dilations = with_batch(dilations)});
}

Tensor depthwise(const Tensor& x, const Tensor& kernel, const std::vector<int64_t>& strides, const std::string& padding,
                 const std::vector<int64_t>& dilations) {
  if (strides.size() == 1) {
    // The op wants equal strides; along the axis of size 1 any will do.
    return squeeze(depthwise(expand_dims(x, 1), expand_dims(kernel, 0), {strides[0], strides[0]}, padding, {1, dilations[0]}), {1});
  }
  return raw::DepthwiseConv2dNative(x, kernel, with_batch(strides), padding, {.dilations = with_batch(dilations)});
}

}  // namespace detail

Conv::Conv(const std::string& type, int rank, int64_t filters, const Extent& kernel_size, ConvOptions o)
    : Layer(type, o.name),
      rank_(rank),
      filters_(filters),
      size_(spread(kernel_size, rank, type, "kernel_size")),
      strides_(spread(o.strides, rank, type, "strides")),
      dilations_(spread(o.dilation_rate, rank, type, "dilation_rate")),
      o_(std::move(o)) {
  padding_attr(o_.padding, rank == 1, type);
  if (filters <= 0)
    fail(Code::kInvalidArgument,
         "Invalid value for argument `filters`. Expected a strictly positive value. Received filters=" + std::to_string(filters) + ".");
  if (o_.groups <= 0 || filters % o_.groups) {
    fail(Code::kInvalidArgument, "The number of filters must be evenly divisible by the number of groups. Received: groups=" +
                                     std::to_string(o_.groups) + ", filters=" + std::to_string(filters) + ".");
  }
  if (o_.activity_regularizer) set_activity_regularizer(o_.activity_regularizer);
}

void Conv::build(const PartialShape& input) {
  const int64_t in = in_ = known_dim(input, -1, name());
  if (in % o_.groups)
    fail(Code::kInvalidArgument, "The number of input channels must be evenly divisible by the number of groups. Received groups=" +
                                     std::to_string(o_.groups) + ", but the input has " + std::to_string(in) + " channels.");
  std::vector<int64_t> shape = size_;
  shape.push_back(in / o_.groups);
  shape.push_back(filters_);
  kernel_ = add_weight("kernel", shape, o_.kernel_initializer,
                       {.regularizer = o_.kernel_regularizer, .constraint = o_.kernel_constraint, .attribute = "_kernel"});
  if (o_.use_bias)
    bias_ = add_weight("bias", {filters_}, o_.bias_initializer, {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
}

Tensor Conv::call(const Tensor& x, const CallOptions&) const {
  if (rank_of(x, name()) != rank_ + 2) shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  check_last(x, in_, name());
  Tensor in = x;
  if (o_.padding == "causal") in = raw::Pad(x, Tensor::of<int32_t>({3, 2}, {0, 0, int32_t(dilations_[0] * (size_[0] - 1)), 0, 0, 0}));
  Tensor y = convolve(in, kernel_, strides_, padding_attr(o_.padding, true, name()), dilations_);
  if (o_.use_bias) y = bias_add(y, bias_);
  return o_.activation(y);
}

ConvTranspose::ConvTranspose(const std::string& type, int rank, int64_t filters, const Extent& kernel_size, ConvTransposeOptions o)
    : Layer(type, o.name),
      rank_(rank),
      filters_(filters),
      size_(spread(kernel_size, rank, type, "kernel_size")),
      strides_(spread(o.strides, rank, type, "strides")),
      dilations_(spread(o.dilation_rate, rank, type, "dilation_rate")),
      output_padding_(o.output_padding.dims()),
      o_(std::move(o)) {
  padding_attr(o_.padding, false, type);
  if (output_padding_.size() == 1) output_padding_.assign(size_t(rank), output_padding_[0]);
  if (!output_padding_.empty() && int(output_padding_.size()) != rank)
    fail(Code::kInvalidArgument, "The `output_padding` of " + type + " must be an integer, or one for each dimension");
  if (filters <= 0)
    fail(Code::kInvalidArgument,
         "Invalid value for argument `filters`. Expected a strictly positive value. Received filters=" + std::to_string(filters) + ".");
  if (o_.activity_regularizer) set_activity_regularizer(o_.activity_regularizer);
}

void ConvTranspose::build(const PartialShape& input) {
  std::vector<int64_t> shape = size_;
  shape.push_back(filters_);
  shape.push_back(known_dim(input, -1, name()));
  kernel_ = add_weight("kernel", shape, o_.kernel_initializer, {.regularizer = o_.kernel_regularizer, .constraint = o_.kernel_constraint});
  if (o_.use_bias)
    bias_ = add_weight("bias", {filters_}, o_.bias_initializer, {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
}

int64_t ConvTranspose::output_size(int64_t in, size_t i) const {
  const int64_t k = (size_[i] - 1) * dilations_[i] + 1;
  const bool same = o_.padding == "same";
  if (output_padding_.empty()) return same ? in * strides_[i] : in * strides_[i] + std::max<int64_t>(k - strides_[i], 0);
  return (in - 1) * strides_[i] + k - (same ? 2 * (k / 2) : 0) + output_padding_[i];
}

Tensor ConvTranspose::call(const Tensor& x, const CallOptions&) const {
  const PartialShape s = shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  const bool one = rank_ == 1;
  std::vector<Tensor> sizes{size_along(x, 0)};
  if (one) sizes.push_back(Tensor(int32_t(1)));
  for (int i = 0; i < rank_; ++i) {
    const int64_t in = s.dims[size_t(i) + 1];
    if (in >= 0) {
      sizes.push_back(Tensor(int32_t(output_size(in, size_t(i)))));
    } else {
      // A line in the size of the input: what it is at none, and the stride.
      const auto at_zero = int32_t(output_size(0, size_t(i)));
      sizes.push_back(size_along(x, i + 1) * Tensor(int32_t(strides_[size_t(i)])) + Tensor(at_zero));
    }
  }
  sizes.push_back(Tensor(int32_t(filters_)));
  std::vector<int64_t> strides = strides_, dilations = dilations_;
  if (one) {
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
  }
  const Tensor kernel = kernel_;
  const Tensor filter = one ? expand_dims(kernel, 0) : kernel, from = one ? expand_dims(x, 1) : x;
  const std::string padding = padding_attr(o_.padding, false, name());
  Tensor y = rank_ == 3 ? raw::Conv3DBackpropInputV2(stack(sizes), filter, from, with_batch(strides), padding, {.dilations = with_batch(dilations)})
                        : raw::Conv2DBackpropInput(stack(sizes), filter, from, with_batch(strides), padding, {.dilations = with_batch(dilations)});
  if (one) y = squeeze(y, {1});
  if (o_.use_bias) y = bias_add(y, bias_);
  return o_.activation(y);
}

DepthwiseConv::DepthwiseConv(const std::string& type, int rank, const Extent& kernel_size, DepthwiseConvOptions o)
    : Layer(type, o.name),
      rank_(rank),
      size_(spread(kernel_size, rank, type, "kernel_size")),
      strides_(spread(o.strides, rank, type, "strides")),
      dilations_(spread(o.dilation_rate, rank, type, "dilation_rate")),
      o_(std::move(o)) {
  padding_attr(o_.padding, false, type);
  if (o_.activity_regularizer) set_activity_regularizer(o_.activity_regularizer);
}

void DepthwiseConv::build(const PartialShape& input) {
  const int64_t in = known_dim(input, -1, name());
  std::vector<int64_t> shape = size_;
  shape.push_back(in);
  shape.push_back(o_.depth_multiplier);
  kernel_ = add_weight("kernel", shape, o_.depthwise_initializer, {.regularizer = o_.depthwise_regularizer, .constraint = o_.depthwise_constraint});
  if (o_.use_bias)
    bias_ =
        add_weight("bias", {in * o_.depth_multiplier}, o_.bias_initializer, {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
}

Tensor DepthwiseConv::call(const Tensor& x, const CallOptions&) const {
  if (rank_of(x, name()) != rank_ + 2) shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  Tensor y = depthwise(x, kernel_, strides_, padding_attr(o_.padding, false, name()), dilations_);
  if (o_.use_bias) y = bias_add(y, bias_);
  return o_.activation(y);
}

SeparableConv::SeparableConv(const std::string& type, int rank, int64_t filters, const Extent& kernel_size, SeparableConvOptions o)
    : Layer(type, o.name),
      rank_(rank),
      filters_(filters),
      size_(spread(kernel_size, rank, type, "kernel_size")),
      strides_(spread(o.strides, rank, type, "strides")),
      dilations_(spread(o.dilation_rate, rank, type, "dilation_rate")),
      o_(std::move(o)) {
  padding_attr(o_.padding, false, type);
  if (o_.activity_regularizer) set_activity_regularizer(o_.activity_regularizer);
}

void SeparableConv::build(const PartialShape& input) {
  const int64_t in = known_dim(input, -1, name());
  std::vector<int64_t> shape = size_;
  shape.push_back(in);
  shape.push_back(o_.depth_multiplier);
  depthwise_ = add_weight("depthwise_kernel", shape, o_.depthwise_initializer,
                          {.regularizer = o_.depthwise_regularizer, .constraint = o_.depthwise_constraint});
  std::vector<int64_t> points(size_t(rank_), 1);
  points.push_back(in * o_.depth_multiplier);
  points.push_back(filters_);
  pointwise_ = add_weight("pointwise_kernel", points, o_.pointwise_initializer,
                          {.regularizer = o_.pointwise_regularizer, .constraint = o_.pointwise_constraint});
  if (o_.use_bias)
    bias_ = add_weight("bias", {filters_}, o_.bias_initializer, {.regularizer = o_.bias_regularizer, .constraint = o_.bias_constraint});
}

Tensor SeparableConv::call(const Tensor& x, const CallOptions&) const {
  if (rank_of(x, name()) != rank_ + 2) shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  Tensor y = depthwise(x, depthwise_, strides_, padding_attr(o_.padding, false, name()), dilations_);
  const std::vector<int64_t> each(size_t(rank_), 1);
  y = convolve(y, pointwise_, each, "VALID", each);
  if (o_.use_bias) y = bias_add(y, bias_);
  return o_.activation(y);
}

Conv1D::Conv1D(int64_t filters, const Extent& kernel_size, ConvOptions o) : LayerOf("Conv1D", 1, filters, kernel_size, std::move(o)) {}
Conv2D::Conv2D(int64_t filters, const Extent& kernel_size, ConvOptions o) : LayerOf("Conv2D", 2, filters, kernel_size, std::move(o)) {}
Conv3D::Conv3D(int64_t filters, const Extent& kernel_size, ConvOptions o) : LayerOf("Conv3D", 3, filters, kernel_size, std::move(o)) {}
Conv1DTranspose::Conv1DTranspose(int64_t filters, const Extent& kernel_size, ConvTransposeOptions o)
    : LayerOf("Conv1DTranspose", 1, filters, kernel_size, std::move(o)) {}
Conv2DTranspose::Conv2DTranspose(int64_t filters, const Extent& kernel_size, ConvTransposeOptions o)
    : LayerOf("Conv2DTranspose", 2, filters, kernel_size, std::move(o)) {}
Conv3DTranspose::Conv3DTranspose(int64_t filters, const Extent& kernel_size, ConvTransposeOptions o)
    : LayerOf("Conv3DTranspose", 3, filters, kernel_size, std::move(o)) {}
DepthwiseConv1D::DepthwiseConv1D(const Extent& kernel_size, DepthwiseConvOptions o) : LayerOf("DepthwiseConv1D", 1, kernel_size, std::move(o)) {}
DepthwiseConv2D::DepthwiseConv2D(const Extent& kernel_size, DepthwiseConvOptions o) : LayerOf("DepthwiseConv2D", 2, kernel_size, std::move(o)) {}
SeparableConv1D::SeparableConv1D(int64_t filters, const Extent& kernel_size, SeparableConvOptions o)
    : LayerOf("SeparableConv1D", 1, filters, kernel_size, std::move(o)) {}
SeparableConv2D::SeparableConv2D(int64_t filters, const Extent& kernel_size, SeparableConvOptions o)
    : LayerOf("SeparableConv2D", 2, filters, kernel_size, std::move(o)) {}

}  // namespace weft::nn

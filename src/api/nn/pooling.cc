#include "api/nn/spatial.h"
#include "api/nn/support.h"
#include "weft/raw/array.h"
#include "weft/raw/image.h"
#include "weft/raw/nn.h"

namespace weft::nn {

using namespace detail;

Pooling::Pooling(const std::string& type, int rank, bool max, const Extent& pool_size, PoolingOptions o)
    : Layer(type, o.name), rank_(rank), max_(max), size_(spread(pool_size, rank, type, "pool_size")), padding_(padding_attr(o.padding, false, type)) {
  strides_ = o.strides.dims().empty() ? size_ : spread(o.strides, rank, type, "strides");
}

Tensor Pooling::call(const Tensor& x, const CallOptions&) const {
  if (rank_of(x, name()) != rank_ + 2) shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  const Tensor in = rank_ == 1 ? expand_dims(x, 1) : x;
  const auto pool = [&](auto op) { return op(in, with_batch(size_), with_batch(strides_), padding_, {}); };
  const Tensor y = rank_ == 3 ? (max_ ? pool(raw::MaxPool3D) : pool(raw::AvgPool3D)) : (max_ ? pool(raw::MaxPool) : pool(raw::AvgPool));
  return rank_ == 1 ? squeeze(y, {1}) : y;
}

GlobalPooling::GlobalPooling(const std::string& type, int rank, bool max, GlobalPoolingOptions o)
    : Layer(type, o.name), rank_(rank), max_(max), keepdims_(o.keepdims) {}

Tensor GlobalPooling::call(const Tensor& x, const CallOptions& o) const {
  if (rank_of(x, name()) != rank_ + 2) shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  std::vector<int64_t> axes;
  for (int i = 1; i <= rank_; ++i) axes.push_back(i);
  if (max_) return reduce_max(x, {.axis = axes, .keepdims = keepdims_});
  if (rank_ == 1 && o.mask.has_value()) {
    const Tensor keep = expand_dims(cast(o.mask, x.dtype()), 2);
    return reduce_sum(x * keep, {.axis = axes, .keepdims = keepdims_}) / reduce_sum(keep, {.axis = axes, .keepdims = keepdims_});
  }
  return reduce_mean(x, {.axis = axes, .keepdims = keepdims_});
}

std::vector<std::pair<int64_t, int64_t>> Margins::of(int rank) const {
  if (!pairs_.empty()) return pairs_;
  // In one dimension {1, 2} is before and after.
  if (rank == 1 && all_.size() == 2) return {{all_[0], all_[1]}};
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int i = 0; i < rank; ++i)
    out.emplace_back(all_[all_.size() == 1 ? 0 : size_t(i) % all_.size()], all_[all_.size() == 1 ? 0 : size_t(i) % all_.size()]);
  return out;
}

ZeroPadding::ZeroPadding(const std::string& type, int rank, const Margins& padding, const std::string& name)
    : Layer(type, name), padding_(padding.of(rank)) {
  if (int(padding_.size()) != rank) fail(Code::kInvalidArgument, "the padding of " + type + " must have " + std::to_string(rank) + " entries");
}

Tensor ZeroPadding::call(const Tensor& x, const CallOptions&) const {
  std::vector<int64_t> pads{0, 0};
  for (const auto& [before, after] : padding_) pads.insert(pads.end(), {before, after});
  pads.insert(pads.end(), {0, 0});
  return raw::Pad(x, Tensor::of<int64_t>({int64_t(pads.size()) / 2, 2}, std::span<const int64_t>(pads)));
}

Cropping::Cropping(const std::string& type, int rank, const Margins& cropping, const std::string& name)
    : Layer(type, name), cropping_(cropping.of(rank)) {
  if (int(cropping_.size()) != rank) fail(Code::kInvalidArgument, "the cropping of " + type + " must have " + std::to_string(rank) + " entries");
}

Tensor Cropping::call(const Tensor& x, const CallOptions&) const {
  Tensor y = x;
  for (size_t i = 0; i < cropping_.size(); ++i) {
    const auto [before, after] = cropping_[i];
    if (before || after) y = slice_axis(y, int64_t(i) + 1, before, -after);
  }
  return y;
}

UpSampling::UpSampling(const std::string& type, int rank, const Extent& size, const std::string& interpolation, const std::string& name)
    : Layer(type, name), rank_(rank), size_(spread(size, rank, type, "size")), interpolation_(interpolation) {
  if (interpolation != "nearest" && interpolation != "bilinear" && interpolation != "bicubic")
    fail(Code::kInvalidArgument,
         "`interpolation` argument should be one of \"bicubic\", \"bilinear\", \"nearest\". Received: \"" + interpolation + "\".");
}

Tensor UpSampling::call(const Tensor& x, const CallOptions&) const {
  const PartialShape s = shape_of_rank(x, rank_ + 2, rank_ + 2, name());
  if (interpolation_ != "nearest") {
    const Tensor size = stack({size_along(x, 1) * Tensor(int32_t(size_[0])), size_along(x, 2) * Tensor(int32_t(size_[1]))});
    return interpolation_ == "bilinear" ? raw::ResizeBilinear(x, size, {.half_pixel_centers = true})
                                        : raw::ResizeBicubic(x, size, {.half_pixel_centers = true});
  }
  // Each position side by side with its copies: [h, 1, w, 1, c] tiled to [h, 2, w, 2, c].
  std::vector<int64_t> apart{like_dim(0)}, times{1}, together{like_dim(0)};
  for (int i = 0; i < rank_; ++i) {
    const int64_t d = s.dims[size_t(i) + 1], n = size_[size_t(i)];
    apart.insert(apart.end(), {like_dim(i + 1), 1});
    times.insert(times.end(), {1, n});
    together.push_back(d >= 0 ? d * n : -1);
  }
  apart.push_back(like_dim(rank_ + 1));
  times.push_back(1);
  together.push_back(like_dim(rank_ + 1));
  const Tensor tiled = raw::Tile(reshape_like(x, apart, x), ints32(times));
  int open = 0;
  for (int64_t d : together) open += d == -1;
  if (open <= 1) return reshape_like(tiled, together, x);
  std::vector<Tensor> sizes{size_along(x, 0)};
  for (int i = 0; i < rank_; ++i) sizes.push_back(size_along(x, i + 1) * Tensor(int32_t(size_[size_t(i)])));
  sizes.push_back(size_along(x, rank_ + 1));
  return raw::Reshape(tiled, stack(sizes));
}

#define WEFT_POOLING(Name, rank, max)                                                                           \
  Name::Name(const Extent& pool_size, PoolingOptions o) : LayerOf(#Name, rank, max, pool_size, std::move(o)) {} \
  Global##Name::Global##Name(GlobalPoolingOptions o) : LayerOf("Global" #Name, rank, max, std::move(o)) {}
WEFT_POOLING(MaxPooling1D, 1, true)
WEFT_POOLING(MaxPooling2D, 2, true)
WEFT_POOLING(MaxPooling3D, 3, true)
WEFT_POOLING(AveragePooling1D, 1, false)
WEFT_POOLING(AveragePooling2D, 2, false)
WEFT_POOLING(AveragePooling3D, 3, false)
#define WEFT_MARGINS(rank)                                                                                                                         \
  ZeroPadding##rank##D::ZeroPadding##rank##D(const Margins& padding, MarginOptions o) : LayerOf("ZeroPadding" #rank "D", rank, padding, o.name) {} \
  Cropping##rank##D::Cropping##rank##D(const Margins& cropping, MarginOptions o) : LayerOf("Cropping" #rank "D", rank, cropping, o.name) {}
WEFT_MARGINS(1)
WEFT_MARGINS(2)
WEFT_MARGINS(3)
UpSampling1D::UpSampling1D(const Extent& size, const std::string& name) : LayerOf("UpSampling1D", 1, size, "nearest", name) {}
UpSampling2D::UpSampling2D(const Extent& size, const std::string& interpolation, const std::string& name)
    : LayerOf("UpSampling2D", 2, size, interpolation, name) {}
UpSampling3D::UpSampling3D(const Extent& size, const std::string& name) : LayerOf("UpSampling3D", 3, size, "nearest", name) {}

}  // namespace weft::nn

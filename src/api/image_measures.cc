// Differences of pixels, and measures of images.
#include <cmath>

#include "api/image_internal.h"
#include "weft/math.h"
#include "weft/raw/nn.h"

namespace weft::image {
namespace {

Tensor float_image(const Tensor& x) { return convert_image_dtype(x, DType::float32); }
// The largest value that pixels may have, in the scale of float images.
Tensor float_max(double v, DType t) { return convert_image_dtype(cast(Tensor(v), t), DType::float32); }
// One kernel for each channel.
Tensor blurred(const Tensor& x, const Tensor& kernel) { return raw::DepthwiseConv2dNative(x, kernel, {1, 1, 1, 1}, "VALID"); }

struct Pair {
  Tensor a, b, top;
  bool single;
};
Pair pair_of(const Tensor& a, const Tensor& b, double max_val, const char* who) {
  const int rank = image_rank(a, who);
  if (image_rank(b, who) != rank) fail(std::string(who) + ": both must have the same number of dimensions");
  Pair p{float_image(a), float_image(b), float_max(max_val, a.dtype()), rank == 3};
  if (p.single) {
    p.a = expand_dims(p.a, 0);
    p.b = expand_dims(p.b, 0);
  }
  return p;
}
// The similarity and its part of contrast, at each place of each channel.
struct Similarity {
  Tensor all, contrast;
};
Similarity similarity(const Tensor& x, const Tensor& y, const Tensor& top, const SsimOptions& o) {
  const PartialShape s = x.partial_shape();
  if (s.dims[3] < 0) fail("ssim: the number of channels must be known");
  for (int i : {1, 2}) {
    if (s.dims[size_t(i)] >= 0 && s.dims[size_t(i)] < o.filter_size) fail("ssim: the images are smaller than the filter");
  }
  const Tensor at = cast(range(Tensor(o.filter_size)), DType::float32) - Tensor(float(double(o.filter_size - 1) / 2));
  const Tensor row = square(at) * Tensor(float(-0.5 / (o.filter_sigma * o.filter_sigma)));
  const Tensor both = reshape(expand_dims(row, 0) + expand_dims(row, 1), {1, -1});
  const Tensor kernel = tile(reshape(softmax(both), {o.filter_size, o.filter_size, 1, 1}), {1, 1, s.dims[3], 1});
  const Tensor c1 = square(Tensor(float(o.k1)) * top), c2 = square(Tensor(float(o.k2)) * top), two(2.f);
  const Tensor mean_x = blurred(x, kernel), mean_y = blurred(y, kernel);
  const Tensor product = mean_x * mean_y * two, squares = square(mean_x) + square(mean_y);
  const Tensor light = (product + c1) / (squares + c1);
  const Tensor contrast = (blurred(x * y, kernel) * two - product + c2) / (blurred(square(x) + square(y), kernel) - squares + c2);
  return {light * contrast, contrast};
}

}  // namespace

ImageGradients image_gradients(const Tensor& images) {
  if (api::known_rank(images) != 4) fail("image_gradients expects a 4D tensor [batch_size, h, w, d]");
  const Tensor dy = images[{_, weft::slice(1, _), _, _}] - images[{_, weft::slice(_, -1), _, _}];
  const Tensor dx = images[{_, _, weft::slice(1, _), _}] - images[{_, _, weft::slice(_, -1), _}];
  return {pad(dy, {{0, 0}, {0, 1}, {0, 0}, {0, 0}}), pad(dx, {{0, 0}, {0, 0}, {0, 1}, {0, 0}})};
}
Tensor sobel_edges(const Tensor& images) {
  if (api::known_rank(images) != 4) fail("sobel_edges: a batch of images is needed");
  const std::vector<int64_t> known = images.shape();
  const Tensor filters{{{-1.f, -1.f}, {-2.f, 0.f}, {-1.f, 1.f}}, {{0.f, -2.f}, {0.f, 0.f}, {0.f, 2.f}}, {{1.f, -1.f}, {2.f, 0.f}, {1.f, 1.f}}};
  const Tensor kernel = tile(expand_dims(cast(filters, images.dtype()), 2), {1, 1, known[3], 1});
  const Tensor padded = mirror_pad(images, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, "REFLECT");
  std::vector<int64_t> wanted = known;
  wanted.push_back(2);
  return reshape(blurred(padded, kernel), wanted);
}
Tensor total_variation(const Tensor& images) {
  const int rank = image_rank(images, "total_variation");
  const Tensor dy = abs(images[{ellipsis, weft::slice(1, _), _, _}] - images[{ellipsis, weft::slice(_, -1), _, _}]);
  const Tensor dx = abs(images[{ellipsis, weft::slice(1, _), _}] - images[{ellipsis, weft::slice(_, -1), _}]);
  const ReduceOptions each{.axis = rank == 3 ? std::vector<int64_t>{} : std::vector<int64_t>{1, 2, 3}};
  return reduce_sum(dy, each) + reduce_sum(dx, each);
}
Tensor psnr(const Tensor& a, const Tensor& b, double max_val) {
  const Tensor error = reduce_mean(squared_difference(float_image(a), float_image(b)), {.axis = {-3, -2, -1}});
  const Tensor top = float_max(max_val, a.dtype());
  return Tensor(20.f) * log(top) / log(Tensor(10.f)) - Tensor(float(10 / std::log(10.))) * log(error);
}
Tensor ssim(const Tensor& a, const Tensor& b, double max_val, const SsimOptions& o) {
  const Pair p = pair_of(a, b, max_val, "ssim");
  const Tensor mean = reduce_mean(reduce_mean(similarity(p.a, p.b, p.top, o).all, {.axis = {-3, -2}}), {.axis = {-1}});
  return p.single ? mean[0] : mean;
}
Tensor ssim_multiscale(const Tensor& a, const Tensor& b, double max_val, const SsimOptions& o, const std::vector<double>& powers) {
  Pair p = pair_of(a, b, max_val, "ssim_multiscale");
  std::vector<Tensor> parts;
  std::vector<float> factors;
  for (size_t k = 0; k < powers.size(); ++k) {
    if (k) {
      for (Tensor* x : {&p.a, &p.b}) {
        const std::vector<int64_t> s = x->shape();
        if (s[1] % 2 || s[2] % 2) *x = mirror_pad(*x, {{0, 0}, {0, s[1] % 2}, {0, s[2] % 2}, {0, 0}}, "SYMMETRIC");
        *x = raw::AvgPool(*x, {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
      }
    }
    const Similarity s = similarity(p.a, p.b, p.top, o);
    parts.push_back(relu(reduce_mean(k + 1 < powers.size() ? s.contrast : s.all, {.axis = {-3, -2}})));
    factors.push_back(float(powers[k]));
  }
  const Tensor product = reduce_prod(pow(stack(parts, -1), Tensor(factors)), {.axis = {-1}});
  const Tensor mean = reduce_mean(product, {.axis = {-1}});
  return p.single ? mean[0] : mean;
}

}  // namespace weft::image

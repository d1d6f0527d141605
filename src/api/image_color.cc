// Colours, and random changes of images.
#include <cmath>

#include "api/image_internal.h"
#include "weft/control_flow.h"
#include "weft/math.h"
#include "weft/random.h"
#include "weft/raw/array.h"
#include "weft/raw/image.h"

namespace weft::image {
namespace {

Tensor number(double v, DType t) { return cast(Tensor(v), t); }
// The last dimension times a matrix.
Tensor times(const Tensor& x, const Tensor& matrix) {
  const int rank = api::known_rank(x);
  if (rank < 1) fail("images need channels as the last of a known number of dimensions");
  return tensordot(x, cast(matrix, x.dtype()), {rank - 1}, {0});
}

// Uniform numbers, of a seed of two integers or of an op's.
struct Draw {
  Tensor pair;
  int64_t seed = -1;
  Tensor operator()(std::vector<int64_t> shape, const random::UniformOptions& o) const {
    random::UniformOptions all = o;
    all.seed = seed;
    return pair.has_value() ? random::stateless_uniform(std::move(shape), pair, all) : random::uniform(std::move(shape), all);
  }
  Tensor number(double low, double high) const { return (*this)({}, {.minval = low, .maxval = high}); }
};
Draw stateless(const Tensor& seed) { return {seed, -1}; }
Draw stateful(int64_t seed) { return {{}, seed}; }

void check_around(double delta) {
  if (delta < 0) fail("max_delta must be non-negative.");
}
void check_between(double lower, double upper) {
  if (upper <= lower) fail("upper must be > lower.");
  if (lower < 0) fail("lower must be non-negative.");
}

Tensor random_flip(const Tensor& image, int axis, const Draw& draw) {
  if (image_rank(image, "random_flip") == 3)
    return cond(draw.number(0, 1) < Tensor(0.5f), [&] { return reverse(image, {axis}); }, [&] { return identity(image); });
  const int64_t batch = image.partial_shape().dims[0];
  if (batch < 0) fail("random_flip: the number of images must be known");
  const Tensor flips = cast(round(reshape(draw({batch}, {}), {-1, 1, 1, 1})), image.dtype());
  return flips * reverse(image, {axis + 1}) + (ones_like(flips) - flips) * image;
}
Tensor random_brightness(const Tensor& image, double delta, const Draw& draw) {
  check_around(delta);
  const Tensor by = draw.number(-delta, delta);
  return as_floats(image, [&](const Tensor& x) { return x + cast(by, x.dtype()); });
}
Tensor random_contrast(const Tensor& image, double lower, double upper, const Draw& draw) {
  check_between(lower, upper);
  const Tensor by = draw.number(lower, upper);
  return as_floats(image, [&](const Tensor& x) { return raw::AdjustContrastv2(x, by); });
}
Tensor random_hue(const Tensor& image, double delta, const Draw& draw) {
  if (delta > 0.5) fail("max_delta must be <= 0.5.");
  check_around(delta);
  const Tensor by = draw.number(-delta, delta);
  return as_floats(image, [&](const Tensor& x) { return raw::AdjustHue(x, by); });
}
Tensor random_saturation(const Tensor& image, double lower, double upper, const Draw& draw) {
  check_between(lower, upper);
  const Tensor by = draw.number(lower, upper);
  return as_floats(image, [&](const Tensor& x) { return raw::AdjustSaturation(x, by); });
}

Tensor with_jpeg_quality(const Tensor& image, const Tensor& quality) {
  const int64_t channels = image.partial_shape().dims.back();
  const Tensor contents = raw::EncodeJpegVariableQuality(convert_image_dtype(image, DType::uint8, true), quality);
  return convert_image_dtype(decode_jpeg(contents, channels < 0 ? 0 : channels), image.dtype(), true);
}
Tensor random_jpeg_quality(const Tensor& image, int64_t low, int64_t high, const Draw& draw) {
  if (low < 0 || high < 0 || low > 100 || high > 100) fail("jpeg encoding range must be between 0 and 100.");
  if (low >= high) fail("`min_jpeg_quality` must be less than `max_jpeg_quality`.");
  image_rank(image, "random_jpeg_quality");
  return with_jpeg_quality(image, draw({}, {.minval = double(low), .maxval = double(high), .dtype = DType::int32}));
}
Tensor random_crop(const Tensor& value, const std::vector<int64_t>& size, const Draw& draw) {
  const int rank = api::known_rank(value);
  if (rank != int(size.size())) fail("random_crop: a size for each dimension is needed");
  const PartialShape have = value.partial_shape();
  for (int i = 0; i < rank; ++i) {
    if (have.dims[size_t(i)] >= 0 && have.dims[size_t(i)] < size[size_t(i)]) fail("Need value.shape >= size");
  }
  const Tensor wanted = cast(api::ints(size), DType::int32);
  const Tensor room = shape(value) - wanted + Tensor(int32_t(1));
  const double most = double(std::numeric_limits<int32_t>::max());
  return raw::Slice(value, floormod(draw({rank}, {.minval = 0, .maxval = most, .dtype = DType::int32}), room), wanted);
}

}  // namespace

Tensor adjust_gamma(const Tensor& image, double gamma, double gain) {
  if (gamma < 0) fail("Gamma should be a non-negative real number.");
  return as_floats(image, [&](const Tensor& x) { return number(gain, x.dtype()) * pow(x, number(gamma, x.dtype())); });
}
Tensor adjust_hue(const Tensor& image, double delta) {
  if (delta < -1 || delta > 1) fail("delta must be in the interval [-1, 1]");
  return as_floats(image, [&](const Tensor& x) { return raw::AdjustHue(x, Tensor(float(delta))); });
}
Tensor adjust_saturation(const Tensor& image, double factor) {
  return as_floats(image, [&](const Tensor& x) { return raw::AdjustSaturation(x, Tensor(float(factor))); });
}
Tensor adjust_jpeg_quality(const Tensor& image, int64_t quality) {
  image_rank(image, "adjust_jpeg_quality");
  return with_jpeg_quality(image, Tensor(int32_t(quality)));
}
Tensor per_image_standardization(const Tensor& image) {
  const int rank = image_rank(image, "per_image_standardization");
  const DType from = image.dtype();
  const Tensor x = from == DType::float16 || from == DType::float64 || from == DType::bfloat16 ? image : cast(image, DType::float32);
  const Tensor count = cast(reduce_prod(shape(x)[{weft::slice(rank - 3, _)}]), x.dtype());
  const ReduceOptions each{.axis = {-1, -2, -3}, .keepdims = true};
  return (x - reduce_mean(x, each)) / maximum(reduce_std(x, each), rsqrt(count));
}
Tensor grayscale_to_rgb(const Tensor& images) {
  const int rank = api::known_rank(images);
  if (rank < 1) fail("grayscale_to_rgb: the number of dimensions must be known");
  const int64_t channels = images.partial_shape().dims.back();
  if (channels != 1 && channels != -1) fail("Last dimension of a grayscale image should be size 1.");
  std::vector<int64_t> times(size_t(rank), 1);
  times.back() = 3;
  return tile(images, times);
}
Tensor rgb_to_hsv(const Tensor& images) { return raw::RGBToHSV(images); }
Tensor hsv_to_rgb(const Tensor& images) { return raw::HSVToRGB(images); }
Tensor rgb_to_yiq(const Tensor& images) {
  return times(images, {{0.299, 0.59590059, 0.2115}, {0.587, -0.27455667, -0.52273617}, {0.114, -0.32134392, 0.31119955}});
}
Tensor yiq_to_rgb(const Tensor& images) {
  return times(images, {{1., 1., 1.}, {0.95598634, -0.27201283, -1.10674021}, {0.6208248, -0.64720424, 1.70423049}});
}
Tensor rgb_to_yuv(const Tensor& images) {
  return times(images, {{0.299, -0.14714119, 0.61497538}, {0.587, -0.28886916, -0.51496512}, {0.114, 0.43601035, -0.10001026}});
}
Tensor yuv_to_rgb(const Tensor& images) { return times(images, {{1., 1., 1.}, {0., -0.394642334, 2.03206185}, {1.13988303, -0.58062185, 0.}}); }

Tensor stateless_random_flip_left_right(const Tensor& image, const Tensor& seed) { return random_flip(image, 1, stateless(seed)); }
Tensor stateless_random_flip_up_down(const Tensor& image, const Tensor& seed) { return random_flip(image, 0, stateless(seed)); }
Tensor stateless_random_brightness(const Tensor& image, double delta, const Tensor& seed) { return random_brightness(image, delta, stateless(seed)); }
Tensor stateless_random_contrast(const Tensor& image, double lower, double upper, const Tensor& seed) {
  return random_contrast(image, lower, upper, stateless(seed));
}
Tensor stateless_random_hue(const Tensor& image, double delta, const Tensor& seed) { return random_hue(image, delta, stateless(seed)); }
Tensor stateless_random_saturation(const Tensor& image, double lower, double upper, const Tensor& seed) {
  return random_saturation(image, lower, upper, stateless(seed));
}
Tensor stateless_random_jpeg_quality(const Tensor& image, int64_t low, int64_t high, const Tensor& seed) {
  return random_jpeg_quality(image, low, high, stateless(seed));
}
Tensor stateless_random_crop(const Tensor& value, std::vector<int64_t> size, const Tensor& seed) { return random_crop(value, size, stateless(seed)); }
Tensor random_flip_left_right(const Tensor& image, int64_t seed) { return random_flip(image, 1, stateful(seed)); }
Tensor random_flip_up_down(const Tensor& image, int64_t seed) { return random_flip(image, 0, stateful(seed)); }
Tensor random_brightness(const Tensor& image, double delta, int64_t seed) { return random_brightness(image, delta, stateful(seed)); }
Tensor random_contrast(const Tensor& image, double lower, double upper, int64_t seed) { return random_contrast(image, lower, upper, stateful(seed)); }
Tensor random_hue(const Tensor& image, double delta, int64_t seed) { return random_hue(image, delta, stateful(seed)); }
Tensor random_saturation(const Tensor& image, double lower, double upper, int64_t seed) {
  return random_saturation(image, lower, upper, stateful(seed));
}
Tensor random_jpeg_quality(const Tensor& image, int64_t low, int64_t high, int64_t seed) {
  return random_jpeg_quality(image, low, high, stateful(seed));
}
Tensor random_crop(const Tensor& value, std::vector<int64_t> size, int64_t seed) { return random_crop(value, size, stateful(seed)); }

}  // namespace weft::image

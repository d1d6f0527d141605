#include "weft/image.h"

#include <cmath>

#include "api/image_internal.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/image.h"
#include "weft/strings.h"

namespace weft::image {
namespace {

bool is_float(DType t) { return t == DType::float16 || t == DType::float32 || t == DType::float64 || t == DType::bfloat16; }
double largest(DType t) {
  double low = 0, high = 0;
  if (!api::integer_limits(t, low, high)) fail("images are numbers, got " + to_string(t));
  return high;
}

}  // namespace

Tensor resize(const Tensor& images, std::pair<int64_t, int64_t> size, const ResizeOptions& o) {
  if (image_rank(images, "resize") == 3) return squeeze(resize(expand_dims(images, 0), size, o), {0});
  const Tensor wanted{int32_t(size.first), int32_t(size.second)};
  if (o.method == "nearest") return raw::ResizeNearestNeighbor(images, wanted, {.half_pixel_centers = true});
  if (o.method == "area") return raw::ResizeArea(images, wanted);
  if (o.method == "bilinear" && !o.antialias) return raw::ResizeBilinear(images, wanted, {.half_pixel_centers = true});
  if (o.method == "bicubic" && !o.antialias) return raw::ResizeBicubic(images, wanted, {.half_pixel_centers = true});
  const std::string kernel = o.method == "bilinear" ? "triangle" : o.method == "bicubic" ? "keyscubic" : o.method;
  if (kernel != "triangle" && kernel != "keyscubic" && kernel != "lanczos3" && kernel != "lanczos5" && kernel != "gaussian" &&
      kernel != "mitchellcubic")
    fail("resize method is not implemented: " + o.method);
  const Tensor had = shape(images)[{slice(1, 3)}];
  return raw::ScaleAndTranslate(images, wanted, cast(wanted, DType::float32) / cast(had, DType::float32), zeros({2}),
                                {.kernel_type = kernel, .antialias = o.antialias});
}

Tensor convert_image_dtype(const Tensor& image, DType dtype, bool saturate) {
  const DType from = image.dtype();
  const auto cast_to = [&](const Tensor& x) { return saturate ? saturate_cast(x, dtype) : cast(x, dtype); };
  if (from == dtype) return image;
  if (is_float(from) && is_float(dtype)) return cast(image, dtype);
  if (is_float(dtype)) return cast(image, dtype) * cast(Tensor(1. / largest(from)), dtype);
  const double top = largest(dtype);
  if (is_float(from)) return cast_to(image * cast(Tensor(top + 0.5), from));
  const double had = largest(from);
  if (had > top) return cast_to(floordiv(image, cast(Tensor(int64_t((had + 1) / (top + 1))), from)));
  return cast(image, dtype) * cast(Tensor(int64_t((top + 1) / (had + 1))), dtype);
}
Tensor adjust_contrast(const Tensor& images, double contrast_factor) {
  return as_floats(images, [&](const Tensor& x) { return raw::AdjustContrastv2(x, Tensor(float(contrast_factor))); });
}
Tensor adjust_brightness(const Tensor& images, double delta) {
  return as_floats(images, [&](const Tensor& x) { return x + cast(Tensor(delta), x.dtype()); });
}
Tensor rgb_to_grayscale(const Tensor& images) {
  const DType t = images.dtype();
  const Tensor grey = expand_dims(matvec(convert_image_dtype(images, DType::float32), Tensor{0.2989f, 0.5870f, 0.1140f}), -1);
  return convert_image_dtype(grey, t);
}
Tensor flip_left_right(const Tensor& images) { return reverse(images, {image_rank(images, "flip_left_right") - 2}); }
Tensor flip_up_down(const Tensor& images) { return reverse(images, {image_rank(images, "flip_up_down") - 3}); }

Tensor decode_png(const Tensor& contents, int64_t channels, DType dtype) { return raw::DecodePng(contents, {.channels = channels, .dtype = dtype}); }
Tensor decode_jpeg(const Tensor& contents, int64_t channels) { return raw::DecodeJpeg(contents, {.channels = channels}); }
Tensor decode_and_crop_jpeg(const Tensor& contents, const Tensor& window, int64_t channels) {
  return raw::DecodeAndCropJpeg(contents, cast(window, DType::int32), {.channels = channels});
}
Tensor decode_bmp(const Tensor& contents, int64_t channels) { return raw::DecodeBmp(contents, {.channels = channels}); }
Tensor decode_gif(const Tensor& contents) { return raw::DecodeGif(contents); }
Tensor decode_webp(const Tensor& contents, int64_t channels) { return raw::DecodeWebP(contents, {.channels = channels}); }
Tensor decode_image(const Tensor& contents, int64_t channels, DType dtype, bool expand_animations) {
  return raw::DecodeImage(contents, {.channels = channels, .dtype = dtype, .expand_animations = expand_animations});
}
Tensor extract_jpeg_shape(const Tensor& contents, DType dtype) { return raw::ExtractJpegShape(contents, {.output_type = dtype}); }
Tensor is_jpeg(const Tensor& contents) { return strings::substr(contents, Tensor(int32_t(0)), Tensor(int32_t(3))) == Tensor("\xff\xd8\xff"); }
Tensor encode_png(const Tensor& image) { return raw::EncodePng(image); }
Tensor encode_jpeg(const Tensor& image, int64_t quality) { return raw::EncodeJpeg(image, {.quality = quality}); }

}  // namespace weft::image

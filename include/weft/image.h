// tf.image, and the image files of tf.io. Images are [height, width, channels], with a batch in front where that is said.
#pragma once

#include <string>
#include <utility>

#include "weft/tensor.h"

namespace weft::image {

struct ResizeOptions {
  std::string method = "bilinear";  // or nearest, bicubic, area, lanczos3, lanczos5, gaussian, mitchellcubic
  bool antialias = false;
};
// Images, or a batch of them, in another height and width. The result is float32, for "nearest" of the images' own type.
WEFT_API Tensor resize(const Tensor& images, std::pair<int64_t, int64_t> size, const ResizeOptions& options = {});
// Images of another type: floats are in [0, 1], integers use their whole positive range.
WEFT_API Tensor convert_image_dtype(const Tensor& image, DType dtype, bool saturate = false);
// The distance from each channel's mean multiplied.
WEFT_API Tensor adjust_contrast(const Tensor& images, double contrast_factor);
// A number added, in the scale of float images.
WEFT_API Tensor adjust_brightness(const Tensor& images, double delta);
// One channel of grey values.
WEFT_API Tensor rgb_to_grayscale(const Tensor& images);
// Left and right exchanged.
WEFT_API Tensor flip_left_right(const Tensor& images);
// Top and bottom exchanged.
WEFT_API Tensor flip_up_down(const Tensor& images);

// The pixels of a PNG file; 0 channels: as many as it has. dtype uint8 or uint16.
WEFT_API Tensor decode_png(const Tensor& contents, int64_t channels = 0, DType dtype = DType::uint8);
// The pixels of a JPEG file.
WEFT_API Tensor decode_jpeg(const Tensor& contents, int64_t channels = 0);
// A PNG file of the pixels.
WEFT_API Tensor encode_png(const Tensor& image);
// A JPEG file of the pixels.
WEFT_API Tensor encode_jpeg(const Tensor& image, int64_t quality = 95);

}  // namespace weft::image

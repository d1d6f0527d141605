// tf.image, and the image files of tf.io. Images are [height, width, channels], with a batch in front where that is said.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

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

// The values to the power of gamma, times gain, in the scale of float images.
WEFT_API Tensor adjust_gamma(const Tensor& image, double gamma = 1, double gain = 1);
// The hue moved by delta, in [-1, 1].
WEFT_API Tensor adjust_hue(const Tensor& image, double delta);
// The saturation multiplied.
WEFT_API Tensor adjust_saturation(const Tensor& image, double saturation_factor);
// As if stored as a JPEG file of that quality.
WEFT_API Tensor adjust_jpeg_quality(const Tensor& image, int64_t jpeg_quality);
// Each image with mean 0 and deviation 1.
WEFT_API Tensor per_image_standardization(const Tensor& image);
// Grey values as three equal channels.
WEFT_API Tensor grayscale_to_rgb(const Tensor& images);
// Colours between spaces; the channels are the last dimension.
WEFT_API Tensor rgb_to_hsv(const Tensor& images);
WEFT_API Tensor hsv_to_rgb(const Tensor& images);
WEFT_API Tensor rgb_to_yiq(const Tensor& images);
WEFT_API Tensor yiq_to_rgb(const Tensor& images);
WEFT_API Tensor rgb_to_yuv(const Tensor& images);
WEFT_API Tensor yuv_to_rgb(const Tensor& images);

// Rows and columns exchanged.
WEFT_API Tensor transpose(const Tensor& image);
// Rotated k times by a right angle, counter-clockwise.
WEFT_API Tensor rot90(const Tensor& image, int64_t k = 1);
// The middle, of that fraction of the height and the width.
WEFT_API Tensor central_crop(const Tensor& image, double central_fraction);
// A part of images.
WEFT_API Tensor crop_to_bounding_box(const Tensor& image, int64_t offset_height, int64_t offset_width, int64_t target_height, int64_t target_width);
// Images in larger ones that are zero elsewhere.
WEFT_API Tensor pad_to_bounding_box(const Tensor& image, int64_t offset_height, int64_t offset_width, int64_t target_height, int64_t target_width);
// Cut or padded around the middle.
WEFT_API Tensor resize_with_crop_or_pad(const Tensor& image, int64_t target_height, int64_t target_width);
// Resized as far as fits without a change of the aspect ratio, with zeros around it.
WEFT_API Tensor resize_with_pad(const Tensor& image, int64_t target_height, int64_t target_width, const ResizeOptions& options = {});

struct CropAndResizeOptions {
  std::string method = "bilinear";  // or nearest
  double extrapolation_value = 0;   // of what is outside the image
};
// Boxes (y1, x1, y2, x2, where 1 is the image's size) of the images with these numbers, each resized.
WEFT_API Tensor crop_and_resize(const Tensor& image, const Tensor& boxes, const Tensor& box_indices, std::pair<int64_t, int64_t> crop_size,
                                const CropAndResizeOptions& options = {});
// Boxes drawn into a batch of images, in these colours in turn.
WEFT_API Tensor draw_bounding_boxes(const Tensor& images, const Tensor& boxes, const Tensor& colors);
struct GlimpseOptions {
  bool centered = true, normalized = true;
  std::string noise = "uniform";  // or gaussian, zero: what is outside the image
};
// A window of each image around a point.
WEFT_API Tensor extract_glimpse(const Tensor& images, std::pair<int64_t, int64_t> size, const Tensor& offsets, const GlimpseOptions& options = {});
// Patches of images, each as a vector in the last dimension. Sizes are of the four dimensions; padding is "VALID" or "SAME".
WEFT_API Tensor extract_patches(const Tensor& images, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                                const std::vector<int64_t>& rates, const std::string& padding);

struct NonMaxSuppressionOptions {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
};
// The numbers of the boxes with the best scores that overlap no better one.
WEFT_API Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, int64_t max_output_size, const NonMaxSuppressionOptions& options = {});
// The same, with overlaps of each box with each.
WEFT_API Tensor non_max_suppression_overlaps(const Tensor& overlaps, const Tensor& scores, int64_t max_output_size,
                                             const NonMaxSuppressionOptions& options = {});
struct PaddedBoxes {
  Tensor selected_indices, num_valid;
};
// The same, with zeros up to max_output_size, and how many are boxes.
WEFT_API PaddedBoxes non_max_suppression_padded(const Tensor& boxes, const Tensor& scores, int64_t max_output_size,
                                                const NonMaxSuppressionOptions& options = {}, bool pad_to_max_output_size = false);
struct ScoredBoxes {
  Tensor selected_indices, selected_scores;
};
// The same, where boxes that overlap a better one lose score instead, by a Gaussian of soft_nms_sigma.
WEFT_API ScoredBoxes non_max_suppression_with_scores(const Tensor& boxes, const Tensor& scores, int64_t max_output_size,
                                                     const NonMaxSuppressionOptions& options = {}, double soft_nms_sigma = 0);
struct CombinedBoxes {
  Tensor boxes, scores, classes, valid_detections;
};
struct CombinedNonMaxSuppressionOptions {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
  bool pad_per_class = false, clip_boxes = true;
};
// The best boxes of all classes, for a batch of images.
WEFT_API CombinedBoxes combined_non_max_suppression(const Tensor& boxes, const Tensor& scores, int64_t max_output_size_per_class,
                                                    int64_t max_total_size, const CombinedNonMaxSuppressionOptions& options = {});

struct DistortedBoxOptions {
  double min_object_covered = 0.1;
  std::vector<float> aspect_ratio_range = {0.75f, 1.33f}, area_range = {0.05f, 1.f};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
};
struct DistortedBox {
  Tensor begin, size, bboxes;
};
// A random part of an image that shows enough of one of the boxes: where it begins and how large it is (for slice), and as a box. Of a seed of two integers.
WEFT_API DistortedBox stateless_sample_distorted_bounding_box(const Tensor& image_size, const Tensor& bounding_boxes, const Tensor& seed,
                                                              const DistortedBoxOptions& options = {});
// The same, by the random numbers of an op; seed 0: of no known seed.
WEFT_API DistortedBox sample_distorted_bounding_box(const Tensor& image_size, const Tensor& bounding_boxes, int64_t seed = 0,
                                                    const DistortedBoxOptions& options = {});

struct ImageGradients {
  Tensor dy, dx;
};
// The differences to the next row and to the next column.
WEFT_API ImageGradients image_gradients(const Tensor& images);
// Sobel's filters; the last dimension is (dy, dx).
WEFT_API Tensor sobel_edges(const Tensor& images);
// The sum of all differences of neighbours.
WEFT_API Tensor total_variation(const Tensor& images);
// The ratio of the peak to the noise in decibels.
WEFT_API Tensor psnr(const Tensor& a, const Tensor& b, double max_val);
struct SsimOptions {
  int64_t filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
};
// The structural similarity of images.
WEFT_API Tensor ssim(const Tensor& a, const Tensor& b, double max_val, const SsimOptions& options = {});
// The same over several scales, each of half the size.
WEFT_API Tensor ssim_multiscale(const Tensor& a, const Tensor& b, double max_val, const SsimOptions& options = {},
                                const std::vector<double>& power_factors = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333});

// Changes by random numbers from a seed of two integers, always the same.
WEFT_API Tensor stateless_random_flip_left_right(const Tensor& image, const Tensor& seed);
WEFT_API Tensor stateless_random_flip_up_down(const Tensor& image, const Tensor& seed);
WEFT_API Tensor stateless_random_brightness(const Tensor& image, double max_delta, const Tensor& seed);
WEFT_API Tensor stateless_random_contrast(const Tensor& image, double lower, double upper, const Tensor& seed);
WEFT_API Tensor stateless_random_hue(const Tensor& image, double max_delta, const Tensor& seed);
WEFT_API Tensor stateless_random_saturation(const Tensor& image, double lower, double upper, const Tensor& seed);
WEFT_API Tensor stateless_random_jpeg_quality(const Tensor& image, int64_t min_jpeg_quality, int64_t max_jpeg_quality, const Tensor& seed);
WEFT_API Tensor stateless_random_crop(const Tensor& value, std::vector<int64_t> size, const Tensor& seed);
// The same, by the random numbers of ops; seed -1: as random::set_seed says.
WEFT_API Tensor random_flip_left_right(const Tensor& image, int64_t seed = -1);
WEFT_API Tensor random_flip_up_down(const Tensor& image, int64_t seed = -1);
WEFT_API Tensor random_brightness(const Tensor& image, double max_delta, int64_t seed = -1);
WEFT_API Tensor random_contrast(const Tensor& image, double lower, double upper, int64_t seed = -1);
WEFT_API Tensor random_hue(const Tensor& image, double max_delta, int64_t seed = -1);
WEFT_API Tensor random_saturation(const Tensor& image, double lower, double upper, int64_t seed = -1);
WEFT_API Tensor random_jpeg_quality(const Tensor& image, int64_t min_jpeg_quality, int64_t max_jpeg_quality, int64_t seed = -1);
WEFT_API Tensor random_crop(const Tensor& value, std::vector<int64_t> size, int64_t seed = -1);

// The pixels of a PNG file; 0 channels: as many as it has. dtype uint8 or uint16.
WEFT_API Tensor decode_png(const Tensor& contents, int64_t channels = 0, DType dtype = DType::uint8);
// The pixels of a JPEG file.
WEFT_API Tensor decode_jpeg(const Tensor& contents, int64_t channels = 0);
// A part of a JPEG file: top, left, height, width.
WEFT_API Tensor decode_and_crop_jpeg(const Tensor& contents, const Tensor& crop_window, int64_t channels = 0);
// The pixels of a BMP file.
WEFT_API Tensor decode_bmp(const Tensor& contents, int64_t channels = 0);
// The frames of a GIF file.
WEFT_API Tensor decode_gif(const Tensor& contents);
// The pixels of a WebP file.
WEFT_API Tensor decode_webp(const Tensor& contents, int64_t channels = 0);
// The pixels of a JPEG, PNG, GIF, BMP or WebP file. Of a GIF file all frames, or the first one.
WEFT_API Tensor decode_image(const Tensor& contents, int64_t channels = 0, DType dtype = DType::uint8, bool expand_animations = true);
// Height, width and channels of a JPEG file.
WEFT_API Tensor extract_jpeg_shape(const Tensor& contents, DType dtype = DType::int32);
// Whether the contents begin as those of a JPEG file.
WEFT_API Tensor is_jpeg(const Tensor& contents);
// A PNG file of the pixels.
WEFT_API Tensor encode_png(const Tensor& image);
// A JPEG file of the pixels.
WEFT_API Tensor encode_jpeg(const Tensor& image, int64_t quality = 95);

}  // namespace weft::image

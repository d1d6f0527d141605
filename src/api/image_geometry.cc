// Where pixels are: turns, parts, borders, boxes.
#include <algorithm>
#include <cmath>

#include "api/image_internal.h"
#include "api/op_seeds.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/image.h"
#include "weft/raw/random.h"

namespace weft::image {
namespace {

Tensor int32(int64_t v) { return Tensor(int32_t(v)); }
// What f makes of a batch of images, of which one may be given alone.
template <class F>
Tensor batched(const Tensor& images, const char* who, F f) {
  if (image_rank(images, who) == 4) return f(images);
  return squeeze(f(expand_dims(images, 0)), {0});
}
// The height and width of a batch.
struct Size {
  int64_t height, width;
};
Size size_of(const Tensor& images, const char* who) {
  const PartialShape s = images.partial_shape();
  if (s.dims[1] < 0 || s.dims[2] < 0) fail(std::string(who) + ": the height and the width must be known");
  return {s.dims[1], s.dims[2]};
}
Tensor part(const Tensor& batch, int64_t top, int64_t left, int64_t height, int64_t width) {
  return batch[{_, weft::slice(top, top + height), weft::slice(left, left + width), _}];
}
int64_t half_down(int64_t v) { return v >= 0 ? v / 2 : -((1 - v) / 2); }  // rounded towards minus infinity

}  // namespace

Tensor transpose(const Tensor& image) {
  return image_rank(image, "transpose") == 3 ? weft::transpose(image, {1, 0, 2}) : weft::transpose(image, {0, 2, 1, 3});
}
Tensor rot90(const Tensor& image, int64_t k) {
  switch ((k % 4 + 4) % 4) {
    case 1: return image::transpose(flip_left_right(image));
    case 2: return flip_left_right(flip_up_down(image));
    case 3: return flip_left_right(image::transpose(image));
    default: image_rank(image, "rot90"); return image;
  }
}
Tensor central_crop(const Tensor& image, double fraction) {
  if (fraction <= 0 || fraction > 1) fail("central_fraction must be within (0, 1]");
  if (fraction == 1) return image;
  return batched(image, "central_crop", [&](const Tensor& batch) {
    const Size s = size_of(batch, "central_crop");
    const auto start = [&](int64_t n) { return int64_t((double(n) - double(n) * fraction) / 2); };
    const int64_t top = start(s.height), left = start(s.width);
    return part(batch, top, left, s.height - 2 * top, s.width - 2 * left);
  });
}
Tensor crop_to_bounding_box(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  return batched(image, "crop_to_bounding_box", [&](const Tensor& batch) {
    const Size s = size_of(batch, "crop_to_bounding_box");
    if (top < 0) fail("offset_height must be >= 0.");
    if (left < 0) fail("offset_width must be >= 0.");
    if (width <= 0) fail("target_width must be > 0.");
    if (height <= 0) fail("target_height must be > 0.");
    if (s.width < width + left) fail("width must be >= target + offset.");
    if (s.height < height + top) fail("height must be >= target + offset.");
    return part(batch, top, left, height, width);
  });
}
Tensor pad_to_bounding_box(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  return batched(image, "pad_to_bounding_box", [&](const Tensor& batch) {
    const Size s = size_of(batch, "pad_to_bounding_box");
    const int64_t below = height - top - s.height, right = width - left - s.width;
    if (top < 0) fail("offset_height must be >= 0");
    if (left < 0) fail("offset_width must be >= 0");
    if (right < 0) fail("width must be <= target - offset");
    if (below < 0) fail("height must be <= target - offset");
    return pad(batch, {{0, 0}, {top, below}, {left, right}, {0, 0}});
  });
}
Tensor resize_with_crop_or_pad(const Tensor& image, int64_t height, int64_t width) {
  if (width <= 0) fail("target_width must be > 0.");
  if (height <= 0) fail("target_height must be > 0.");
  return batched(image, "resize_with_crop_or_pad", [&](const Tensor& batch) {
    const Size s = size_of(batch, "resize_with_crop_or_pad");
    const int64_t dh = height - s.height, dw = width - s.width;
    const Tensor cut =
        part(batch, std::max<int64_t>(half_down(-dh), 0), std::max<int64_t>(half_down(-dw), 0), std::min(height, s.height), std::min(width, s.width));
    return pad_to_bounding_box(cut, std::max<int64_t>(half_down(dh), 0), std::max<int64_t>(half_down(dw), 0), height, width);
  });
}
Tensor resize_with_pad(const Tensor& image, int64_t height, int64_t width, const ResizeOptions& o) {
  if (width <= 0) fail("target_width must be > 0.");
  if (height <= 0) fail("target_height must be > 0.");
  return batched(image, "resize_with_pad", [&](const Tensor& batch) {
    const Size s = size_of(batch, "resize_with_pad");
    const double ratio = std::max(double(s.width) / double(width), double(s.height) / double(height));
    const double h = double(s.height) / ratio, w = double(s.width) / ratio;
    const auto before = [](int64_t all, double inner) { return std::max<int64_t>(0, int64_t(std::floor((double(all) - inner) / 2))); };
    return pad_to_bounding_box(resize(batch, {int64_t(h), int64_t(w)}, o), before(height, h), before(width, w), height, width);
  });
}

Tensor crop_and_resize(const Tensor& image, const Tensor& boxes, const Tensor& numbers, std::pair<int64_t, int64_t> size,
                       const CropAndResizeOptions& o) {
  return raw::CropAndResize(image, boxes, numbers, Tensor{int32_t(size.first), int32_t(size.second)},
                            {.method = o.method, .extrapolation_value = float(o.extrapolation_value)});
}
Tensor draw_bounding_boxes(const Tensor& images, const Tensor& boxes, const Tensor& colors) {
  return raw::DrawBoundingBoxesV2(images, boxes, colors);
}
Tensor extract_glimpse(const Tensor& images, std::pair<int64_t, int64_t> size, const Tensor& offsets, const GlimpseOptions& o) {
  return raw::ExtractGlimpseV2(images, Tensor{int32_t(size.first), int32_t(size.second)}, offsets,
                               {.centered = o.centered, .normalized = o.normalized, .uniform_noise = false, .noise = o.noise});
}
Tensor extract_patches(const Tensor& images, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                       const std::vector<int64_t>& rates, const std::string& padding) {
  return raw::ExtractImagePatches(images, sizes, strides, rates, padding);
}

Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, int64_t most, const NonMaxSuppressionOptions& o) {
  return raw::NonMaxSuppressionV3(boxes, scores, int32(most), Tensor(float(o.iou_threshold)), Tensor(float(o.score_threshold)));
}
Tensor non_max_suppression_overlaps(const Tensor& overlaps, const Tensor& scores, int64_t most, const NonMaxSuppressionOptions& o) {
  return raw::NonMaxSuppressionWithOverlaps(overlaps, scores, int32(most), Tensor(float(o.iou_threshold)), Tensor(float(o.score_threshold)));
}
PaddedBoxes non_max_suppression_padded(const Tensor& boxes, const Tensor& scores, int64_t most, const NonMaxSuppressionOptions& o, bool padded) {
  const raw::NonMaxSuppressionV4Result r = raw::NonMaxSuppressionV4(boxes, scores, int32(most), Tensor(float(o.iou_threshold)),
                                                                    Tensor(float(o.score_threshold)), {.pad_to_max_output_size = padded});
  return {r.selected_indices, r.valid_outputs};
}
ScoredBoxes non_max_suppression_with_scores(const Tensor& boxes, const Tensor& scores, int64_t most, const NonMaxSuppressionOptions& o,
                                            double sigma) {
  const raw::NonMaxSuppressionV5Result r =
      raw::NonMaxSuppressionV5(boxes, scores, int32(most), Tensor(float(o.iou_threshold)), Tensor(float(o.score_threshold)), Tensor(float(sigma)));
  return {r.selected_indices, r.selected_scores};
}
CombinedBoxes combined_non_max_suppression(const Tensor& boxes, const Tensor& scores, int64_t most_per_class, int64_t most,
                                           const CombinedNonMaxSuppressionOptions& o) {
  const raw::CombinedNonMaxSuppressionResult r =
      raw::CombinedNonMaxSuppression(boxes, scores, int32(most_per_class), int32(most), Tensor(float(o.iou_threshold)),
                                     Tensor(float(o.score_threshold)), {.pad_per_class = o.pad_per_class, .clip_boxes = o.clip_boxes});
  return {r.nmsed_boxes, r.nmsed_scores, r.nmsed_classes, r.valid_detections};
}

DistortedBox stateless_sample_distorted_bounding_box(const Tensor& size, const Tensor& boxes, const Tensor& seed, const DistortedBoxOptions& o) {
  const raw::StatelessSampleDistortedBoundingBoxResult r =
      raw::StatelessSampleDistortedBoundingBox(size, boxes, Tensor(float(o.min_object_covered)), seed,
                                               {.aspect_ratio_range = o.aspect_ratio_range,
                                                .area_range = o.area_range,
                                                .max_attempts = o.max_attempts,
                                                .use_image_if_no_bounding_boxes = o.use_image_if_no_bounding_boxes});
  return {r.begin, r.size, r.bboxes};
}
DistortedBox sample_distorted_bounding_box(const Tensor& size, const Tensor& boxes, int64_t seed, const DistortedBoxOptions& o) {
  const random::OpSeeds seeds = seed ? random::op_seeds(seed) : random::OpSeeds();
  const raw::SampleDistortedBoundingBoxV2Result r =
      raw::SampleDistortedBoundingBoxV2(size, boxes, Tensor(float(o.min_object_covered)),
                                        {.seed = seeds.first,
                                         .seed2 = seeds.second,
                                         .aspect_ratio_range = o.aspect_ratio_range,
                                         .area_range = o.area_range,
                                         .max_attempts = o.max_attempts,
                                         .use_image_if_no_bounding_boxes = o.use_image_if_no_bounding_boxes});
  return {r.begin, r.size, r.bboxes};
}

}  // namespace weft::image

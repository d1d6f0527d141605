// The random box of SampleDistortedBoundingBox and its relatives: a crop of random size, shape and place
// that covers enough of one of the given boxes.
#include <cmath>

#include "op/dispatch.h"
#include "ops/random/random_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT
using kernels::PhiloxStream;

namespace {

struct Box {
  int64_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float area() const { return float((x1 - x0) * (y1 - y0)); }
};

float overlap(const Box& a, const Box& b) {
  const Box both{std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
  return both.x0 > both.x1 || both.y0 > both.y1 ? 0 : both.area();
}

bool covers_enough(const Box& crop, float min_covered, const std::vector<Box>& boxes) {
  if (crop.area() < 1) return false;
  for (const Box& box : boxes) {
    if (box.area() >= 1 && overlap(crop, box) / box.area() >= min_covered) return true;
  }
  return false;
}

int64_t rounded(float x) { return std::abs(x) < 1e9f ? int64_t(std::lrint(x)) : int64_t(1) << 30; }

// A crop with an area in [min_area, max_area] of the image and width = aspect * height, both rounded.
bool draw_crop(int64_t width, int64_t height, float min_part, float max_part, float aspect, PhiloxStream& random, Box& crop) {
  if (!(max_part > 0) || !(aspect > 0) || width <= 0 || height <= 0 || min_part > max_part) return false;
  const float min_area = min_part * float(width) * float(height), max_area = max_part * float(width) * float(height);
  int64_t h = rounded(std::sqrt(min_area / aspect)), max_h = rounded(std::sqrt(max_area / aspect));
  if (rounded(float(max_h) * aspect) > width) {
    const double fit = (double(width) + 0.5 - double(0.0000001f)) / double(aspect);
    max_h = fit < 1e9 ? int64_t(fit) : int64_t(1) << 30;
    if (rounded(float(max_h) * aspect) > width) max_h -= 1;
  }
  max_h = std::min(max_h, height);
  h = std::min(h, max_h);
  if (h < max_h) h += random.below(uint32_t(max_h - h + 1));
  int64_t w = rounded(float(h) * aspect);
  // Rounding may have left the allowed areas: try one row more, then one less.
  float area = float(w * h);
  if (area < min_area) {
    h += 1;
    w = rounded(float(h) * aspect);
    area = float(w * h);
  }
  if (area > max_area) {
    h -= 1;
    w = rounded(float(h) * aspect);
    area = float(w * h);
  }
  if (area < min_area || area > max_area || w > width || h > height || w <= 0 || h <= 0) return false;
  crop.y0 = h < height ? random.below(uint32_t(height - h)) : 0;
  crop.x0 = w < width ? random.below(uint32_t(width - w)) : 0;
  crop.x1 = crop.x0 + w;
  crop.y1 = crop.y0 + h;
  return true;
}

Result<std::vector<Box>> read_boxes(const Tensor& boxes, int64_t width, int64_t height) {
  if (boxes.rank() != 3) return invalid_argument("input boxes must be 3-dimensional [batch, num_boxes, coords]: ", boxes.shape());
  if (boxes.dim(2) != 4) return invalid_argument("bounding boxes must have shape [4] or [*, 4], got ", boxes.shape());
  std::vector<Box> out;
  const float* in = boxes.data<float>();
  for (int64_t b = 0; b < boxes.num_elements() / 4; ++b, in += 4) {
    for (int i = 0; i < 4; ++i) {
      if (!(in[i] >= 0 && in[i] <= 1)) return invalid_argument("All bounding box coordinates must be in [0.0, 1.0]: ", in[i]);
    }
    out.push_back({int64_t(in[1] * float(width)), int64_t(in[0] * float(height)), int64_t(in[3] * float(width)), int64_t(in[2] * float(height))});
  }
  return out;
}

}  // namespace

Result<CropOptions> CropOptions::of(const NodeInfo& node) {
  const auto& aspect = node.attr<std::vector<float>>("aspect_ratio_range");
  const auto& area = node.attr<std::vector<float>>("area_range");
  const int64_t attempts = node.attr<int64_t>("max_attempts");
  if (aspect.size() != 2) return invalid_argument("Aspect ratio range field must specify 2 dimensions");
  if (!(aspect[0] > 0 && aspect[1] > 0)) return invalid_argument("Aspect ratio range must be non-negative: [", aspect[0], ", ", aspect[1], "]");
  if (area.size() != 2) return invalid_argument("Area range field must specify 2 dimensions");
  if (!(area[0] > 0 && area[1] > 0)) return invalid_argument("Area range must be non-negative: [", area[0], ", ", area[1], "]");
  if (!(area[0] <= 1 && area[1] <= 1)) return invalid_argument("Area range must be less then or equal to 1.0: [", area[0], ", ", area[1], "]");
  if (attempts <= 0) return invalid_argument("Max attempts must be non-negative: ", attempts);
  return CropOptions{aspect[0], aspect[1], area[0], area[1], attempts, node.attr<bool>("use_image_if_no_bounding_boxes")};
}

Status run_random_crop_box(KernelContext& c, const CropOptions& options, float min_covered, const kernels::Philox& gen) {
  const Tensor& size = c.input(0);
  if (size.rank() != 1) return invalid_argument("image_size must be 1-dimensional", size.shape());
  if (size.dim(0) != 3) return invalid_argument("image_size must contain 3 elements", size.shape());
  uint64_t raw[2] = {};
  WEFT_RETURN_IF_ERROR((dispatch<WEFT_INTEGERS>(size.dtype(), [&]<class T>(Tag<T>) {
    raw[0] = uint64_t(size.data<T>()[0]);
    raw[1] = uint64_t(size.data<T>()[1]);
    return Status();
  })));
  constexpr uint64_t kLimit = uint64_t(std::numeric_limits<int32_t>::max());
  if (raw[0] >= kLimit) return invalid_argument("image height cannot be >= int32 max");
  if (raw[1] >= kLimit) return invalid_argument("image width cannot be >= int32 max");
  const int64_t height = int64_t(raw[0]), width = int64_t(raw[1]);
  if (!(min_covered >= 0)) return invalid_argument("Min object covered must be non-negative: ", min_covered);
  WEFT_ASSIGN(std::vector<Box> boxes, read_boxes(c.input(1), width, height));
  const Box image{0, 0, width, height};
  if (boxes.empty()) {
    if (!options.whole_image_without_boxes)
      return invalid_argument(
          "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes.");
    boxes.push_back(image);
  }
  PhiloxStream random(gen);
  constexpr int64_t kEnough = int64_t(1) << 20;  // constraints that so many draws do not meet are not met at all
  Box crop = image;
  for (int64_t i = 0; i < std::min(options.attempts, kEnough); ++i) {
    const float aspect = random.uniform() * (options.max_aspect - options.min_aspect) + options.min_aspect;
    Box drawn;
    if (draw_crop(width, height, options.min_area, options.max_area, aspect, random, drawn) && covers_enough(drawn, min_covered, boxes)) {
      crop = drawn;
      break;
    }
  }
  WEFT_ASSIGN(Tensor* begin, c.allocate(0, Shape({3})));
  WEFT_ASSIGN(Tensor* extent, c.allocate(1, Shape({3})));
  WEFT_ASSIGN(Tensor* box, c.allocate(2, Shape({1, 1, 4})));
  float* b = box->data<float>();
  b[0] = float(crop.y0) / float(height);
  b[1] = float(crop.x0) / float(width);
  b[2] = float(crop.y1) / float(height);
  b[3] = float(crop.x1) / float(width);
  return dispatch<WEFT_INTEGERS>(size.dtype(), [&]<class T>(Tag<T>) {
    const int64_t first[3] = {crop.y0, crop.x0, 0}, length[3] = {crop.y1 - crop.y0, crop.x1 - crop.x0, -1};
    for (int i = 0; i < 3; ++i) {
      begin->data<T>()[i] = T(first[i]);
      extent->data<T>()[i] = T(length[i]);
    }
    return Status();
  });
}

}  // namespace weft_engine::ops

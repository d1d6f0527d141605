// Colours of images, and drawing on them. Non-maximum suppression is in image_nms.cc.
#include <cmath>
#include <cstring>

#include "kernels/cpu/color.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/image/image_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- colour spaces

Status color_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(0, 1));
  if (s.has_rank() && s.dim(-1) >= 0 && s.dim(-1) != 3) return invalid_argument("Dimension must be 3 but is ", s.dim(-1));
  c.output(0, std::move(s));
  return {};
}

constexpr double kPixelCost = 8;

template <bool to_hsv>
Status run_color(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) return invalid_argument("input must be at least 1D", in.shape());
  const int64_t channels = in.dim(in.rank() - 1);
  if (channels != 3) return failed_precondition("input must have 3 channels but input only has ", channels, " channels.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  return dispatch<WEFT_FLOATS>(in.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(in.num_elements() / 3, kPixelCost, [&](int64_t begin, int64_t end) {
      const T* from = in.data<T>() + begin * 3;
      T* to = out->data<T>() + begin * 3;
      if constexpr (sizeof(T) == 2) (to_hsv ? &kernels::generic::rgb_to_hsv<T> : &kernels::generic::hsv_to_rgb<T>)(from, to, end - begin);
      else if (to_hsv) WEFT_BEST_ISA(rgb_to_hsv<T>)(from, to, end - begin);
      else WEFT_BEST_ISA(hsv_to_rgb<T>)(from, to, end - begin);
    });
    return Status();
  });
}

// ---- adjustments

Status check_adjust(const Tensor& images, const Tensor& amount, const char* name) {
  if (images.rank() < 3) return invalid_argument("input must be at least 3-D, got shape", images.shape());
  if (amount.rank() != 0) return invalid_argument(name, " must be scalar: ", amount.shape());
  return {};
}

Status run_adjust(KernelContext& c, const char* name, void (*adjust)(const float*, float*, int64_t, float)) {
  const Tensor& in = c.input(0);
  WEFT_RETURN_IF_ERROR(check_adjust(in, c.input(1), name));
  const int64_t channels = in.dim(in.rank() - 1);
  if (channels != 3) return invalid_argument("input must have 3 channels but instead has ", channels, " channels.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const float amount = c.input(1).data<float>()[0];
  c.pool().parallel_for(in.num_elements() / 3, kPixelCost, [&](int64_t begin, int64_t end) {
    adjust(in.data<float>() + begin * 3, out->data<float>() + begin * 3, end - begin, amount);
  });
  return {};
}
Status run_hue(KernelContext& c) { return run_adjust(c, "delta", kernels::adjust_hue); }
Status run_saturation(KernelContext& c) { return run_adjust(c, "scale", WEFT_BEST_ISA(adjust_saturation)); }

Status run_contrast(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_RETURN_IF_ERROR(check_adjust(in, c.input(1), "contrast_factor"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  const int64_t channels = in.dim(in.rank() - 1), pixels = in.dim(in.rank() - 2) * in.dim(in.rank() - 3), size = pixels * channels;
  const float factor = c.input(1).data<float>()[0];
  c.pool().parallel_for(in.num_elements() / size, double(size) * 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      kernels::adjust_contrast(in.data<float>() + i * size, out->data<float>() + i * size, pixels, channels, factor);
  });
  return {};
}

// The first version: any number type in, clamped floats out.
Status run_clamped_contrast(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 3) return invalid_argument("input must be at least 3-D, got shape", in.shape());
  static constexpr const char* kNames[] = {"contrast_factor", "min_value", "max_value"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i + 1).rank() != 0) return invalid_argument(kNames[i], " must be scalar: ", c.input(i + 1).shape());
  }
  const float factor = c.input(1).data<float>()[0], low = c.input(2).data<float>()[0], high = c.input(3).data<float>()[0];
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const int64_t count = in.num_elements();
  if (count == 0) return {};
  const int64_t channels = in.dim(in.rank() - 1), pixels = in.dim(in.rank() - 2) * in.dim(in.rank() - 3), size = pixels * channels;
  float* to = out->data<float>();
  WEFT_RETURN_IF_ERROR((dispatch<uint8_t, int8_t, int16_t, int32_t, float, double>(in.dtype(), [&]<class T>(Tag<T>) {
    for (int64_t i = 0; i < count; ++i) to[i] = float(in.data<T>()[i]);
    return Status();
  })));
  for (int64_t i = 0; i < count; i += size) kernels::adjust_contrast(to + i, to + i, pixels, channels, factor);
  for (int64_t i = 0; i < count; ++i) to[i] = std::max(std::min(to[i], high), low);
  return {};
}

// ---- DrawBoundingBoxes

// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
constexpr float kColors[10][4] = {{1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
                                  {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

int64_t pixel_of(float v) {
  constexpr float kFar = 4e18f;
  return std::isnan(v) ? -int64_t(kFar) : int64_t(std::min(std::max(v, -kFar), kFar));
}

// One image: lines where they are inside.
template <class T>
void draw_box(T* image, int64_t height, int64_t width, int64_t depth, const float* box, const float* color) {
  const int64_t top = pixel_of(box[0] * float(height - 1)), left = pixel_of(box[1] * float(width - 1));
  const int64_t bottom = pixel_of(box[2] * float(height - 1)), right = pixel_of(box[3] * float(width - 1));
  if (top > bottom || left > right || top >= height || bottom < 0 || left >= width || right < 0) return;
  const int64_t first_row = std::max<int64_t>(top, 0), last_row = std::min(bottom, height - 1);
  const int64_t first_column = std::max<int64_t>(left, 0), last_column = std::min(right, width - 1);
  const auto paint = [&](int64_t row, int64_t column) {
    for (int64_t d = 0; d < depth; ++d) image[(row * width + column) * depth + d] = T(color[d]);
  };
  for (int64_t column = first_column; column <= last_column; ++column) {
    if (top >= 0) paint(top, column);
    if (bottom < height) paint(bottom, column);
  }
  for (int64_t row = first_row; row <= last_row; ++row) {
    if (left >= 0) paint(row, left);
    if (right < width) paint(row, right);
  }
}

Status run_draw_boxes(KernelContext& c) {
  const Tensor &images = c.input(0), &boxes = c.input(1);
  if (images.rank() != 4) return invalid_argument("The rank of the images should be 4");
  if (boxes.rank() != 3) return invalid_argument("The rank of the boxes tensor should be 3");
  if (images.dim(0) != boxes.dim(0)) return invalid_argument("The batch sizes should be the same");
  const int64_t depth = images.dim(3);
  if (depth != 4 && depth != 1 && depth != 3) return invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  if (boxes.dim(2) != 4) return invalid_argument("The size of the third dimension of the box must be 4. Received: ", boxes.dim(2));
  std::vector<float> colors;
  if (c.num_inputs() == 3) {
    const Tensor& given = c.input(2);
    if (given.rank() != 2) return invalid_argument("colors must be a 2-D matrix", given.shape());
    if (given.dim(1) < depth) return invalid_argument("colors must have equal or more channels than the image provided: ", given.shape());
    for (int64_t i = 0; i < given.dim(0); ++i)
      colors.insert(colors.end(), given.data<float>() + i * given.dim(1), given.data<float>() + i * given.dim(1) + depth);
  }
  if (colors.empty()) {
    for (const auto& color : kColors) {
      colors.insert(colors.end(), color, color + depth);
      if (depth == 1) colors.back() = 1;
    }
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, images.shape()));
  std::memcpy(out->raw(), images.raw(), images.byte_size());
  const int64_t height = images.dim(1), width = images.dim(2), count = boxes.dim(1), kinds = int64_t(colors.size()) / depth;
  return dispatch<float, core::half>(images.dtype(), [&]<class T>(Tag<T>) {
    for (int64_t i = 0; i < images.dim(0) * count; ++i) {
      draw_box(out->data<T>() + i / count * height * width * depth, height, width, depth, boxes.data<float>() + i * 4,
               colors.data() + i % count % kinds * depth);
    }
    return Status();
  });
}

// ---- gradients -----------------------------------------------------------------------------------------

// Value is the greatest colour, saturation 1 - least / greatest, hue a ratio of differences: by cases which
// colour is the greatest and which the least. Among equal ones red comes before green before blue.
Grads rgb_to_hsv_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const DType t = g.x().dtype();
  auto channel = [&](const Value& x, int i) {
    return e.one("StridedSlice", {x, ints(e, {0, i}), ints(e, {0, i + 1}), ints(e, {1, 1})},
                 {{"ellipsis_mask", int64_t(1)}, {"shrink_axis_mask", int64_t(2)}});
  };
  auto both = [&](const char* first, const Value& a, const Value& b, const char* second, const Value& c, const Value& d) {
    return cast(binary("LogicalAnd", binary(first, a, b), binary(second, c, d)), t);
  };
  auto reciprocal = [](const Value& x) { return binary("DivNoNan", ones_like(x), x); };
  auto square = [](const Value& x) { return unary("Square", x); };
  const Value x[] = {channel(g.x(), 0), channel(g.x(), 1), channel(g.x(), 2)};
  const Value &red = x[0], &green = x[1], &blue = x[2];
  const Value most[] = {both("GreaterEqual", red, blue, "GreaterEqual", red, green), both("Greater", green, red, "GreaterEqual", green, blue),
                        both("Greater", blue, red, "Greater", blue, green)};
  const Value least[] = {both("Less", red, blue, "Less", red, green), both("LessEqual", green, red, "Less", green, blue),
                         both("LessEqual", blue, red, "LessEqual", blue, green)};
  const Value dy[] = {channel(g.dy(), 0), channel(g.dy(), 1), channel(g.dy(), 2)};
  const Value spread = reciprocal(square(channel(g.y(), 1))) * reciprocal(square(channel(g.y(), 2)));
  std::vector<Value> positive, out;
  for (const Value& v : x) positive.push_back(cast(binary("Greater", v, zeros_like(v)), t));
  for (int c = 0; c < 3; ++c) {
    const int n = (c + 1) % 3, p = (c + 2) % 3;
    const Value saturation = positive[size_t(c)] * (most[c] * (least[n] * x[n] + least[p] * x[p]) * reciprocal(square(x[c])) -
                                                    least[c] * reciprocal(most[n] * x[n] + most[p] * x[p]));
    const Value difference = x[p] - x[n];
    const Value hue = positive[size_t(c)] * most[c] * difference * spread +
                      positive[size_t(n)] * most[n] * (least[c] * difference * reciprocal(square(x[c] - x[n])) - least[p] * reciprocal(x[n] - x[p])) +
                      positive[size_t(p)] * most[p] * (least[c] * difference * reciprocal(square(x[p] - x[c])) + least[n] * reciprocal(x[p] - x[n]));
    out.push_back(dy[2] * most[c] + dy[1] * saturation + dy[0] * (60 * hue / 360));
  }
  return g.apply("Pack", out, {{"axis", int64_t(-1)}});
}

}  // namespace

void image(Registry& r) {
  r.add("AdjustContrast")
      .doc("Scales the distance of each channel from its mean over the image, within limits.")
      .in("images: T")
      .in("contrast_factor: float")
      .in("min_value: float")
      .in("max_value: float")
      .out("output: float")
      .attr("T: {uint8, int8, int16, int32, int64, float, double}")
      .deprecated(2, "Use AdjustContrastv2 instead")
      .shape(same_with_rank_at_least<3>)
      .cpu(run_clamped_contrast, types<uint8_t, int8_t, int16_t, int32_t, float, double>("T"));

  r.add("AdjustContrastv2")
      .doc("Scales the distance of each channel from its mean over the image.")
      .in("images: T")
      .in("contrast_factor: float")
      .out("output: T")
      .attr("T: {half, float} = DT_FLOAT")
      .shape(same_with_rank_at_least<3>)
      .batch(batch_leading<1>)
      .cpu(run_contrast, types<float>("T"));

  r.add("AdjustHue")
      .doc("Turns the hue of RGB images.")
      .in("images: T")
      .in("delta: float")
      .out("output: T")
      .attr("T: {half, float} = DT_FLOAT")
      .shape(same_with_rank_at_least<3>)
      .batch(batch_leading<1>)
      .cpu(run_hue, types<float>("T"));

  r.add("AdjustSaturation")
      .doc("Scales the saturation of RGB images.")
      .in("images: T")
      .in("scale: float")
      .out("output: T")
      .attr("T: {half, float} = DT_FLOAT")
      .shape(same_with_rank_at_least<3>)
      .batch(batch_leading<1>)
      .cpu(run_saturation, types<float>("T"));

  r.add("DrawBoundingBoxes")
      .doc("Draws boxes, given in relative coordinates, on images.")
      .in("images: T")
      .in("boxes: float")
      .out("output: T")
      .attr("T: {float, half} = DT_FLOAT")
      .shape(same_with_rank_at_least<3>)
      .no_grad()
      .cpu(run_draw_boxes);

  r.add("DrawBoundingBoxesV2")
      .doc("Draws boxes on images, in given colours.")
      .in("images: T")
      .in("boxes: float")
      .in("colors: float")
      .out("output: T")
      .attr("T: {float, half} = DT_FLOAT")
      .shape(same_with_rank_at_least<3>)
      .cpu(run_draw_boxes);

  r.add("HSVToRGB")
      .doc("Converts images from hue, saturation and value to red, green and blue.")
      .in("images: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .shape(color_shape)
      .batch(batch_leading<1>)
      .no_grad()
      .cpu(run_color<false>);

  r.add("RGBToHSV")
      .doc("Converts images from red, green and blue to hue, saturation and value.")
      .in("images: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .shape(color_shape)
      .batch(batch_leading<1>)
      .grad(rgb_to_hsv_grad)
      .cpu(run_color<true>);
}

}  // namespace weft_engine::ops

// Parts of images: crops at boxes, glimpses around points, projective warps.
#include <cmath>
#include <random>

#include "kernels/cpu/crop_resize.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/image/image_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::CropSizes;

namespace {

// ---- CropAndResize

Status crop_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape image, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape boxes, c.with_rank(1, 2));
  WEFT_ASSIGN(PartialShape indices, c.with_rank(2, 1));
  WEFT_ASSIGN(int64_t count, ShapeContext::merge_dim(boxes.dim(0), indices.dim(0)));
  if (boxes.dim(1) >= 0 && boxes.dim(1) != 4) return invalid_argument("Dimension must be 4 but is ", boxes.dim(1));
  return sized_image_shape(c, count, 3, image.dim(3));
}

Status grad_image_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape out, c.constant_shape(3));
  if (!out.has_rank()) out = PartialShape::unknown_of_rank(4);
  if (out.rank() != 4) return invalid_argument("Shape must be rank 4 but is rank ", out.rank());
  c.output(0, std::move(out));
  return {};
}

Status grad_boxes_shape(ShapeContext& c) {
  const PartialShape& boxes = c.input(2);
  c.output(0, PartialShape{boxes.rank() == 2 ? boxes.dim(0) : kUnknownDim, 4});
  return {};
}

Result<int64_t> count_boxes(const Tensor& boxes, const Tensor& index) {
  if (boxes.num_elements() == 0 && index.num_elements() == 0) return 0;
  if (boxes.rank() != 2) return invalid_argument("boxes must be 2-D", boxes.shape());
  if (boxes.dim(1) != 4) return invalid_argument("boxes must have 4 columns");
  if (index.rank() != 1) return invalid_argument("box_index must be 1-D", index.shape());
  if (index.dim(0) != boxes.dim(0)) return invalid_argument("box_index has incompatible shape");
  return boxes.dim(0);
}

Status check_index(const Tensor& index, int64_t batch) {
  for (int32_t i : index.span<int32_t>()) {
    if (i < 0 || i >= batch) return out_of_range("box_index has values outside [0, batch_size)");
  }
  return {};
}

// Sizes of the crops beyond what the kernels' integers and floats hold.
Status check_image_size(int64_t height, int64_t width) {
  if (height <= 0 || width <= 0) return invalid_argument("image dimensions must be positive");
  return {};
}

Status run_crop_and_resize(KernelContext& c) {
  const Tensor &image = c.input(0), &boxes = c.input(1), &index = c.input(2), &size = c.input(3);
  if (image.rank() != 4) return invalid_argument("input image must be 4-D", image.shape());
  WEFT_RETURN_IF_ERROR(check_image_size(image.dim(1), image.dim(2)));
  if (boxes.rank() != 2) return invalid_argument("boxes must be 2-D, got: ", boxes.shape());
  if (index.rank() != 1) return invalid_argument("box_indices must be rank 1 but is shape ", index.shape());
  WEFT_ASSIGN(int64_t count, count_boxes(boxes, index));
  if (size.rank() != 1) return invalid_argument("crop_size must be 1-D", size.shape());
  if (size.dim(0) != 2) return invalid_argument("crop_size must have two elements", size.shape());
  const int64_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
  if (height <= 0 || width <= 0) return invalid_argument("crop dimensions must be positive");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {count, height, width, image.dim(3)}));
  WEFT_RETURN_IF_ERROR(check_index(index, image.dim(0)));
  for (float v : boxes.span<float>()) {
    if (!std::isfinite(v)) return invalid_argument("Boxes contains at least one element that is not finite");
  }
  if (out->num_elements() == 0) return {};
  WEFT_ASSIGN(Tensor pixels, as_float(c, image));
  const CropSizes s{image.dim(0), image.dim(1), image.dim(2), image.dim(3), count, height, width};
  kernels::crop_and_resize(s, c.attr<std::string>("method") == "nearest", c.attr<float>("extrapolation_value"), pixels.data<float>(),
                           boxes.data<float>(), index.data<int32_t>(), out->data<float>(), c.pool());
  return {};
}

Status run_crop_grad_image(KernelContext& c) {
  const Tensor &grads = c.input(0), &boxes = c.input(1), &index = c.input(2), &size = c.input(3);
  if (grads.rank() != 4) return invalid_argument("grads image must be 4-D", grads.shape());
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0) return invalid_argument("grads dimensions must be positive");
  WEFT_ASSIGN(int64_t count, count_boxes(boxes, index));
  if (grads.dim(0) != count) return invalid_argument("boxes and grads have incompatible shape");
  if (size.rank() != 1) return invalid_argument("image_size must be 1-D", size.shape());
  if (size.dim(0) != 4) return invalid_argument("image_size must have 4 elements", size.shape());
  const int32_t* v = size.data<int32_t>();
  WEFT_RETURN_IF_ERROR(check_image_size(v[1], v[2]));
  if (grads.dim(3) != v[3]) return invalid_argument("image_size and grads are incompatible");
  for (int i = 0; i < 4; ++i) {
    if (v[i] < 0) return invalid_argument("Expected a non-negative size, got ", v[i]);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {v[0], v[1], v[2], v[3]}));
  WEFT_RETURN_IF_ERROR(check_index(index, v[0]));
  if (out->num_elements() == 0) return {};
  const CropSizes s{v[0], v[1], v[2], v[3], count, grads.dim(1), grads.dim(2)};
  return dispatch<float, double, core::half>(out->dtype(), [&]<class T>(Tag<T>) {
    kernels::crop_and_resize_grad_image(s, c.attr<std::string>("method") == "nearest", grads.data<float>(), boxes.data<float>(),
                                        index.data<int32_t>(), out->data<T>(), c.pool());
    return Status();
  });
}

Status run_crop_grad_boxes(KernelContext& c) {
  const Tensor &grads = c.input(0), &image = c.input(1), &boxes = c.input(2), &index = c.input(3);
  if (grads.rank() != 4) return invalid_argument("grads image must be 4-D", grads.shape());
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0) return invalid_argument("grads dimensions must be positive");
  if (image.rank() != 4) return invalid_argument("input image must be 4-D", image.shape());
  WEFT_RETURN_IF_ERROR(check_image_size(image.dim(1), image.dim(2)));
  if (image.dim(3) != grads.dim(3)) return invalid_argument("image, grads depth differ");
  WEFT_ASSIGN(int64_t count, count_boxes(boxes, index));
  if (grads.dim(0) != count) return invalid_argument("boxes and grads have incompatible shape");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {count, 4}));
  WEFT_RETURN_IF_ERROR(check_index(index, image.dim(0)));
  if (out->num_elements() == 0) return {};
  WEFT_ASSIGN(Tensor pixels, as_float(c, image));
  const CropSizes s{image.dim(0), image.dim(1), image.dim(2), image.dim(3), count, grads.dim(1), grads.dim(2)};
  kernels::crop_and_resize_grad_boxes(s, grads.data<float>(), pixels.data<float>(), boxes.data<float>(), index.data<int32_t>(), out->data<float>(),
                                      c.pool());
  return {};
}

// ---- ImageProjectiveTransform

Status projective_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape images, c.with_rank(0, 4));
  return sized_image_shape(c, images.dim(0), 2, images.dim(3));
}

Result<kernels::FillMode> fill_mode(const std::string& name) {
  if (name == "REFLECT") return kernels::FillMode::kReflect;
  if (name == "WRAP") return kernels::FillMode::kWrap;
  if (name == "CONSTANT") return kernels::FillMode::kConstant;
  if (name == "NEAREST") return kernels::FillMode::kNearest;
  return invalid_argument("Invalid mode ", name, ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST");
}

Status run_projective(KernelContext& c) {
  const std::string& interpolation = c.attr<std::string>("interpolation");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR") {
    return invalid_argument("Invalid interpolation ", interpolation, ". Supported types: NEAREST, BILINEAR");
  }
  WEFT_ASSIGN(kernels::FillMode mode, fill_mode(c.attr<std::string>("fill_mode")));
  const Tensor &images = c.input(0), &transforms = c.input(1), &size = c.input(2);
  if (images.rank() != 4) return invalid_argument("Input images must have rank 4");
  if (transforms.rank() != 2 || (transforms.dim(0) != images.dim(0) && transforms.dim(0) != 1) || transforms.dim(1) != 8) {
    return invalid_argument("Input transform should be num_images x 8 or 1 x 8");
  }
  if (size.rank() != 1) return invalid_argument("output shape must be 1-dimensional", size.shape());
  if (size.num_elements() != 2) return invalid_argument("output shape must have two elements", size.shape());
  const int64_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
  if (height <= 0 || width <= 0) return invalid_argument("output dimensions must be positive");
  float fill = 0;
  if (c.num_inputs() > 3) {
    if (c.input(3).rank() != 0) return invalid_argument("fill_value must be a scalar", c.input(3).shape());
    fill = c.input(3).data<float>()[0];
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {images.dim(0), height, width, images.dim(3)}));
  if (out->num_elements() == 0) return {};
  const kernels::WarpSizes s{images.dim(0), images.dim(1), images.dim(2), images.dim(3), height, width, transforms.dim(0) == 1};
  return dispatch<uint8_t, int32_t, int64_t, WEFT_FLOATS>(out->dtype(), [&]<class T>(Tag<T>) {
    kernels::projective_warp(s, interpolation == "BILINEAR", mode, fill, images.data<T>(), transforms.data<float>(), out->data<T>(), c.pool());
    return Status();
  });
}

// ---- ExtractGlimpse

Status glimpse_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape offsets, c.with_rank(2, 2));
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(in.dim(0), offsets.dim(0)));
  if (offsets.dim(1) >= 0 && offsets.dim(1) != 2) return invalid_argument("Dimension must be 2 but is ", offsets.dim(1));
  return sized_image_shape(c, batch, 1, in.dim(3));
}

enum class Noise { kUniform, kGaussian, kZero };

Result<Noise> glimpse_noise(KernelContext& c) {
  const std::string& noise = c.attr<std::string>("noise");
  const bool uniform = c.attr<bool>("uniform_noise");
  if (uniform && !noise.empty() && noise != "uniform") return invalid_argument("The uniform_noise and noise could not be specified at the same time");
  if (noise.empty()) return uniform ? Noise::kUniform : Noise::kGaussian;
  if (noise == "uniform") return Noise::kUniform;
  if (noise == "gaussian") return Noise::kGaussian;
  if (noise == "zero") return Noise::kZero;
  return invalid_argument("The noise could only be uniform, gaussian, or zero, got", noise);
}

// Fills a glimpse with noise in the range of the image, or like its channels' means and deviations.
void fill_noise(Noise noise, const float* image, int64_t pixels, int64_t depth, float* out, int64_t out_pixels) {
  std::fill(out, out + out_pixels * depth, 0.f);
  if (noise == Noise::kZero || pixels == 0) return;
  thread_local std::mt19937 random{std::random_device{}()};
  const auto [low, high] = std::minmax_element(image, image + pixels * depth);
  if (noise == Noise::kUniform) {
    std::uniform_real_distribution<float> unit(0.f, 1.f);
    for (int64_t i = 0; i < out_pixels * depth; ++i) out[i] = *low + unit(random) * (*high - *low);
    return;
  }
  for (int64_t d = 0; d < depth; ++d) {
    double sum = 0, squares = 0;
    float least = image[d], most = image[d];
    for (int64_t i = 0; i < pixels; ++i) {
      const float v = image[i * depth + d];
      sum += v;
      squares += double(v) * v;
      least = std::min(least, v);
      most = std::max(most, v);
    }
    const double mean = sum / double(pixels), deviation = std::sqrt(std::max(0.0, squares / double(pixels) - mean * mean));
    std::normal_distribution<float> normal(0.f, 1.f);
    for (int64_t i = 0; i < out_pixels; ++i) out[i * depth + d] = std::max(std::min(float(mean + deviation * normal(random)), most), least);
  }
}

// Where the glimpse begins along one axis of the image.
int64_t glimpse_start(bool v1, bool normalized, bool centered, float offset, int64_t image, int64_t size) {
  const float half_image = float(image) / 2.f, half_size = float(size) / 2.f;
  if (normalized) offset *= float(image);
  if (v1) {
    if (centered) offset = offset / 2.f + half_image;
    offset -= half_size;
  } else if (centered) {
    offset = normalized ? offset / 2.f + half_image - half_size : offset + half_image;
  }
  constexpr float kFar = 4e9f;  // beyond any image
  return std::isnan(offset) ? int64_t(-kFar) : int64_t(std::min(std::max(offset, -kFar), kFar));
}

// The overlap of [start, start + size) with [0, image): `from` in the image, `to` in the glimpse.
struct Overlap {
  int64_t from, to, count;
};
Overlap overlap(int64_t start, int64_t size, int64_t image) {
  Overlap o{std::max<int64_t>(start, 0), 0, size};
  if (start < 0) {
    o.count = std::max<int64_t>(0, size + start);
    o.to = size - o.count;
  } else if (start + size >= image) {
    o.count = std::max<int64_t>(0, image - start);
  }
  o.count = std::min(o.count, image);
  return o;
}

Status run_glimpse(KernelContext& c) {
  WEFT_ASSIGN(Noise noise, glimpse_noise(c));
  const Tensor &in = c.input(0), &size = c.input(1), &offsets = c.input(2);
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional (batch_size, height, width, depth)", in.shape());
  if (size.rank() != 1 || size.dim(0) != 2) return invalid_argument("input must be a vector of size 2 (height, width)", size.shape());
  const int64_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
  for (int64_t d : {height, width}) {
    if (d < 0) return invalid_argument("Expected a non-negative size, got ", d);
  }
  if (offsets.rank() != 2) return invalid_argument("input must be a matrix", offsets.shape());
  if (offsets.dim(0) != in.dim(0)) return invalid_argument("first dimension should be batch", offsets.shape());
  if (offsets.dim(1) != 2) return invalid_argument("second dimension should be of size 2 (y,x)", offsets.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {in.dim(0), height, width, in.dim(3)}));
  if (out->num_elements() == 0) return {};
  const bool v1 = c.node().op() == "ExtractGlimpse", normalized = c.attr<bool>("normalized"), centered = c.attr<bool>("centered");
  const int64_t in_h = in.dim(1), in_w = in.dim(2), depth = in.dim(3);
  for (int64_t b = 0; b < in.dim(0); ++b) {
    const float* offset = offsets.data<float>() + b * 2;
    const Overlap y = overlap(glimpse_start(v1, normalized, centered, offset[0], in_h, height), height, in_h);
    const Overlap x = overlap(glimpse_start(v1, normalized, centered, offset[1], in_w, width), width, in_w);
    const float* image = in.data<float>() + b * in_h * in_w * depth;
    float* glimpse = out->data<float>() + b * height * width * depth;
    if (y.count < height || x.count < width) fill_noise(noise, image, in_h * in_w, depth, glimpse, height * width);
    for (int64_t i = 0; i < y.count && x.count > 0; ++i) {
      const float* from = image + ((y.from + i) * in_w + x.from) * depth;
      std::copy(from, from + x.count * depth, glimpse + ((y.to + i) * width + x.to) * depth);
    }
  }
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

Grads crop_grad(const GradContext& g) {
  const Value image = g.x(0), boxes = g.x(1), which = g.x(2);
  const DType t = image.dtype();
  Grads grads = g.none();
  if (t == DType::kFloat || t == DType::kHalf || t == DType::kDouble) {
    AttrMap attrs = g.attrs({"method"});
    attrs["T"] = t;
    grads[0] = g.one("CropAndResizeGradImage", {g.dy(), boxes, which, shape_of(image)}, std::move(attrs));
  }
  // Boxes are moved with linear interpolation, whatever the method.
  grads[1] = g.one("CropAndResizeGradBoxes", {g.dy(), image, boxes, which});
  return grads;
}

// The same with the transforms inverted: each is a matrix whose last element is 1.
Grads projective_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value image = g.x(0), flat = reshape(g.x(1), ints(e, {-1, 8}));
  const Value rows = element(shape_of(flat), 0), pair[] = {reshape(rows, ints(e, {1})), ints(e, {1})};
  const Value full[] = {flat, fill(concat(pair, 0), scalar(e, DType::kFloat, 1))};
  const Value inverse = unary("MatrixInverse", reshape(concat(full, 1), ints(e, {-1, 3, 3})));
  const Value numbers = reshape(inverse, ints(e, {-1, 9}));
  const Value last = slice(numbers, ints(e, {0, 8}), ints(e, {-1, 1}));
  const Value inverted = slice(numbers / last, ints(e, {0, 0}), ints(e, {-1, 8}));
  const Value size = slice(shape_of(image), ints(e, {1}), ints(e, {2}));
  std::vector<Value> in = {g.dy(), inverted, size};
  if (g.num_inputs() == 4) in.push_back(scalar(e, DType::kFloat, 0));
  auto out = g.apply(g.node().op(), in, g.attrs({"interpolation", "fill_mode"}));
  Grads grads = g.none();
  if (!out.empty()) grads[0] = out[0];
  return grads;
}

}  // namespace

void image_crop(Registry& r) {
  r.add("CropAndResize")
      .doc("Cuts boxes out of images and resizes them to one size.")
      .in("image: T")
      .in("boxes: float")
      .in("box_ind: int32")
      .in("crop_size: int32")
      .out("crops: float")
      .attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
      .attr("method: {'bilinear', 'nearest'} = 'bilinear'")
      .attr("extrapolation_value: float = 0")
      .shape(crop_shape)
      .grad(crop_grad)
      .cpu(run_crop_and_resize);

  r.add("CropAndResizeGradBoxes")
      .doc("The gradient of CropAndResize for its boxes.")
      .in("grads: float")
      .in("image: T")
      .in("boxes: float")
      .in("box_ind: int32")
      .out("output: float")
      .attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
      .attr("method: {'bilinear'} = 'bilinear'")
      .shape(grad_boxes_shape)
      .cpu(run_crop_grad_boxes);

  r.add("CropAndResizeGradImage")
      .doc("The gradient of CropAndResize for its image.")
      .in("grads: float")
      .in("boxes: float")
      .in("box_ind: int32")
      .in("image_size: int32")
      .out("output: T")
      .attr("T: {float, half, double}")
      .attr("method: {'bilinear', 'nearest'} = 'bilinear'")
      .shape(grad_image_shape)
      .cpu(run_crop_grad_image);

  for (const char* name : {"ExtractGlimpse", "ExtractGlimpseV2"}) {
    OpBuilder op = r.add(name);
    op.doc("Cuts a window around a point out of each image; what is outside is noise.")
        .in("input: float")
        .in("size: int32")
        .in("offsets: float")
        .out("glimpse: float")
        .attr("centered: bool = true")
        .attr("normalized: bool = true")
        .attr("uniform_noise: bool = true")
        .attr("noise: string = 'uniform'")
        .shape(glimpse_shape)
        .cpu(run_glimpse);
    if (std::string_view(name) == "ExtractGlimpse") op.no_grad();
  }

  r.add("ImageProjectiveTransformV2")
      .doc("Warps images by projective maps from output to input coordinates.")
      .in("images: dtype")
      .in("transforms: float")
      .in("output_shape: int32")
      .out("transformed_images: dtype")
      .attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
      .attr("interpolation: string")
      .attr("fill_mode: string = 'CONSTANT'")
      .shape(projective_shape)
      .grad(projective_grad)
      .cpu(run_projective);

  r.add("ImageProjectiveTransformV3")
      .doc("Warps images by projective maps, with a given value outside the input.")
      .in("images: dtype")
      .in("transforms: float")
      .in("output_shape: int32")
      .in("fill_value: float")
      .out("transformed_images: dtype")
      .attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
      .attr("interpolation: string")
      .attr("fill_mode: string = 'CONSTANT'")
      .shape(projective_shape)
      .grad(projective_grad)
      .cpu(run_projective);
}

}  // namespace weft_engine::ops

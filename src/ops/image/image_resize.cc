// Resizing of images: nearest neighbour, bilinear, bicubic, area, and by filter kernels.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/resample.h"
#include "kernels/cpu/resize.h"
#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/image/image_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::ResizeSizes;

Status sized_image_shape(ShapeContext& c, int64_t batch, int size_input, int64_t channels) {
  WEFT_ASSIGN(PartialShape size, c.with_rank(size_input, 1));
  if (size.dim(0) >= 0 && size.dim(0) != 2) return invalid_argument("Dimension must be 2 but is ", size.dim(0));
  int64_t height = kUnknownDim, width = kUnknownDim;
  if (const auto v = c.constant_ints(size_input); v && v->size() == 2) {
    height = (*v)[0];
    width = (*v)[1];
    if (height < kUnknownDim || width < kUnknownDim)
      return invalid_argument("Dimension size, given by scalar input ", size_input, " must be non-negative but is ", std::min(height, width));
  }
  c.output(0, PartialShape{batch, height, width, channels});
  return {};
}

Result<Tensor> as_float(KernelContext& c, const Tensor& t) {
  if (t.dtype() == DType::kFloat) return t;
  WEFT_ASSIGN(Tensor copy, c.temp(DType::kFloat, t.shape()));
  kernels::to_float(t.dtype(), t.raw(), copy.data<float>(), t.num_elements(), c.pool());
  return copy;
}

namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

Status resize_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  return sized_image_shape(c, in.dim(0), 1, in.dim(3));
}

Status as_input_1(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape grads, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape original, c.with_rank(1, 4));
  // Batch and channels are those of the gradient.
  c.output(0, PartialShape{grads.dim(0), original.dim(1), original.dim(2), grads.dim(3)});
  return {};
}

float resize_scale(int64_t in, int64_t out, bool align_corners) {
  return align_corners && out > 1 && in > 1 ? float(in - 1) / float(out - 1) : float(in) / float(out);
}

Status check_centers(bool align_corners, bool half_pixel_centers) {
  if (align_corners && half_pixel_centers) return invalid_argument("If half_pixel_centers is True, align_corners must be False.");
  return {};
}

Status check_size(const Tensor& size) {
  if (size.rank() != 1) return invalid_argument("shape_t must be 1-dimensional", size.shape());
  if (size.num_elements() != 2) return invalid_argument("shape_t must have two elements", size.shape());
  return {};
}

// From inputs `images` and `size`, with TensorFlow's checks.
Result<ResizeSizes> resize_sizes(KernelContext& c, bool align_corners, bool half_pixel_centers) {
  WEFT_RETURN_IF_ERROR(check_centers(align_corners, half_pixel_centers));
  const Tensor &in = c.input(0), &size = c.input(1);
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in.shape());
  if (in.dim(3) <= 0) return invalid_argument("image must have at least one channel");
  if (in.dim(1) <= 0 || in.dim(2) <= 0) return invalid_argument("input image must be of non-zero size");
  if (in.dim(1) >= kMaxInt || in.dim(2) >= kMaxInt) return invalid_argument("input sizes must be between 0 and max int32");
  WEFT_RETURN_IF_ERROR(check_size(size));
  const int32_t* v = size.data<int32_t>();
  if (v[0] <= 0 || v[1] <= 0) return invalid_argument("output dimensions must be positive");
  return ResizeSizes{in.dim(0),
                     in.dim(1),
                     in.dim(2),
                     in.dim(3),
                     v[0],
                     v[1],
                     resize_scale(in.dim(1), v[0], align_corners),
                     resize_scale(in.dim(2), v[1], align_corners),
                     half_pixel_centers};
}

Shape output_shape(const ResizeSizes& s) { return {s.batch, s.out_height, s.out_width, s.channels}; }

template <void (*resize)(const ResizeSizes&, const float*, float*, core::ThreadPool&)>
Status run_resize(KernelContext& c, bool half_pixel_centers) {
  WEFT_ASSIGN(ResizeSizes s, resize_sizes(c, c.attr<bool>("align_corners"), half_pixel_centers));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, output_shape(s)));
  if (out->num_elements() == 0) return {};
  WEFT_ASSIGN(Tensor in, as_float(c, c.input(0)));
  resize(s, in.data<float>(), out->data<float>(), c.pool());
  return {};
}

void bilinear_or_copy(const ResizeSizes& s, const float* in, float* out, core::ThreadPool& pool) {
  if (s.in_height == s.out_height && s.in_width == s.out_width) {
    std::copy(in, in + s.batch * s.in_height * s.in_width * s.channels, out);
  } else {
    kernels::resize_bilinear(s, in, out, pool);
  }
}

Status run_area(KernelContext& c) { return run_resize<kernels::resize_area>(c, false); }
Status run_bilinear(KernelContext& c) { return run_resize<bilinear_or_copy>(c, c.attr<bool>("half_pixel_centers")); }
Status run_bicubic(KernelContext& c) { return run_resize<kernels::resize_bicubic>(c, c.attr<bool>("half_pixel_centers")); }

Status run_nearest(KernelContext& c) {
  const bool align = c.attr<bool>("align_corners");
  WEFT_ASSIGN(ResizeSizes s, resize_sizes(c, align, c.attr<bool>("half_pixel_centers")));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, output_shape(s)));
  if (s.in_height >= 1 << 24 || s.in_width >= 1 << 24) return invalid_argument("nearest neighbor requires max height & width of 2^24");
  if (out->num_elements() == 0) return {};
  kernels::resize_nearest(s, align, c.input(0).raw(), out->raw(), s.channels * int64_t(dtype_size(out->dtype())), c.pool());
  return {};
}

// ---- gradients

// From inputs `grads` and `original_image`.
Result<ResizeSizes> gradient_sizes(KernelContext& c) {
  const bool align = c.attr<bool>("align_corners"), centers = c.attr<bool>("half_pixel_centers");
  WEFT_RETURN_IF_ERROR(check_centers(align, centers));
  const Tensor &grads = c.input(0), &original = c.input(1);
  if (grads.rank() != 4) return invalid_argument("input_grad must be 4-dimensional", grads.shape());
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0) return invalid_argument("resized dimensions must be positive");
  if (original.rank() != 4) return invalid_argument("original_image must be 4-dimensional", original.shape());
  if (original.dim(1) <= 0 || original.dim(2) <= 0) return invalid_argument("original dimensions must be positive");
  if (original.dim(1) >= kMaxInt || original.dim(2) >= kMaxInt) return invalid_argument("original sizes must be between 0 and max int32");
  return ResizeSizes{grads.dim(0),
                     original.dim(1),
                     original.dim(2),
                     grads.dim(3),
                     grads.dim(1),
                     grads.dim(2),
                     resize_scale(original.dim(1), grads.dim(1), align),
                     resize_scale(original.dim(2), grads.dim(2), align),
                     centers};
}

Status run_bilinear_grad(KernelContext& c) {
  WEFT_ASSIGN(ResizeSizes s, gradient_sizes(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {s.batch, s.in_height, s.in_width, s.channels}));
  if (out->num_elements() == 0) return {};
  return dispatch<WEFT_FLOATS>(out->dtype(), [&]<class T>(Tag<T>) {
    kernels::resize_bilinear_grad(s, c.input(0).data<float>(), out->data<T>(), c.pool());
    return Status();
  });
}

Status run_bicubic_grad(KernelContext& c) {
  WEFT_ASSIGN(ResizeSizes s, gradient_sizes(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {s.batch, s.in_height, s.in_width, s.channels}));
  if (out->num_elements() == 0) return {};
  return dispatch<float, double>(out->dtype(), [&]<class T>(Tag<T>) {
    kernels::resize_bicubic_grad(s, c.input(0).data<float>(), out->data<T>(), c.pool());
    return Status();
  });
}

Status nearest_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape grads, c.with_rank(0, 4));
  return sized_image_shape(c, grads.dim(0), 1, grads.dim(3));
}

Status run_nearest_grad(KernelContext& c) {
  const Tensor &grads = c.input(0), &size = c.input(1);
  if (grads.rank() != 4) return invalid_argument("input must be 4-dimensional", grads.shape());
  WEFT_RETURN_IF_ERROR(check_size(size));
  const int32_t* v = size.data<int32_t>();
  if (v[0] <= 0 || v[1] <= 0) return invalid_argument("shape_t's elements must be positive");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {grads.dim(0), v[0], v[1], grads.dim(3)}));
  if (out->num_elements() == 0) return {};
  const bool align = c.attr<bool>("align_corners");
  const ResizeSizes s{grads.dim(0),
                      v[0],
                      v[1],
                      grads.dim(3),
                      grads.dim(1),
                      grads.dim(2),
                      resize_scale(v[0], grads.dim(1), align),
                      resize_scale(v[1], grads.dim(2), align),
                      c.attr<bool>("half_pixel_centers")};
  if (grads.num_elements() == 0) {
    std::memset(out->raw(), 0, out->byte_size());
    return {};
  }
  kernels::resize_nearest_grad(out->dtype(), s, align, grads.raw(), out->raw(), c.pool());
  return {};
}

// ---- ScaleAndTranslate

Result<kernels::SamplingKernel> sampling_kernel(KernelContext& c) {
  const auto kernel = kernels::sampling_kernel(c.attr<std::string>("kernel_type"));
  if (!kernel) return invalid_argument("Unrecognized kernel type: ", c.attr<std::string>("kernel_type"));
  return *kernel;
}

// Scale is checked to be positive.
struct ScaleAndTranslation {
  float scale[2], translation[2];
};

Result<ScaleAndTranslation> scale_and_translation(KernelContext& c) {
  ScaleAndTranslation v;
  for (int i = 2; i < 4; ++i) {
    const Tensor& t = c.input(i);
    if (t.rank() != 1) return invalid_argument("t must be 1-dimensional", t.shape());
    if (t.num_elements() != 2) return invalid_argument("t must have two elements", t.shape());
    const float* p = t.data<float>();
    std::copy(p, p + 2, i == 2 ? v.scale : v.translation);
    if (i == 2 && !(p[0] > 0 && p[1] > 0)) return invalid_argument("Scale must be greater than zero.");
  }
  return v;
}

// TensorFlow holds the image between its two passes in memory: sizes that it must refuse, we refuse.
Status check_between(KernelContext& c, const Shape& shape) {
  if (shape.valid() && shape.num_elements() < int64_t(1) << 38) return {};
  return resource_exhausted("OOM when allocating tensor with shape", shape, " and type float on ", c.device().name());
}

Status run_scale_and_translate(KernelContext& c) {
  WEFT_ASSIGN(auto kernel, sampling_kernel(c));
  const Tensor &in = c.input(0), &size = c.input(1);
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in.shape());
  if (size.rank() != 1) return invalid_argument("output_shape_t must be 1-dimensional", size.shape());
  if (size.num_elements() != 2) return invalid_argument("output_shape_t must have two elements", size.shape());
  const int64_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
  if (in.dim(1) >= kMaxInt || in.dim(2) >= kMaxInt) return invalid_argument("input sizes must be between 0 and max int32");
  if (height <= 0 || width <= 0) return invalid_argument("output dimensions must be positive");
  if (in.dim(3) <= 0) return invalid_argument("image must have at least one channel");
  if (in.dim(1) <= 0 || in.dim(2) <= 0) return invalid_argument("input image must be of non-zero size");
  WEFT_ASSIGN(ScaleAndTranslation v, scale_and_translation(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {in.dim(0), height, width, in.dim(3)}));
  if (out->num_elements() == 0) return {};
  WEFT_RETURN_IF_ERROR(check_between(c, {in.dim(0), height, in.dim(2), in.dim(3)}));
  const bool antialias = c.attr<bool>("antialias");
  const auto columns = kernels::make_spans(kernel, width, in.dim(2), v.scale[1], v.translation[1], antialias);
  const auto rows = kernels::make_spans(kernel, height, in.dim(1), v.scale[0], v.translation[0], antialias);
  WEFT_ASSIGN(Tensor image, as_float(c, in));
  kernels::gather_spans(rows, columns, in.dim(0), in.dim(1), in.dim(2), in.dim(3), image.data<float>(), out->data<float>(), c.pool());
  return {};
}

Status run_scale_and_translate_grad(KernelContext& c) {
  WEFT_ASSIGN(auto kernel, sampling_kernel(c));
  const Tensor &grads = c.input(0), &original = c.input(1);
  if (grads.rank() != 4) return invalid_argument("input_grad must be 4-dimensional", grads.shape());
  if (original.rank() != 4) return invalid_argument("original_image must be 4-dimensional", original.shape());
  if (original.dim(1) >= kMaxInt || original.dim(2) >= kMaxInt) return invalid_argument("original sizes must be between 0 and max int32");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {grads.dim(0), original.dim(1), original.dim(2), grads.dim(3)}));
  WEFT_ASSIGN(ScaleAndTranslation v, scale_and_translation(c));
  if (out->num_elements() == 0) return {};
  WEFT_RETURN_IF_ERROR(check_between(c, {grads.dim(0), original.dim(1), grads.dim(2), grads.dim(3)}));
  const auto spans = [&](int axis) {
    const int64_t from = original.dim(axis + 1);
    return kernels::transposed_spans(
        kernels::make_spans(kernel, grads.dim(axis + 1), from, v.scale[axis], v.translation[axis], c.attr<bool>("antialias")), from);
  };
  kernels::gather_spans(spans(0), spans(1), grads.dim(0), grads.dim(1), grads.dim(2), grads.dim(3), grads.data<float>(), out->data<float>(),
                        c.pool());
  return {};
}

Grads bicubic_grad(const GradContext& g) {
  const DType t = g.x(0).dtype();
  if (t != DType::kFloat && t != DType::kDouble) return g.none();
  return {g.one("ResizeBicubicGrad", {g.dy(), g.x(0)}, g.attrs({"align_corners", "half_pixel_centers"})), {}};
}

}  // namespace

void image_resize(Registry& r) {
  r.add("ResizeArea")
      .doc("Resizes images; each new pixel is the mean of the area it covers.")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .shape(resize_shape)
      .batch(batch_folded<1>)
      .cpu(run_area);

  r.add("ResizeBicubic")
      .doc("Resizes images with cubic interpolation.")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(resize_shape)
      .batch(batch_folded<1>)
      .grad(bicubic_grad)
      .cpu(run_bicubic);

  r.add("ResizeBicubicGrad")
      .doc("The gradient of ResizeBicubic for its images.")
      .in("grads: float")
      .in("original_image: T")
      .out("output: T")
      .attr("T: {float, double}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(as_input_1)
      .cpu(run_bicubic_grad);

  r.add("ResizeBilinear")
      .doc("Resizes images with linear interpolation between the four nearest pixels.")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(resize_shape)
      .batch(batch_folded<1>)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("ResizeBilinearGrad", {g.dy(), g.x(0)}, g.attrs({"align_corners", "half_pixel_centers"})), {}};
      })
      .cpu(run_bilinear);

  r.add("ResizeBilinearGrad")
      .doc("The gradient of ResizeBilinear for its images.")
      .in("grads: float")
      .in("original_image: T")
      .out("output: T")
      .attr("T: {float, bfloat16, half, double}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(as_input_1)
      .batch(batch_folded<2>)
      .no_grad()
      .cpu(run_bilinear_grad);

  r.add("ResizeNearestNeighbor")
      .doc("Resizes images by repeating or leaving out pixels.")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: T")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(resize_shape)
      .batch(batch_folded<1>)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("ResizeNearestNeighborGrad", {g.dy(), slice(shape_of(g.x(0)), ints(g.emitter(), {1}), ints(g.emitter(), {2}))},
                      g.attrs({"align_corners", "half_pixel_centers"})),
                {}};
      })
      .cpu(run_nearest);

  r.add("ResizeNearestNeighborGrad")
      .doc("The gradient of ResizeNearestNeighbor for its images.")
      .in("grads: T")
      .in("size: int32")
      .out("output: T")
      .attr("T: {uint8, int8, int32, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(nearest_grad_shape)
      .cpu(run_nearest_grad);

  r.add("ScaleAndTranslate")
      .doc("Resamples images, scaled and moved, with a filter kernel.")
      .in("images: T")
      .in("size: int32")
      .in("scale: float")
      .in("translation: float")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}")
      .attr("kernel_type: string = 'lanczos3'")
      .attr("antialias: bool = true")
      .shape(resize_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("ScaleAndTranslateGrad", {g.dy(), g.x(0), g.x(2), g.x(3)}, g.attrs({"kernel_type", "antialias"})), {}, {}, {}};
      })
      .cpu(run_scale_and_translate);

  r.add("ScaleAndTranslateGrad")
      .doc("The gradient of ScaleAndTranslate for its images.")
      .in("grads: T")
      .in("original_image: T")
      .in("scale: float")
      .in("translation: float")
      .out("output: T")
      .attr("T: {float}")
      .attr("kernel_type: string = 'lanczos3'")
      .attr("antialias: bool = true")
      .shape(as_input_1)
      .cpu(run_scale_and_translate_grad);
}

}  // namespace weft_engine::ops

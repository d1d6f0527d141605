#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void image_resize(Registry& r) {
  r.add("CropAndResize")
      .in("image: T")
      .in("boxes: float")
      .in("box_ind: int32")
      .in("crop_size: int32")
      .out("crops: float")
      .attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
      .attr("method: {'bilinear', 'nearest'} = 'bilinear'")
      .attr("extrapolation_value: float = 0");

  r.add("CropAndResizeGradBoxes")
      .in("grads: float")
      .in("image: T")
      .in("boxes: float")
      .in("box_ind: int32")
      .out("output: float")
      .attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
      .attr("method: {'bilinear'} = 'bilinear'");

  r.add("CropAndResizeGradImage")
      .in("grads: float")
      .in("boxes: float")
      .in("box_ind: int32")
      .in("image_size: int32")
      .out("output: T")
      .attr("T: {float, half, double}")
      .attr("method: {'bilinear', 'nearest'} = 'bilinear'");

  r.add("ExtractGlimpse")
      .in("input: float")
      .in("size: int32")
      .in("offsets: float")
      .out("glimpse: float")
      .attr("centered: bool = true")
      .attr("normalized: bool = true")
      .attr("uniform_noise: bool = true")
      .attr("noise: string = 'uniform'");

  r.add("ExtractGlimpseV2")
      .in("input: float")
      .in("size: int32")
      .in("offsets: float")
      .out("glimpse: float")
      .attr("centered: bool = true")
      .attr("normalized: bool = true")
      .attr("uniform_noise: bool = true")
      .attr("noise: string = 'uniform'");

  r.add("ImageProjectiveTransformV2")
      .in("images: dtype")
      .in("transforms: float")
      .in("output_shape: int32")
      .out("transformed_images: dtype")
      .attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
      .attr("interpolation: string")
      .attr("fill_mode: string = 'CONSTANT'");

  r.add("ImageProjectiveTransformV3")
      .in("images: dtype")
      .in("transforms: float")
      .in("output_shape: int32")
      .in("fill_value: float")
      .out("transformed_images: dtype")
      .attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
      .attr("interpolation: string")
      .attr("fill_mode: string = 'CONSTANT'");

  r.add("ResizeArea")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false");

  r.add("ResizeBicubic")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false");

  r.add("ResizeBicubicGrad")
      .in("grads: float")
      .in("original_image: T")
      .out("output: T")
      .attr("T: {float, double}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false");

  r.add("ResizeBilinear")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false");

  r.add("ResizeBilinearGrad")
      .in("grads: float")
      .in("original_image: T")
      .out("output: T")
      .attr("T: {float, bfloat16, half, double}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false");

  r.add("ResizeNearestNeighbor")
      .in("images: T")
      .in("size: int32")
      .out("resized_images: T")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false");

  r.add("ResizeNearestNeighborGrad")
      .in("grads: T")
      .in("size: int32")
      .out("output: T")
      .attr("T: {uint8, int8, int32, half, float, double, bfloat16}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false");

  r.add("ScaleAndTranslate")
      .in("images: T")
      .in("size: int32")
      .in("scale: float")
      .in("translation: float")
      .out("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}")
      .attr("kernel_type: string = 'lanczos3'")
      .attr("antialias: bool = true");

  r.add("ScaleAndTranslateGrad")
      .in("grads: T")
      .in("original_image: T")
      .in("scale: float")
      .in("translation: float")
      .out("output: T")
      .attr("T: {float}")
      .attr("kernel_type: string = 'lanczos3'")
      .attr("antialias: bool = true");
}

}  // namespace weft::ops

// Crops of images at boxes given in relative coordinates, resized (CropAndResize); projective warps.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

struct CropSizes {
  int64_t batch, height, width, depth;           // of the images
  int64_t boxes, crop_height, crop_width;
};

// boxes: [n, 4] as y1, x1, y2, x2; box_image: which image each is cut from, within range.
void crop_and_resize(const CropSizes& s, bool nearest, float extrapolation, const float* image, const float* boxes, const int32_t* box_image,
                     float* crops, core::ThreadPool& pool);
template <class T>  // float, double, half
void crop_and_resize_grad_image(const CropSizes& s, bool nearest, const float* grads, const float* boxes, const int32_t* box_image, T* image,
                                core::ThreadPool& pool);
void crop_and_resize_grad_boxes(const CropSizes& s, const float* grads, const float* image, const float* boxes, const int32_t* box_image, float* out,
                                core::ThreadPool& pool);

enum class FillMode { kReflect, kWrap, kConstant, kNearest };
struct WarpSizes {
  int64_t batch, in_height, in_width, channels, out_height, out_width;
  bool one_transform;  // for all images
};
// transforms: 8 numbers each, from output to input coordinates.
template <class T>  // uint8, int32, int64, half, bfloat16, float, double
void projective_warp(const WarpSizes& s, bool bilinear, FillMode mode, float fill, const T* in, const float* transforms, T* out,
                     core::ThreadPool& pool);

}  // namespace weft_engine::kernels

// Image resizing: [batch, height, width, channels] in memory order. Inputs of every type are read as
// float; where a sample falls between pixels is worked out once per row and column.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

struct ResizeSizes {
  int64_t batch, in_height, in_width, channels, out_height, out_width;
  float height_scale, width_scale;  // input pixels for one output pixel
  bool half_pixel_centers = false;
};

// out[i] = float(in[i]) for any real type.
void to_float(core::DType type, const void* in, float* out, int64_t n, core::ThreadPool& pool);

void resize_bilinear(const ResizeSizes& s, const float* in, float* out, core::ThreadPool& pool);
void resize_bicubic(const ResizeSizes& s, const float* in, float* out, core::ThreadPool& pool);
void resize_area(const ResizeSizes& s, const float* in, float* out, core::ThreadPool& pool);
// Copies pixels of `pixel_bytes` (all channels).
void resize_nearest(const ResizeSizes& s, bool align_corners, const void* in, void* out, int64_t pixel_bytes, core::ThreadPool& pool);

// Gradients: `s` describes the forward op; sums are made in T.
template <class T>  // float, double, half, bfloat16
void resize_bilinear_grad(const ResizeSizes& s, const float* dout, T* din, core::ThreadPool& pool);
template <class T>  // float, double
void resize_bicubic_grad(const ResizeSizes& s, const float* dout, T* din, core::ThreadPool& pool);
// `s.in_*` is the size of din; integers wrap.
void resize_nearest_grad(core::DType type, const ResizeSizes& s, bool align_corners, const void* dout, void* din, core::ThreadPool& pool);

// A sample between two pixels, or four; offsets count pixels times `step`.
struct LinearTap {
  int64_t lower, upper;
  float weight;  // of upper
};
struct CubicTap {
  int64_t offset[4];
  float weight[4];
};
std::vector<LinearTap> linear_taps(int64_t out, int64_t in, float scale, bool half_pixel_centers, int64_t step);
std::vector<CubicTap> cubic_taps(int64_t out, int64_t in, float scale, bool half_pixel_centers, int64_t step);

// Row loops.
WEFT_DECLARE_ISA(void bilinear_row(const float* top, const float* bottom, float weight, const LinearTap* taps, int64_t width, int64_t channels,
                                   float* out))
WEFT_DECLARE_ISA(void cubic_blend(const float* const* rows, const float* weight, int64_t n, float* out))
WEFT_DECLARE_ISA(void cubic_columns(const float* row, const CubicTap* taps, int64_t width, int64_t channels, float* out))
WEFT_DECLARE_ISA(void add_scaled_row(const float* in, float weight, int64_t n, float* out))

}  // namespace weft_engine::kernels

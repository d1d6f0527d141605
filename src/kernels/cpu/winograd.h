// 3x3 convolutions of stride 1 by Winograd's minimal filtering (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks):
// outputs are made in tiles of 4x4 from 6x6 inputs with 36 multiplications instead of 144, as 36 matrix products over the channels.
// The points 0, 1, -1, 1/2, -2 and infinity keep the rounding errors at about twice those of a plain sum.
#pragma once

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul_epilogue.h"
#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

// Whether these kernels serve the convolution and are faster than a direct one.
bool winograd_serves(const ConvGeometry& g);

// bias (may be null) and activation are applied to the result.
void winograd_forward(const ConvGeometry& g, const float* in, const float* filter, float* out, const float* bias, Epilogue e, float alpha,
                      core::ThreadPool& pool);
void winograd_backward_input(const ConvGeometry& g, const float* filter, const float* dout, float* din, core::ThreadPool& pool);
void winograd_backward_filter(const ConvGeometry& g, const float* in, const float* dout, float* dfilter, core::ThreadPool& pool);

// An array [batch, height, width, channels] and a grid of tiles over it, each `step` places from the next; the first begins at
// (-top, -left). Outside the array there are zeros.
struct TileGrid {
  int64_t height, width, channels;
  int64_t top, left;
  int64_t rows, columns;  // tiles of an image
};

// w [3, 3, in, out] -> u [36, in, out]
WEFT_DECLARE_ISA(void winograd_filter(const float* w, int64_t in, int64_t out, float* u))
// Tiles [first, first + count) of 6x6, 4 apart -> v [36, count, channels], `plane` elements from one of the 36 to the next
WEFT_DECLARE_ISA(void winograd_input(const TileGrid& g, const float* x, int64_t first, int64_t count, float* v, int64_t plane))
// m [36, count, channels] -> tiles of 4x4
WEFT_DECLARE_ISA(void winograd_output(const TileGrid& g, const float* m, int64_t plane, int64_t first, int64_t count, const float* bias, bool relu,
                                      float* y))
// For the filter's gradient: tiles of 4x4 -> v [36, count, channels], and m [36, in, out] -> dw [3, 3, in, out]
WEFT_DECLARE_ISA(void winograd_grad(const TileGrid& g, const float* dy, int64_t first, int64_t count, float* v, int64_t plane))
WEFT_DECLARE_ISA(void winograd_filter_grad(const float* m, int64_t in, int64_t out, float* dw))

}  // namespace weft_engine::kernels

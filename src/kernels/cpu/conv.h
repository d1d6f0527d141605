// Convolutions as matrix products over patches (im2col), for any window, stride, dilation and group
// count. Filters are laid out [depth, height, width, in_channels / groups, out_channels]. These are the
// reference for the library path (onednn.h). T: float, double, uint32_t (int32 with wrapping).
#pragma once

#include "core/thread_pool.h"
#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

template <class T>
void conv_forward(const ConvGeometry& g, const T* in, const T* filter, T* out, core::ThreadPool& pool);
template <class T>
void conv_backward_input(const ConvGeometry& g, const T* filter, const T* dout, T* din, core::ThreadPool& pool);
template <class T>
void conv_backward_filter(const ConvGeometry& g, const T* in, const T* dout, T* dfilter, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

// Float convolutions by oneDNN, loaded when first needed: a machine without libdnnl.so.2, or a run with
// WEFT_ONEDNN=0, uses kernels/cpu/conv.h instead. Every call of the library runs on one thread inside our
// pool's tasks; how the batch is cut into tasks depends on shapes alone, so the thread count never shows
// in the bits.
#pragma once

#include "core/thread_pool.h"
#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

// false: the library is missing or switched off, or does not do this convolution, or our own code is
// known to be faster for it; nothing was written.
bool onednn_conv_forward(const ConvGeometry& g, const float* in, const float* filter, float* out, core::ThreadPool& pool);
bool onednn_conv_backward_input(const ConvGeometry& g, const float* filter, const float* dout, float* din, core::ThreadPool& pool);
bool onednn_conv_backward_filter(const ConvGeometry& g, const float* in, const float* dout, float* dfilter, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

// Depthwise convolutions: each input channel has its own `multiplier` filters. Vector loops over
// channels. Filters are laid out [height, width, channel, multiplier].
#pragma once

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

struct DepthwiseGeometry {
  int64_t batch = 0, channels = 0, multiplier = 1;
  WindowDim h, w;
  int64_t out_channels() const { return channels * multiplier; }
  // Forward, several filters a channel are taken one after the other, each over all channels, where those fill a register: the filter is then
  // [multiplier, height, width, channel].
  bool in_planes(size_t element_size) const { return multiplier > 1 && size_t(channels) * element_size >= 16; }
};

// Work on rows [begin, end) of all images' rows: of the output (forward), of the input (backward_input)
// or of the output, adding to dfilter (backward_filter).
#define WEFT_DEPTHWISE(T, suffix)                                                                                                                 \
  WEFT_DECLARE_ISA(void depthwise_forward_##suffix(const DepthwiseGeometry& g, const T* in, const T* filter, T* out, int64_t begin, int64_t end)) \
  WEFT_DECLARE_ISA(void depthwise_input_##suffix(const DepthwiseGeometry& g, const T* filter, const T* dout, T* din, int64_t begin, int64_t end)) \
  WEFT_DECLARE_ISA(void depthwise_filter_##suffix(const DepthwiseGeometry& g, const T* in, const T* dout, T* dfilter, int64_t begin, int64_t end))
WEFT_DEPTHWISE(float, float)
WEFT_DEPTHWISE(double, double)
#undef WEFT_DEPTHWISE

template <class T>
void depthwise_forward(const DepthwiseGeometry& g, const T* in, const T* filter, T* out, core::ThreadPool& pool);
template <class T>
void depthwise_backward_input(const DepthwiseGeometry& g, const T* filter, const T* dout, T* din, core::ThreadPool& pool);
template <class T>
void depthwise_backward_filter(const DepthwiseGeometry& g, const T* in, const T* dout, T* dfilter, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

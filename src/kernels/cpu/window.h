// The geometry of sliding windows: convolutions and pools. Everything is kept as three spatial
// dimensions, channels last (batch, depth, height, width, channel); a 2-D op has depth 1.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft_engine::kernels {

// One spatial dimension. Output o reads inputs o * stride - before + f * dilation for f in [0, window).
// Whoever fills it has checked that none of these products overflows (ops/nn/window.h).
struct WindowDim {
  int64_t in = 1, window = 1, out = 1, stride = 1, dilation = 1, before = 0;

  int64_t start(int64_t o) const { return o * stride - before; }
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  // The taps f that fall inside the input, given where the window starts; empty: begin == end.
  Range taps(int64_t start) const {
    if (dilation == 1) {  // the usual case, without divisions
      const int64_t first = std::clamp<int64_t>(-start, 0, window), last = std::clamp<int64_t>(in - start, first, window);
      return {first, last};
    }
    const int64_t begin = start >= 0 ? 0 : std::min(window, (-start + dilation - 1) / dilation);
    const int64_t end = start >= in ? begin : std::min(window, (in - 1 - start) / dilation + 1);
    return {begin, std::max(begin, end)};
  }
  // The inputs that output o covers, for windows without dilation.
  Range inputs(int64_t o) const {
    const int64_t s = start(o), begin = std::clamp<int64_t>(s, 0, in);
    return {begin, std::max(begin, std::min(in, s + window))};
  }
  bool trivial() const { return window == 1 && stride == 1 && before == 0 && in == out; }
};

struct ConvGeometry {
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  WindowDim dim[3];

  int64_t in_positions() const { return dim[0].in * dim[1].in * dim[2].in; }
  int64_t out_positions() const { return dim[0].out * dim[1].out * dim[2].out; }
  int64_t taps() const { return dim[0].window * dim[1].window * dim[2].window; }
  // Length of the patch that one output of one group is made from.
  int64_t patch() const { return taps() * (in_channels / groups); }
};

}  // namespace weft_engine::kernels

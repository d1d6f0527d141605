#include <algorithm>
#include <cstring>

#include "kernels/cpu/depthwise.h"
#include "kernels/cpu/isa_begin.h"

namespace {

constexpr int kBlock = 64;  // channels whose sums stay in registers

// out[c] = sum over taps of in[c] * filter[c], one filter per channel.
template <class T>
void forward_pixel(const DepthwiseGeometry& g, const T* image, const T* filter, int64_t sh, int64_t sw, T* __restrict out) {
  const auto th = g.h.taps(sh), tw = g.w.taps(sw);
  const int64_t n = g.channels;
  for (int64_t c = 0; c < n; c += kBlock) {
    const int size = int(std::min<int64_t>(kBlock, n - c));
    T sum[kBlock] = {};
    for (int64_t fh = th.begin; fh < th.end; ++fh) {
      for (int64_t fw = tw.begin; fw < tw.end; ++fw) {
        const T* __restrict x = image + ((sh + fh * g.h.dilation) * g.w.in + sw + fw * g.w.dilation) * n + c;
        const T* __restrict y = filter + (fh * g.w.window + fw) * n + c;
        if (size == kBlock) {
          for (int i = 0; i < kBlock; ++i) sum[i] += x[i] * y[i];
        } else {
          for (int i = 0; i < size; ++i) sum[i] += x[i] * y[i];
        }
      }
    }
    std::copy(sum, sum + size, out + c);
  }
}

template <class T>
void forward_pixel_multiplied(const DepthwiseGeometry& g, const T* image, const T* filter, int64_t sh, int64_t sw, T* __restrict out) {
  const auto th = g.h.taps(sh), tw = g.w.taps(sw);
  const int64_t m = g.multiplier, n = g.channels * m;
  std::fill(out, out + n, T(0));
  for (int64_t fh = th.begin; fh < th.end; ++fh) {
    for (int64_t fw = tw.begin; fw < tw.end; ++fw) {
      const T* __restrict x = image + ((sh + fh * g.h.dilation) * g.w.in + sw + fw * g.w.dilation) * g.channels;
      const T* __restrict y = filter + (fh * g.w.window + fw) * n;
      for (int64_t c = 0; c < g.channels; ++c) {
        for (int64_t i = 0; i < m; ++i) out[c * m + i] += x[c] * y[c * m + i];
      }
    }
  }
}

template <class T>
void forward(const DepthwiseGeometry& g, const T* in, const T* filter, T* out, int64_t begin, int64_t end) {
  const int64_t image = g.h.in * g.w.in * g.channels, n = g.out_channels();
  for (int64_t row = begin; row < end; ++row) {
    const T* from = in + row / g.h.out * image;
    const int64_t sh = g.h.start(row % g.h.out);
    T* to = out + row * g.w.out * n;
    for (int64_t w = 0; w < g.w.out; ++w, to += n) {
      if (g.multiplier == 1) forward_pixel(g, from, filter, sh, g.w.start(w), to);
      else forward_pixel_multiplied(g, from, filter, sh, g.w.start(w), to);
    }
  }
}

// Where the tap f of some output falls on input i: that output, or -1.
inline int64_t output_of(const WindowDim& d, int64_t i, int64_t f) {
  const int64_t at = i + d.before - f * d.dilation;
  if (at < 0 || at % d.stride != 0) return -1;
  return at / d.stride < d.out ? at / d.stride : -1;
}

template <class T>
void backward_input(const DepthwiseGeometry& g, const T* filter, const T* dout, T* din, int64_t begin, int64_t end) {
  const int64_t m = g.multiplier, n = g.out_channels();
  for (int64_t row = begin; row < end; ++row) {
    const T* image = dout + row / g.h.in * g.h.out * g.w.out * n;
    const int64_t h = row % g.h.in;
    T* __restrict to = din + row * g.w.in * g.channels;
    std::fill(to, to + g.w.in * g.channels, T(0));
    for (int64_t fh = 0; fh < g.h.window; ++fh) {
      const int64_t oh = output_of(g.h, h, fh);
      if (oh < 0) continue;
      for (int64_t w = 0; w < g.w.in; ++w) {
        T* __restrict dx = to + w * g.channels;
        for (int64_t fw = 0; fw < g.w.window; ++fw) {
          const int64_t ow = output_of(g.w, w, fw);
          if (ow < 0) continue;
          const T* __restrict dy = image + (oh * g.w.out + ow) * n;
          const T* __restrict y = filter + (fh * g.w.window + fw) * n;
          if (m == 1) {
            for (int64_t c = 0; c < n; ++c) dx[c] += dy[c] * y[c];
          } else {
            for (int64_t c = 0; c < g.channels; ++c) {
              T sum = 0;
              for (int64_t i = 0; i < m; ++i) sum += dy[c * m + i] * y[c * m + i];
              dx[c] += sum;
            }
          }
        }
      }
    }
  }
}

template <class T>
void backward_filter(const DepthwiseGeometry& g, const T* in, const T* dout, T* dfilter, int64_t begin, int64_t end) {
  const int64_t m = g.multiplier, n = g.out_channels(), image = g.h.in * g.w.in * g.channels;
  for (int64_t row = begin; row < end; ++row) {
    const T* from = in + row / g.h.out * image;
    const int64_t sh = g.h.start(row % g.h.out);
    const auto th = g.h.taps(sh);
    for (int64_t w = 0; w < g.w.out; ++w) {
      const int64_t sw = g.w.start(w);
      const auto tw = g.w.taps(sw);
      const T* __restrict dy = dout + (row * g.w.out + w) * n;
      for (int64_t fh = th.begin; fh < th.end; ++fh) {
        for (int64_t fw = tw.begin; fw < tw.end; ++fw) {
          const T* __restrict x = from + ((sh + fh * g.h.dilation) * g.w.in + sw + fw * g.w.dilation) * g.channels;
          T* __restrict y = dfilter + (fh * g.w.window + fw) * n;
          if (m == 1) {
            for (int64_t c = 0; c < n; ++c) y[c] += x[c] * dy[c];
          } else {
            for (int64_t c = 0; c < g.channels; ++c) {
              for (int64_t i = 0; i < m; ++i) y[c * m + i] += x[c] * dy[c * m + i];
            }
          }
        }
      }
    }
  }
}

}  // namespace

#define WEFT_DEPTHWISE(T, suffix)                                                                                                 \
  void depthwise_forward_##suffix(const DepthwiseGeometry& g, const T* in, const T* filter, T* out, int64_t begin, int64_t end) { \
    forward(g, in, filter, out, begin, end);                                                                                      \
  }                                                                                                                               \
  void depthwise_input_##suffix(const DepthwiseGeometry& g, const T* filter, const T* dout, T* din, int64_t begin, int64_t end) { \
    backward_input(g, filter, dout, din, begin, end);                                                                             \
  }                                                                                                                               \
  void depthwise_filter_##suffix(const DepthwiseGeometry& g, const T* in, const T* dout, T* df, int64_t begin, int64_t end) {     \
    backward_filter(g, in, dout, df, begin, end);                                                                                 \
  }
WEFT_DEPTHWISE(float, float)
WEFT_DEPTHWISE(double, double)

#include "kernels/cpu/isa_end.h"

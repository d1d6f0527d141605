#include <algorithm>
#include <cstring>

#include "kernels/cpu/depthwise.h"
#include "kernels/cpu/isa_begin.h"

namespace {

#if defined(WEFT_ISA_AVX512)
constexpr int kRegister = 64;
#elif defined(WEFT_ISA_AVX2)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif
template <class T, int kBytes>
struct Register {
  typedef T Type __attribute__((vector_size(kBytes)));
};

// The window over a row of outputs: a tap's input is x + (base + fh * row + fw * column), the next output's `step` further on.
struct Taps {
  int64_t h_begin, h_end, w_begin, w_end, base, row, column, step;
};

// kPixels neighbouring outputs of sizeof(V) bytes of channels: each tap of the filter is read once for all of them. Sums go over the taps in order.
template <class V, int kPixels, class T>
inline void forward_block(const Taps& t, const T* x, const T* filter, int64_t filter_width, int64_t n, T* out, int64_t out_step, int64_t spread) {
  V sum[kPixels] = {};
  for (int64_t fh = t.h_begin; fh < t.h_end; ++fh) {
    for (int64_t fw = t.w_begin; fw < t.w_end; ++fw) {
      V y;
      __builtin_memcpy(&y, filter + (fh * filter_width + fw) * n, sizeof y);
      const T* from = x + (t.base + fh * t.row + fw * t.column);
      for (int p = 0; p < kPixels; ++p) {
        V v;
        __builtin_memcpy(&v, from + p * t.step, sizeof v);
        sum[p] += v * y;
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    if (spread == 1) {
      __builtin_memcpy(out + p * out_step, &sum[p], sizeof(V));
    } else {
      T lanes[sizeof(V) / sizeof(T)];
      __builtin_memcpy(lanes, &sum[p], sizeof lanes);
      for (size_t l = 0; l < sizeof(V) / sizeof(T); ++l) out[p * out_step + int64_t(l) * spread] = lanes[l];
    }
  }
}

// All channels of kPixels outputs, by one of the filters of each channel.
template <int kPixels, class T>
inline void forward_channels(const Taps& t, const T* x, const T* filter, int64_t filter_width, int64_t n, T* out, int64_t out_step, int64_t spread) {
  constexpr int64_t kLarge = kRegister / sizeof(T), kSmall = 16 / sizeof(T);
  int64_t c = 0;
  for (; c + kLarge <= n; c += kLarge) {
    forward_block<typename Register<T, kRegister>::Type, kPixels>(t, x + c, filter + c, filter_width, n, out + c * spread, out_step, spread);
  }
  for (; c + kSmall <= n; c += kSmall) {
    forward_block<typename Register<T, 16>::Type, kPixels>(t, x + c, filter + c, filter_width, n, out + c * spread, out_step, spread);
  }
  for (; c < n; ++c) forward_block<T, kPixels>(t, x + c, filter + c, filter_width, n, out + c * spread, out_step, spread);
}

// A row of outputs; `spread` is the distance of two channels' outputs.
template <class T>
void forward_row(const DepthwiseGeometry& g, const T* image, const T* filter, int64_t sh, T* out, int64_t spread) {
  const auto th = g.h.taps(sh);
  const int64_t n = g.channels;
  constexpr int kPixels = 4;
  for (int64_t w = 0; w < g.w.out;) {
    const int64_t sw = g.w.start(w);
    const auto tw = g.w.taps(sw);
    Taps t{th.begin, th.end, tw.begin, tw.end, (sh * g.w.in + sw) * n, g.h.dilation * g.w.in * n, g.w.dilation * n, g.w.stride * n};

    T* to = out + w * n * spread;
    bool together = w + kPixels <= g.w.out && tw.begin == 0 && tw.end == g.w.window;
    if (together) {
      const auto last = g.w.taps(g.w.start(w + kPixels - 1));
      together = last.begin == 0 && last.end == g.w.window;
    }
    if (together) {
      forward_channels<kPixels>(t, image, filter, g.w.window, n, to, n * spread, spread);
      w += kPixels;
    } else {
      forward_channels<1>(t, image, filter, g.w.window, n, to, n * spread, spread);
      ++w;
    }
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
    if (g.multiplier == 1 || g.in_planes(sizeof(T))) {
      const int64_t plane = g.h.window * g.w.window * g.channels;
      for (int64_t i = 0; i < g.multiplier; ++i) forward_row(g, from, filter + i * plane, sh, to + i, g.multiplier);
    } else {
      for (int64_t w = 0; w < g.w.out; ++w, to += n) forward_pixel_multiplied(g, from, filter, sh, g.w.start(w), to);
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

// Patches of images as rows of a matrix (im2col), shared by the convolutions that are matrix products.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

// Walks over output positions of the whole batch in order.
struct PatchPosition {
  int64_t image, d, h, w;
  PatchPosition(const ConvGeometry& g, int64_t row) {
    w = row % g.dim[2].out, row /= g.dim[2].out;
    h = row % g.dim[1].out, row /= g.dim[1].out;
    d = row % g.dim[0].out, image = row / g.dim[0].out;
  }
  void next(const ConvGeometry& g) {
    if (++w < g.dim[2].out) return;
    w = 0;
    if (++h < g.dim[1].out) return;
    h = 0;
    if (++d < g.dim[0].out) return;
    d = 0, ++image;
  }
};

// Calls f(offset in the patch, offset in the image, elements) for every run of the patch at p that is
// inside the input; `group` selects the channels.
template <class F>
void for_each_run(const ConvGeometry& g, const PatchPosition& p, int64_t group, F&& f) {
  const WindowDim &dd = g.dim[0], &dh = g.dim[1], &dw = g.dim[2];
  const int64_t channels = g.in_channels / g.groups;
  const int64_t sd = dd.start(p.d), sh = dh.start(p.h), sw = dw.start(p.w);
  const auto td = dd.taps(sd), th = dh.taps(sh), tw = dw.taps(sw);
  if (tw.size() == 0) return;
  // Neighbouring columns are neighbours in memory too, if nothing is between them.
  const bool joined = dw.dilation == 1 && g.groups == 1;
  for (int64_t fd = td.begin; fd < td.end; ++fd) {
    for (int64_t fh = th.begin; fh < th.end; ++fh) {
      const int64_t row = (sd + fd * dd.dilation) * dh.in + sh + fh * dh.dilation;
      const int64_t to = ((fd * dh.window + fh) * dw.window) * channels;
      const int64_t from = row * dw.in * g.in_channels + group * channels;
      if (joined) {
        f(to + tw.begin * channels, from + (sw + tw.begin) * channels, tw.size() * channels);
      } else {
        for (int64_t fw = tw.begin; fw < tw.end; ++fw) f(to + fw * channels, from + (sw + fw * dw.dilation) * g.in_channels, channels);
      }
    }
  }
}

// n elements in whole vectors, the last of which may repeat some: a call of memcpy takes as long as copying a few hundred bytes.
template <class T>
inline void copy_patch_run(T* to, const T* from, int64_t n) {
  constexpr int64_t kFew = 16 / int64_t(sizeof(T));
  if (n < kFew) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + kFew <= n; i += kFew) std::memcpy(to + i, from + i, 16);
  std::memcpy(to + n - kFew, from + n - kFew, 16);
}

// The patches of `count` neighbours of one row of outputs, where the columns of a window are neighbours in memory: all that depends on the row is found once.
template <class T>
void gather_row(const ConvGeometry& g, const T* in, const PatchPosition& p, int64_t count, T outside, T* patches, int64_t step) {
  const WindowDim &dd = g.dim[0], &dh = g.dim[1], &dw = g.dim[2];
  const int64_t channels = g.in_channels, line = dw.window * channels, end = p.w + count;
  // [low, high): whose windows are inside the row.
  const int64_t room = dw.in + dw.before - dw.window;
  const int64_t low = std::clamp<int64_t>(dw.before > 0 ? (dw.before + dw.stride - 1) / dw.stride : 0, p.w, end);
  const int64_t high = std::clamp<int64_t>(room < 0 ? 0 : room / dw.stride + 1, low, end);
  for (int64_t fd = 0; fd < dd.window; ++fd) {
    const int64_t y = dd.start(p.d) + fd * dd.dilation;
    for (int64_t fh = 0; fh < dh.window; ++fh, patches += line) {
      const int64_t x = dh.start(p.h) + fh * dh.dilation;
      T* to = patches;
      if (y < 0 || y >= dd.in || x < 0 || x >= dh.in) {
        for (int64_t i = 0; i < count; ++i, to += step) std::fill_n(to, line, outside);
        continue;
      }
      const T* const row = in + (y * dh.in + x) * dw.in * channels;
      const auto edge = [&](int64_t w) {
        const auto taps = dw.taps(dw.start(w));
        std::fill_n(to, line, outside);
        if (taps.size() > 0) copy_patch_run(to + taps.begin * channels, row + (dw.start(w) + taps.begin) * channels, taps.size() * channels);
        to += step;
      };
      for (int64_t w = p.w; w < low; ++w) edge(w);
      const T* from = row + dw.start(low) * channels;
      for (int64_t w = low; w < high; ++w, to += step, from += dw.stride * channels) copy_patch_run(to, from, line);
      for (int64_t w = high; w < end; ++w) edge(w);
    }
  }
}

// Patches [begin, end) of a group, `step` elements from one to the next; what is outside of the images is `outside`.
template <class T>
void gather_patches(const ConvGeometry& g, const T* in, int64_t begin, int64_t end, int64_t group, T outside, T* patches, int64_t step) {
  const int64_t size = g.patch(), image = g.in_positions() * g.in_channels;
  PatchPosition p(g, begin);
  if (g.groups == 1 && g.dim[2].dilation == 1) {
    for (int64_t r = begin; r < end;) {
      const int64_t count = std::min(end - r, g.dim[2].out - p.w);
      gather_row(g, in + p.image * image, p, count, outside, patches, step);
      r += count, patches += count * step;
      p.w += count - 1;
      p.next(g);
    }
    return;
  }
  for (int64_t r = begin; r < end; ++r, p.next(g), patches += step) {
    const T* from = in + p.image * image;
    int64_t inside = 1;
    const int64_t at[] = {p.d, p.h, p.w};
    for (int i = 0; i < 3; ++i) inside *= g.dim[i].taps(g.dim[i].start(at[i])).size();
    if (inside < g.taps()) std::fill(patches, patches + size, outside);
    for_each_run(g, p, group, [&](int64_t to, int64_t place, int64_t n) { copy_patch_run(patches + to, from + place, n); });
  }
}

}  // namespace weft_engine::kernels

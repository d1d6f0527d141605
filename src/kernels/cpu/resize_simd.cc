#include "kernels/cpu/resize.h"
#include "kernels/cpu/isa_begin.h"

namespace {

template <int C>
inline __attribute__((always_inline)) void bilinear_pixels(const float* __restrict top, const float* __restrict bottom, float weight,
                                                           const LinearTap* __restrict taps, int64_t width, int64_t channels, float* __restrict out) {
  const int64_t n = C ? C : channels;
  for (int64_t x = 0; x < width; ++x) {
    const LinearTap t = taps[x];
    const float *tl = top + t.lower, *tr = top + t.upper, *bl = bottom + t.lower, *br = bottom + t.upper;
    for (int64_t c = 0; c < n; ++c) {
      const float above = tl[c] + (tr[c] - tl[c]) * t.weight;
      const float below = bl[c] + (br[c] - bl[c]) * t.weight;
      out[x * n + c] = above + (below - above) * weight;
    }
  }
}

template <int C>
inline __attribute__((always_inline)) void cubic_pixels(const float* __restrict row, const CubicTap* __restrict taps, int64_t width, int64_t channels,
                                                        float* __restrict out) {
  const int64_t n = C ? C : channels;
  for (int64_t x = 0; x < width; ++x) {
    const CubicTap& t = taps[x];
    const float *a = row + t.offset[0], *b = row + t.offset[1], *c = row + t.offset[2], *d = row + t.offset[3];
    for (int64_t k = 0; k < n; ++k) {
      out[x * n + k] = a[k] * t.weight[0] + b[k] * t.weight[1] + c[k] * t.weight[2] + d[k] * t.weight[3];
    }
  }
}

}  // namespace

void bilinear_row(const float* top, const float* bottom, float weight, const LinearTap* taps, int64_t width, int64_t channels, float* out) {
  switch (channels) {
    case 1: return bilinear_pixels<1>(top, bottom, weight, taps, width, channels, out);
    case 3: return bilinear_pixels<3>(top, bottom, weight, taps, width, channels, out);
    case 4: return bilinear_pixels<4>(top, bottom, weight, taps, width, channels, out);
    default: return bilinear_pixels<0>(top, bottom, weight, taps, width, channels, out);
  }
}

void cubic_blend(const float* const* rows, const float* weight, int64_t n, float* __restrict out) {
  const float* __restrict a = rows[0], * __restrict b = rows[1], * __restrict c = rows[2], * __restrict d = rows[3];
  const float wa = weight[0], wb = weight[1], wc = weight[2], wd = weight[3];
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
}

void cubic_columns(const float* row, const CubicTap* taps, int64_t width, int64_t channels, float* out) {
  switch (channels) {
    case 1: return cubic_pixels<1>(row, taps, width, channels, out);
    case 3: return cubic_pixels<3>(row, taps, width, channels, out);
    default: return cubic_pixels<0>(row, taps, width, channels, out);
  }
}

void add_scaled_row(const float* __restrict in, float weight, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] += weight * in[i];
}

#include "kernels/cpu/isa_end.h"

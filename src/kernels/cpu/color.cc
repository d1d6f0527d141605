#include "kernels/cpu/color.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft_engine::kernels {

namespace {

// Which of the six sectors of the colour circle, for h in [0, 6); none for NaN and others.
int sector(float h) { return h >= 0 && h < 6 ? int(h) : -1; }

// Into [0, 6).
float wrap_hue(float h) {
  if (h < -60 || h >= 60) h = std::fmod(h, 6.f);  // by steps it would take long, or for ever
  while (h < 0) h += 6;
  while (h >= 6) h -= 6;
  return h;
}

}  // namespace

void adjust_hue(const float* in, float* out, int64_t pixels, float delta) {
  if (delta >= -1 && delta <= 1) return WEFT_BEST_ISA(adjust_hue_floats)(in, out, pixels, delta);
  for (int64_t i = 0; i < pixels; ++i, in += 3, out += 3) {
    const float r = in[0], g = in[1], b = in[2];
    float low, middle, high;
    int kind;
    if (r < g) {
      if (b < r) low = b, middle = r, high = g, kind = 1;
      else if (b > g) low = r, middle = g, high = b, kind = 3;
      else low = r, middle = b, high = g, kind = 2;
    } else {
      if (b < g) low = b, middle = g, high = r, kind = 0;
      else if (b > r) low = g, middle = r, high = b, kind = 4;
      else low = g, middle = b, high = r, kind = 5;
    }
    float h = 0;
    if (high != low) {
      const float ratio = (middle - low) / (high - low);
      h = float(kind) + (kind % 2 == 0 ? ratio : 1 - ratio);
    }
    h = wrap_hue(h + delta * 6);
    kind = sector(h);
    float ratio = h - float(kind);
    if (kind % 2) ratio = 1 - ratio;
    middle = low + ratio * (high - low);
    switch (kind) {
      case 0: out[0] = high, out[1] = middle, out[2] = low; break;
      case 1: out[0] = middle, out[1] = high, out[2] = low; break;
      case 2: out[0] = low, out[1] = high, out[2] = middle; break;
      case 3: out[0] = low, out[1] = middle, out[2] = high; break;
      case 4: out[0] = middle, out[1] = low, out[2] = high; break;
      default: out[0] = high, out[1] = low, out[2] = middle;
    }
  }
}

void adjust_contrast(const float* in, float* out, int64_t pixels, int64_t channels, float factor) {
  if (channels == 1 || channels == 3) return WEFT_BEST_ISA(adjust_contrast_floats)(in, out, pixels, channels, factor);
  std::vector<double> sums(size_t(channels), 0.0);
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < channels; ++c) sums[size_t(c)] += in[i * channels + c];
  }
  std::vector<float> means(size_t(channels), 0.f);
  for (int64_t c = 0; c < channels; ++c) means[size_t(c)] = float(sums[size_t(c)] / double(pixels));
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      const float mean = means[size_t(c)];
      out[i * channels + c] = mean + (in[i * channels + c] - mean) * factor;
    }
  }
}

}  // namespace weft_engine::kernels

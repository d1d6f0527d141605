#include "kernels/cpu/color.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/float_types.h"

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

template <class T>
T clamp_unit(T v) {
  if (v < T(0)) return T(0);
  return T(1) < v ? T(1) : v;
}

template <class T>
T magnitude(T v) {
  return v < T(0) ? T(-v) : v;
}

}  // namespace

template <class T>
void rgb_to_hsv(const T* in, T* out, int64_t pixels) {
  const T sixth = T(1) / T(6), third = T(2) / T(6), two_thirds = T(4) / T(6);
  for (int64_t i = 0; i < pixels; ++i, in += 3, out += 3) {
    const T r = in[0], g = in[1], b = in[2], v = std::max(std::max(r, g), b), range = v - std::min(std::min(r, g), b);
    const T norm = T(T(1) / range) * sixth;
    T h(0);
    if (range > T(0)) {
      if (r == v) h = norm * T(g - b);
      else if (g == v) h = T(norm * T(b - r)) + third;
      else h = T(norm * T(r - g)) + two_thirds;
      if (h < T(0)) h = h + T(1);
    }
    out[0] = h;
    out[1] = v > T(0) ? T(range / v) : T(0);
    out[2] = v;
  }
}

template <class T>
void hsv_to_rgb(const T* in, T* out, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i, in += 3, out += 3) {
    const T h = in[0] * T(6), s = in[1], v = in[2], rest = T(1) - s;
    const T r = clamp_unit(T(magnitude(T(h - T(3))) - T(1)));
    const T g = clamp_unit(T(T(2) - magnitude(T(h - T(2)))));
    const T b = clamp_unit(T(T(2) - magnitude(T(h - T(4)))));
    out[0] = T(rest + T(s * r)) * v;
    out[1] = T(rest + T(s * g)) * v;
    out[2] = T(rest + T(s * b)) * v;
  }
}

#define WEFT_COLOR(T)                              \
  template void rgb_to_hsv(const T*, T*, int64_t); \
  template void hsv_to_rgb(const T*, T*, int64_t);
WEFT_COLOR(core::half)
WEFT_COLOR(core::bfloat16)
WEFT_COLOR(float)
WEFT_COLOR(double)
#undef WEFT_COLOR

void adjust_hue(const float* in, float* out, int64_t pixels, float delta) {
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

void adjust_saturation(const float* in, float* out, int64_t pixels, float scale) {
  for (int64_t i = 0; i < pixels; ++i, in += 3, out += 3) {
    const float r = in[0], g = in[1], b = in[2], v = std::max(r, std::max(g, b)), range = v - std::min(r, std::min(g, b));
    float s = v > 0 ? range / v : 0.f;
    const float norm = 1.0f / (6.0f * range);
    float h = r == v ? norm * (g - b) : g == v ? float(norm * (b - r) + 2.0 / 6.0) : float(norm * (r - g) + 4.0 / 6.0);
    if (range <= 0) h = 0;
    if (h < 0) h += 1;
    s = std::min(1.0f, std::max(0.0f, s * scale));
    const float chroma = s * v, base = v - chroma, turn = h * 6;
    const float x = chroma * (1 - std::abs(std::fmod(turn, 2.0f) - 1));
    float rr = 0, gg = 0, bb = 0;
    switch (sector(turn)) {
      case 0: rr = chroma, gg = x; break;
      case 1: rr = x, gg = chroma; break;
      case 2: gg = chroma, bb = x; break;
      case 3: gg = x, bb = chroma; break;
      case 4: rr = x, bb = chroma; break;
      case 5: rr = chroma, bb = x; break;
      default: break;
    }
    out[0] = rr + base;
    out[1] = gg + base;
    out[2] = bb + base;
  }
}

namespace {

// The number of channels as a constant keeps sums and means in registers.
template <int kChannels>
void contrast_of(const float* in, float* out, int64_t pixels, float factor) {
  double sums[kChannels] = {};
  for (int64_t i = 0; i < pixels; ++i) {
    for (int c = 0; c < kChannels; ++c) sums[c] += in[i * kChannels + c];
  }
  float means[kChannels];
  for (int c = 0; c < kChannels; ++c) means[c] = float(sums[c] / double(pixels));
  for (int64_t i = 0; i < pixels; ++i) {
    for (int c = 0; c < kChannels; ++c) out[i * kChannels + c] = means[c] + (in[i * kChannels + c] - means[c]) * factor;
  }
}

}  // namespace

void adjust_contrast(const float* in, float* out, int64_t pixels, int64_t channels, float factor) {
  if (channels == 1) return contrast_of<1>(in, out, pixels, factor);
  if (channels == 3) return contrast_of<3>(in, out, pixels, factor);
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

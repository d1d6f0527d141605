#include <algorithm>

#include "core/float_types.h"
#include "kernels/cpu/color.h"
#include "kernels/cpu/intrinsics.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"

namespace {

// Without branches, so that loops over pixels become vector code.
template <class T>
inline T clamp_unit(T v) {
  const T low = v < T(0) ? T(0) : v;
  return T(1) < low ? T(1) : low;
}

template <class T>
inline T magnitude(T v) {
  return v < T(0) ? T(-v) : v;
}

}  // namespace

template <class T>
void rgb_to_hsv(const T* in, T* out, int64_t pixels) {
  const T sixth = T(1) / T(6), third = T(2) / T(6), two_thirds = T(4) / T(6);
  for (int64_t i = 0; i < pixels; ++i) {
    const T r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2], v = std::max(std::max(r, g), b), range = v - std::min(std::min(r, g), b);
    const T norm = T(T(1) / range) * sixth;
    const T red = norm * T(g - b), green = T(norm * T(b - r)) + third, blue = T(norm * T(r - g)) + two_thirds;
    T h = r == v ? red : g == v ? green : blue;
    h = range > T(0) ? h : T(0);
    h = h < T(0) ? T(h + T(1)) : h;
    const T s = range / v;
    out[3 * i] = h;
    out[3 * i + 1] = v > T(0) ? s : T(0);
    out[3 * i + 2] = v;
  }
}

template <class T>
void hsv_to_rgb(const T* in, T* out, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i) {
    const T h = in[3 * i] * T(6), s = in[3 * i + 1], v = in[3 * i + 2], rest = T(1) - s;
    const T r = clamp_unit(T(magnitude(T(h - T(3))) - T(1)));
    const T g = clamp_unit(T(T(2) - magnitude(T(h - T(2)))));
    const T b = clamp_unit(T(T(2) - magnitude(T(h - T(4)))));
    out[3 * i] = T(rest + T(s * r)) * v;
    out[3 * i + 1] = T(rest + T(s * g)) * v;
    out[3 * i + 2] = T(rest + T(s * b)) * v;
  }
}

#define WEFT_COLOR(T)                              \
  template void rgb_to_hsv(const T*, T*, int64_t); \
  template void hsv_to_rgb(const T*, T*, int64_t);
#if !defined(WEFT_ISA_AVX2) && !defined(WEFT_ISA_AVX512)
WEFT_COLOR(core::half)
WEFT_COLOR(core::bfloat16)
#endif
WEFT_COLOR(float)
WEFT_COLOR(double)
#undef WEFT_COLOR

namespace {

// The part of x >= 0 before the point.
inline Floats whole(Floats x) { return __builtin_convertvector(__builtin_convertvector(x, Ints), Floats); }
inline Floats between(Ints when, Floats yes, Floats no) { return when ? yes : no; }

// f on the three colours of pixels, of which it gets as many as a register holds.
template <void (*f)(Floats&, Floats&, Floats&, float)>
void each_pixel(const float* in, float* out, int64_t pixels, float amount) {
  constexpr int64_t kBlock = 64;
  float colours[3][kBlock] = {};
  for (int64_t first = 0; first < pixels; first += kBlock, in += 3 * kBlock, out += 3 * kBlock) {
    const int64_t n = std::min(kBlock, pixels - first);
    for (int64_t i = 0; i < n; ++i) colours[0][i] = in[3 * i], colours[1][i] = in[3 * i + 1], colours[2][i] = in[3 * i + 2];
    for (int64_t i = 0; i < n; i += kLanes) {
      Floats r = load(colours[0] + i), g = load(colours[1] + i), b = load(colours[2] + i);
      f(r, g, b, amount);
      store(colours[0] + i, r);
      store(colours[1] + i, g);
      store(colours[2] + i, b);
    }
    for (int64_t i = 0; i < n; ++i) out[3 * i] = colours[0][i], out[3 * i + 1] = colours[1][i], out[3 * i + 2] = colours[2][i];
  }
}

// The circle has six sectors, in each of which one colour is the highest, one the lowest and one between them.
inline void turn_hue(Floats& r, Floats& g, Floats& b, float turn) {
  const Ints rising = r < g;
  const Floats lesser = rising ? r : g, greater = rising ? g : r;
  const Ints below = b<lesser, above = b> greater;
  const Floats low = below ? b : lesser, high = above ? b : greater, middle = below ? lesser : above ? greater : b, range = high - low;
  const Floats up = below ? all(1) : above ? all(3) : all(2), down = below ? all(0) : above ? all(4) : all(5), first = rising ? up : down;
  const Floats share = (middle - low) / range, odd = first - 2 * whole(first * 0.5f);
  Floats h = high != low ? first + (odd > 0.f ? 1 - share : share) : all(0);
  h += turn;
  h = h < 0.f ? h + 6 : h;
  h = h >= 6.f ? h - 6 : h;
  const Floats sector = whole(h), rest = h - sector, odd_sector = sector - 2 * whole(sector * 0.5f);
  const Floats inner = low + (odd_sector > 0.f ? 1 - rest : rest) * range;
  r = between((sector == 1.f) | (sector == 4.f), inner, between((sector == 2.f) | (sector == 3.f), low, high));
  g = between((sector == 1.f) | (sector == 2.f), high, between((sector == 0.f) | (sector == 3.f), inner, low));
  b = between((sector == 3.f) | (sector == 4.f), high, between((sector == 0.f) | (sector == 1.f), low, inner));
}

inline void scale_saturation(Floats& r, Floats& g, Floats& b, float scale) {
  const Floats most = g > b ? g : b, least = g < b ? g : b, v = r > most ? r : most, range = v - (r < least ? r : least);
  const Floats norm = 1.0f / (6.0f * range);
  const Floats red = norm * (g - b), green = norm * (b - r) + float(2.0 / 6.0), blue = norm * (r - g) + float(4.0 / 6.0);
  Floats h = r == v ? red : g == v ? green : blue;
  h = range > 0.f ? h : all(0);
  h = h < 0.f ? h + 1 : h;
  Floats s = (v > 0.f ? range / v : all(0)) * scale;
  s = s > 0.f ? s : all(0);
  s = s < 1.f ? s : all(1);
  const Floats chroma = s * v, base = v - chroma, turn = h * 6, sector = whole(turn);
  const Floats x = chroma * (1 - absolute(turn - 2 * whole(turn * 0.5f) - 1)), none = {};  // a full turn is in none of the sectors
  r = base + between((sector == 0.f) | (sector == 5.f), chroma, between((sector == 1.f) | (sector == 4.f), x, none));
  g = base + between((sector == 1.f) | (sector == 2.f), chroma, between((sector == 0.f) | (sector == 3.f), x, none));
  b = base + between((sector == 3.f) | (sector == 4.f), chroma, between((sector == 2.f) | (sector == 5.f), x, none));
}

}  // namespace

void adjust_hue_floats(const float* in, float* out, int64_t pixels, float delta) { each_pixel<turn_hue>(in, out, pixels, delta * 6); }
void adjust_saturation(const float* in, float* out, int64_t pixels, float scale) { each_pixel<scale_saturation>(in, out, pixels, scale); }

namespace {

// Twelve sums of every twelfth number: a whole number of pixels of one channel or of three.
template <int kChannels>
void contrast_of(const float* in, float* out, int64_t pixels, float factor) {
  constexpr int64_t kStep = 12;
  const int64_t n = pixels * kChannels;
  double parts[kStep] = {};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (int k = 0; k < kStep; ++k) parts[k] += double(in[i + k]);
  }
  for (int k = 0; i < n; ++i, ++k) parts[k] += double(in[i]);
  float means[kStep];
  for (int c = 0; c < kChannels; ++c) {
    double sum = 0;
    for (int k = c; k < kStep; k += kChannels) sum += parts[k];
    for (int k = c; k < kStep; k += kChannels) means[k] = float(sum / double(pixels));
  }
  for (i = 0; i + kStep <= n; i += kStep) {
    for (int k = 0; k < kStep; ++k) out[i + k] = means[k] + (in[i + k] - means[k]) * factor;
  }
  for (int k = 0; i < n; ++i, ++k) out[i] = means[k] + (in[i] - means[k]) * factor;
}

}  // namespace

void adjust_contrast_floats(const float* in, float* out, int64_t pixels, int64_t channels, float factor) {
  channels == 1 ? contrast_of<1>(in, out, pixels, factor) : contrast_of<3>(in, out, pixels, factor);
}

#include "kernels/cpu/isa_end.h"

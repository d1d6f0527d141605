// Colour conversions over pixels of three channels, and contrast.
#pragma once

#include <cstdint>

namespace weft_engine::kernels {

// half, bfloat16, float and double; arithmetic in T.
template <class T>
void rgb_to_hsv(const T* in, T* out, int64_t pixels);
template <class T>
void hsv_to_rgb(const T* in, T* out, int64_t pixels);

// Turns the hue by `delta` of a full circle; scales the saturation.
void adjust_hue(const float* in, float* out, int64_t pixels, float delta);
void adjust_saturation(const float* in, float* out, int64_t pixels, float scale);
// out = mean + (in - mean) * factor, by channel of one image.
void adjust_contrast(const float* in, float* out, int64_t pixels, int64_t channels, float factor);

}  // namespace weft_engine::kernels

// Colour conversions over pixels of three channels, and contrast.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// half, bfloat16, float and double; arithmetic in T.
WEFT_DECLARE_ISA(template <class T> void rgb_to_hsv(const T* in, T* out, int64_t pixels))
WEFT_DECLARE_ISA(template <class T> void hsv_to_rgb(const T* in, T* out, int64_t pixels))

// Turns the hue by `delta` of a full circle; scales the saturation.
void adjust_hue(const float* in, float* out, int64_t pixels, float delta);
WEFT_DECLARE_ISA(void adjust_saturation(const float* in, float* out, int64_t pixels, float scale))
// out = mean + (in - mean) * factor, by channel of one image.
void adjust_contrast(const float* in, float* out, int64_t pixels, int64_t channels, float factor);

// Of these, what is worth vector code: a turn of at most a full circle, one or three channels.
WEFT_DECLARE_ISA(void adjust_hue_floats(const float* in, float* out, int64_t pixels, float delta))
WEFT_DECLARE_ISA(void adjust_contrast_floats(const float* in, float* out, int64_t pixels, int64_t channels, float factor))

}  // namespace weft_engine::kernels

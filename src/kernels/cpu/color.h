// Colour conversions over pixels of three channels, and contrast.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// float and double; half and bfloat16, too, at the generic level: each step is rounded to T, which makes long code at any level.
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

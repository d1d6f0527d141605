// How TensorFlow's quantised ops map integers to floats and back, operation by operation: the integers
// must come out equal, so double and float steps stand exactly where they stand there. Conversions that
// C++ leaves undefined give what x86 gives (the lowest integer).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft_engine::kernels {

inline int32_t to_int32(float v) { return v >= -2147483648.0f && v < 2147483648.0f ? int32_t(v) : std::numeric_limits<int32_t>::min(); }
inline int64_t to_int64(double v) {
  return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? int64_t(v) : std::numeric_limits<int64_t>::min();
}
inline int32_t wrap_add(int32_t a, int32_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }
inline int32_t wrap_mul(int32_t a, int32_t b) { return int32_t(uint32_t(a) * uint32_t(b)); }

// I: int8_t, uint8_t, int16_t, uint16_t, int32_t.
template <class I>
inline constexpr int64_t kLowest = std::numeric_limits<I>::min();
template <class I>
inline constexpr int64_t kHighest = std::numeric_limits<I>::max();
template <class I>
inline constexpr int64_t kSteps = int64_t(1) << (sizeof(I) * 8);

template <class I>
int64_t quantize_unclamped(float x, float low, float high) {
  if (low == high) return kLowest<I>;
  const double range = double(high - low) * (double(kSteps<I>) / (double(kSteps<I>) - 1.0));
  const double scale = double(kSteps<I>) / range;
  return int64_t(uint64_t(to_int64(std::round(double(x) * scale) - std::round(double(low) * scale))) + uint64_t(kLowest<I>));
}

template <class I>
I quantize(float x, float low, float high) {
  return I(std::clamp(quantize_unclamped<I>(x, low, high), kLowest<I>, kHighest<I>));
}

template <class I>
float dequantize(I v, float low, float high) {
  if (low == high) return low;
  const double range = double(high - low) * (double(kSteps<I>) / (double(kSteps<I>) - 1.0));
  const double scale = range / double(kSteps<I>);
  const double rounded = double(std::round(low / float(scale)) * float(scale));
  return float(rounded + (double(v) - double(kLowest<I>)) * scale);
}

// The same for arrays, in float throughout.
template <class I>
struct Dequantizer {
  float scale, base;
  Dequantizer(float low, float high) : scale(float(double(high - low) / (double(kSteps<I>) - 1.0))) {
    const float rounded = high == low ? low : std::round(low / scale) * scale;
    base = rounded - float(kLowest<I>) * scale;
  }
  float operator()(I v) const { return base + float(v) * scale; }
};

template <class I>
struct Quantizer {
  float scale, offset;
  Quantizer(float low, float high) : scale(high == low ? 0.0f : float((double(kSteps<I>) - 1.0) / double(high - low))) {
    offset = std::round(low * scale) - float(kLowest<I>);
  }
  I operator()(float x) const {
    // Bounds that a float can hold and an int32 too.
    constexpr float kLow = float(kLowest<I>), kHigh = sizeof(I) == 4 ? 2147483520.0f : float(kHighest<I>);
    float v = std::round(x * scale) - offset;
    v = v < kLow ? kLow : v > kHigh ? kHigh : v;
    return I(to_int32(v));
  }
};

// From 32 bits down to 8 in fixed point.
struct RequantizeDown {
  int64_t scale, offset;
  RequantizeDown(float min_in, float max_in, float min_out, float max_out) {
    const float in_range = max_in - min_in, out_range = max_out - min_out;
    const float recip = out_range == 0.0f ? 0.0f : float(255.0 / double(out_range));
    const float zero = float(double(min_in + max_in) / 2.0);
    scale = out_range == 0.0f ? 0 : to_int64(255.0 * 65536 * double(in_range) / double(out_range));
    const int64_t in_offset = to_int64(double(zero * recip * 65536.0f));
    const int64_t out_offset = out_range == 0.0f ? 0 : to_int64(std::round(65536.0 * (double(min_out) * 255.0) / double(out_range)));
    offset = int64_t(uint64_t(in_offset) - uint64_t(out_offset) + 32768);
  }
  uint8_t operator()(int32_t v) const {
    const int64_t product = int64_t(uint64_t(int64_t(v)) * uint64_t(scale));
    const int64_t value = int64_t(uint64_t(product >> 32) + uint64_t(offset));
    return uint8_t(std::clamp<int64_t>(value >> 16, 0, 255));
  }
};

// Where an 8-bit number lies in a 32-bit range, as a line through the places of 0 and 1.
struct RequantizeUp {
  int64_t zero;
  int32_t step;
  RequantizeUp(float min_in, float max_in, float min_out, float max_out) {
    zero = quantize_unclamped<int32_t>(dequantize<uint8_t>(0, min_in, max_in), min_out, max_out);
    step = int32_t(uint32_t(uint64_t(quantize_unclamped<int32_t>(dequantize<uint8_t>(1, min_in, max_in), min_out, max_out)) - uint64_t(zero)));
  }
  int32_t operator()(uint8_t v) const {
    const int64_t at = int64_t(uint64_t(zero) + uint64_t(int64_t(v) * step));
    return int32_t(std::clamp(at, kLowest<int32_t>, kHighest<int32_t>));
  }
};

// The range of a 32-bit product of two quantised numbers.
template <class A, class B>
void product_range(float min_a, float max_a, float min_b, float max_b, float& min_c, float& max_c) {
  const float a = (max_a - min_a) / float(kHighest<A> - kLowest<A>), b = (max_b - min_b) / float(kHighest<B> - kLowest<B>);
  const float level = a * b;
  min_c = level * float(kLowest<int32_t>);
  max_c = level * float(kHighest<int32_t>);
}

}  // namespace weft_engine::kernels

#include "core/float_types.h"

namespace weft_engine::core::detail {

float small_to_float(uint8_t bits, int e, int m, int bias, bool fn, bool uz, bool has_nan) {
  const int sign_shift = e + m;
  const bool negative = (bits >> sign_shift) & 1;
  const int exponent = (bits >> m) & ((1 << e) - 1), mantissa = bits & ((1 << m) - 1);
  const float sign = negative ? -1.f : 1.f;
  if (uz) {
    if (bits == uint8_t(1 << sign_shift)) return std::numeric_limits<float>::quiet_NaN();
  } else if (has_nan && exponent == (1 << e) - 1) {
    if (!fn) return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    if (mantissa == (1 << m) - 1) return std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(float(mantissa), 1 - bias - m);
  return sign * std::ldexp(float(mantissa + (1 << m)), exponent - bias - m);
}

uint8_t float_to_small(float f, int e, int m, int bias, bool fn, bool uz, bool has_nan) {
  const int sign_shift = e + m, top_exponent = (1 << e) - 1;
  const bool negative = std::signbit(f);
  const uint8_t sign = negative ? uint8_t(1 << sign_shift) : uint8_t(0);
  const uint8_t nan = uz ? uint8_t(1 << sign_shift) : uint8_t(sign | (top_exponent << m) | (fn ? (1 << m) - 1 : 1 << (m - 1)));
  // The largest finite bit pattern without the sign.
  const int max_bits = !has_nan || uz ? (1 << sign_shift) - 1 : fn ? (1 << sign_shift) - 2 : (top_exponent << m) - 1;
  if (std::isnan(f)) return has_nan ? nan : sign;
  const float a = std::fabs(f);
  if (std::isinf(a)) return !has_nan ? uint8_t(sign | max_bits) : fn ? nan : uint8_t(sign | (top_exponent << m));
  if (a == 0) return uz ? 0 : sign;
  int exponent;
  std::frexp(a, &exponent);  // a = x * 2^exponent with x in [0.5, 1)
  int biased = exponent - 1 + bias;
  if (biased < 1) biased = 1;
  // Units in the last place of the target; nearbyint rounds to even.
  const float scaled = std::nearbyint(std::ldexp(a, m + bias - biased));
  int result = int(scaled) + ((biased - 1) << m);  // a carry moves into the exponent by itself
  if (result > max_bits) return !has_nan ? uint8_t(sign | max_bits) : fn ? nan : uint8_t(sign | (top_exponent << m));
  if (uz && result == 0) return 0;
  return uint8_t(sign | result);
}

}  // namespace weft_engine::core::detail

// Eight-bit floats in compiled code: bytes that are moved, and conversions. Nothing computes in them, as no op of TensorFlow does.
#include <cmath>

#include "core/float_types.h"
#include "ir/builder.h"

namespace weft_engine::ir {

namespace {

struct Format {
  int mantissa, bias;
  int64_t largest;    // the code of the largest number
  int64_t too_large;  // what stands for everything beyond
  int64_t nan;
  bool one_zero;      // no -0: its code is NaN
};

Format format_of(DType t) {
  switch (t) {
    case DType::kFloat8E5m2: return {2, 15, 0x7b, 0x7c, 0x7e, false};
    case DType::kFloat8E4m3fn: return {3, 7, 0x7e, 0x7f, 0x7f, false};
    case DType::kFloat8E4m3fnuz: return {3, 8, 0x7f, 0x80, 0x80, true};
    case DType::kFloat8E4m3b11fnuz: return {3, 11, 0x7f, 0x80, 0x80, true};
    default: return {2, 16, 0x7f, 0x80, 0x80, true};
  }
}

template <class T>
Tensor numbers_of() {
  std::vector<float> v(256);
  for (int i = 0; i < 256; ++i) v[size_t(i)] = T::decode(uint8_t(i));
  return Tensor::vector(v);
}

Tensor numbers(DType t) {
  switch (t) {
    case DType::kFloat8E5m2: return numbers_of<core::float8_e5m2>();
    case DType::kFloat8E4m3fn: return numbers_of<core::float8_e4m3fn>();
    case DType::kFloat8E4m3fnuz: return numbers_of<core::float8_e4m3fnuz>();
    case DType::kFloat8E4m3b11fnuz: return numbers_of<core::float8_e4m3b11fnuz>();
    default: return numbers_of<core::float8_e5m2fnuz>();
  }
}

}  // namespace

bool is_float8(DType t) {
  return t == DType::kFloat8E5m2 || t == DType::kFloat8E4m3fn || t == DType::kFloat8E4m3fnuz || t == DType::kFloat8E4m3b11fnuz ||
         t == DType::kFloat8E5m2fnuz;
}

Value Builder::from_float8(Value x) { return gather(constant(numbers(x->type.dtype)), convert(bitcast(x, DType::kUint8), DType::kInt32), 0, 0, ""); }

// To the nearest, half to even.
Value Builder::to_float8(Value x, DType to) {
  const Format f = format_of(to);
  const auto number = [&](int64_t v) { return scalar_int(DType::kUint32, v); };
  const Value bits = bitcast(x, DType::kUint32), sign = binary(Binary::kAnd, binary(Binary::kShr, bits, number(24)), number(0x80));
  const Value size = binary(Binary::kAnd, bits, number(0x7fffffff)), magnitude = unary(Unary::kAbs, x);
  // The bits that fall away carry into those that stay; the exponent changes its bias.
  const int drop = 23 - f.mantissa;
  const Value odd = binary(Binary::kAnd, binary(Binary::kShr, size, number(drop)), number(1));
  const Value rounded = binary(Binary::kShr, add(add(size, odd), number((int64_t(1) << (drop - 1)) - 1)), number(drop));
  const Value normal = sub(rounded, number(int64_t(127 - f.bias) << f.mantissa));
  // Below the smallest normal number, steps are of one size.
  const double smallest = std::ldexp(1.0, 1 - f.bias);
  const Value tiny = convert(unary(Unary::kRound, mul(min(magnitude, smallest), std::ldexp(1.0, f.bias - 1 + f.mantissa))), DType::kUint32);
  Value code = select(compare(Compare::kLt, magnitude, scalar(DType::kFloat, smallest)), tiny, normal);
  code = select(compare(Compare::kGt, code, number(f.largest)), number(f.too_large), code);
  code = select(compare(Compare::kGt, size, number(0x7f800000)), number(f.nan), code);
  const Value with_sign = binary(Binary::kOr, code, sign);
  if (f.one_zero) code = select(compare(Compare::kEq, code, number(0)), code, with_sign);
  else code = with_sign;
  return bitcast(convert(code, DType::kUint8), to);
}

}  // namespace weft_engine::ir

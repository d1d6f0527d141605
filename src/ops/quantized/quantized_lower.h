// Quantised numbers in terms of the IR, operation by operation as kernels/cpu/quantize.h has them: the integers must come out equal. Compiled code has them as plain integers of the
// same width (compiler/lower_walk.cc).
#pragma once

#include "ops/lower_util.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

// The plain integers behind a quantised type.
struct QuantizedType {
  DType plain = DType::kInvalid;
  double lowest = 0, highest = 0, steps = 0;
};
// Of input i, or output i; an error for the user where it has none.
QuantizedType quantized_type(DType t);

// Where what is known of a product must not be rounded together with a sum.
Value apart(ir::Builder& b, Value product);
Value round_away(ir::Builder& b, Value x);  // halves away from zero
Value to_int32(ir::Builder& b, Value x);  // of floats: the lowest where it does not fit
Value to_int64(ir::Builder& b, Value x);  // of doubles
Value number(ir::Builder& b, double v, DType t = DType::kFloat);

// Scalars `low` and `high` are floats; `x` floats, `v` integers of the type.
Value quantize_unclamped(ir::Builder& b, const QuantizedType& t, Value x, Value low, Value high);  // int64
Value quantize_one(ir::Builder& b, const QuantizedType& t, Value x, Value low, Value high);
Value dequantize_one(ir::Builder& b, const QuantizedType& t, Value v, Value low, Value high);
// The same for arrays, in float throughout.
Value dequantize_all(ir::Builder& b, const QuantizedType& t, Value v, Value low, Value high);
Value quantize_all(ir::Builder& b, const QuantizedType& t, Value x, Value low, Value high);
// The range of a 32-bit product of two bytes.
std::pair<Value, Value> product_range(ir::Builder& b, Value min_a, Value max_a, Value min_b, Value max_b);

// Input i, a scalar float; null and TensorFlow's error where it is none.
Value range_input(LowerContext& l, int i, std::string_view name);
// Sizes as numbers, or Unimplemented.
bool fixed_sizes(LowerContext& l, Value x);

}  // namespace weft_engine::ops

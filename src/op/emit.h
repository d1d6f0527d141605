// Ops by name, for code that is written against the Emitter: gradients, layers, optimisers. The names are
// those of Python's functions.
#pragma once

#include "op/emitter.h"

namespace weft_engine::op {

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
// With a number of the value's own type.
Value operator+(const Value& a, double b);
Value operator-(const Value& a, double b);
Value operator*(const Value& a, double b);
Value operator/(const Value& a, double b);
Value operator+(double a, const Value& b);
Value operator-(double a, const Value& b);
Value operator*(double a, const Value& b);
Value operator/(double a, const Value& b);

// Of booleans, and of numbers.
Value logical_and(const Value& a, const Value& b);
Value logical_or(const Value& a, const Value& b);
Value logical_not(const Value& a);
Value less(const Value& a, const Value& b);
Value equal(const Value& a, const Value& b);
Value greater(const Value& a, const Value& b);
Value greater_equal(const Value& a, const Value& b);

// One input, one output, no attributes: unary("Exp", x).
Value unary(std::string_view op, const Value& x);
Value binary(std::string_view op, const Value& a, const Value& b);

// A scalar of that type.
Value scalar(Emitter& e, DType dtype, double value);
Value ints(Emitter& e, const std::vector<int32_t>& values);  // a vector of int32
Value zeros_like(const Value& x);
Value ones_like(const Value& x);
Value conj(const Value& x);           // itself where the type is real
Value cast(const Value& x, DType to); // itself where the type fits
Value identity(const Value& x);
Value shape_of(const Value& x, DType out = DType::kInt32);  // a constant where the shape is known
Value size_of(const Value& x, DType out = DType::kInt32);
Value rank_of(const Value& x);
Value range(const Value& begin, const Value& end);  // one apart
Value broadcast_to(const Value& x, const Value& shape);
Value reshape(const Value& x, const Value& shape);
Value reshape_like(const Value& x, const Value& like);
Value transpose(const Value& x, const Value& permutation);
Value expand_dims(const Value& x, int axis);
Value squeeze(const Value& x, const std::vector<int64_t>& axes = {});
Value reduce(std::string_view op, const Value& x, const Value& axes, bool keep_dims = false);  // "Sum", "Mean", "Prod" ...
Value matmul(const Value& a, const Value& b, bool transpose_a = false, bool transpose_b = false);
Value batch_matmul(const Value& a, const Value& b, bool adj_x = false, bool adj_y = false);
Value adjoint(const Value& x);        // conjugate transpose of the last two dimensions
Value where(const Value& condition, const Value& a, const Value& b);  // SelectV2
Value fill(const Value& shape, const Value& value);
Value concat(std::span<const Value> parts, int axis);
Value pack(std::span<const Value> parts, int axis);
Value gather(const Value& x, const Value& indices, int axis = 0);
Value slice(const Value& x, const Value& begin, const Value& size);
// x[begin:end:stride] of a vector; a scalar when `shrink`.
Value element(const Value& vector, int index);
Value add_n(std::span<const Value> values);  // the one, or AddN
// The gradient of a value that was broadcast from the shape of x: summed to that shape.
Value sum_to(const Value& grad, const Value& x);
// Both at once, for a binary op.
void sum_to_both(Value& a, const Value& x, Value& b, const Value& y);

}  // namespace weft_engine::op

// Elementwise arithmetic on dense arrays. An operation on a type is one inner loop behind a function
// pointer; broadcasting (kernels/cpu/broadcast.h), threads and narrow floats are done around the loop,
// once for all, so that a further op or type costs no more than its loop.
//
// Loops may work in place: `out` may be one of the inputs that is read with stride 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dtype.h"

namespace weft_engine::kernels {

enum class Unary : uint8_t {
#define WEFT_UNARY(Name) k##Name,
#include "kernels/cpu/scalar_functions.inc"
};
enum class Binary : uint8_t {
#define WEFT_BINARY(Name) k##Name,
#include "kernels/cpu/scalar_functions.inc"
};

// "Exp" of Unary::kExp, and back.
std::string_view name_of(Unary f);
std::string_view name_of(Binary f);
std::optional<Unary> find_unary(std::string_view name);
std::optional<Binary> find_binary(std::string_view name);
// Has the result the type of the operands?
bool keeps_type(Unary f);
bool keeps_type(Binary f);

// out[i] = f(a[i * stride_a], b[i * stride_b]) for i in [0, n); the strides are 0 or 1, not both 0
// unless n is 1. False: some element has no result (an integer divided by zero, an integer to a
// negative power); the other elements are computed.
using BinaryLoop = bool (*)(const void* a, const void* b, void* out, int64_t n, int stride_a, int stride_b);
using UnaryLoop = void (*)(const void* in, void* out, int64_t n);

// out[r, i] = f(a[r, i], b[r, i]), out being dense.
struct BinaryRows {
  int64_t rows, n;
  int64_t row_stride[2];  // of a and b, in elements
  int inner_stride[2];    // 0 or 1, not both 0
};
using BinaryRowsLoop = void (*)(const void* a, const void* b, void* out, const BinaryRows& rows);

// The loop for operands of a type; null where there is none. half and bfloat16 have a loop of their own
// only where rounding once, at the end, would be wrong; otherwise see narrow.h.
BinaryLoop binary_loop(Binary op, core::DType t);
UnaryLoop unary_loop(Unary op, core::DType t);
// Null but for the commonest; broadcasts with short rows gain by it.
BinaryRowsLoop binary_rows_loop(Binary op, core::DType t);

// As memcpy, past the caches: for results that are far too large to stay there.
void stream_copy(void* to, const void* from, size_t bytes);
inline constexpr size_t kStreamFrom = size_t(40) << 20;  // bytes; more than what a core's last cache holds

// Roughly how many nanoseconds an element takes; what decides about threads.
double binary_cost(Binary op, core::DType t);
double unary_cost(Unary op, core::DType t);

}  // namespace weft_engine::kernels

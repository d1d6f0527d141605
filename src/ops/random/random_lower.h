// Random numbers in compiled code: the same numbers from the same key and counter as the engine's kernels (kernels/cpu/philox.h,
// random_fill.cc), but for the last digits of logarithms and sines.
#pragma once

#include "ops/lower_util.h"

namespace weft_engine::ops {

struct Generator {
  Value key = nullptr;      // uint64
  Value counter = nullptr;  // uint64[2], the lower word first
};
enum class RandomKind { kUniform, kNormal, kTruncatedNormal, kBits };

// Words as a vector of uint64.
Value words(ir::Builder& b, std::vector<Value> scalars);
Value word(ir::Builder& b, Value vector, int64_t i);  // uint64 scalar
// The counter that many (uint64 scalar) blocks further.
Value skip(ir::Builder& b, Value counter, Value blocks);
// What an element reserves, for that many elements.
Value reserved(ir::Builder& b, const Dim& elements);

Value random_tensor(LowerContext& l, const Generator& g, RandomKind kind, DType dtype, const Dims& dims);
// Integers in [low, high): scalars of the type.
Value random_ints(LowerContext& l, const Generator& g, Value low, Value high, const Dims& dims);

}  // namespace weft_engine::ops

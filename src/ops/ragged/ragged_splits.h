// Row splits: row i of a ragged tensor holds values [splits[i], splits[i + 1]).
#pragma once

#include <vector>

#include "core/tensor.h"

namespace weft_engine::ops {

// Rank 1, begins with 0, does not decrease and, if asked for, ends with `num_values`; TensorFlow's texts.
core::Status check_splits(const core::Tensor& splits, bool check_last, int64_t num_values);

// An int32 or int64 tensor as numbers.
std::vector<int64_t> to_int64s(const core::Tensor& t);
// The other way: a vector of the given type. An int32 that does not fit is an error.
core::Result<core::Tensor> from_int64s(std::span<const int64_t> values, core::DType dtype);

}  // namespace weft_engine::ops

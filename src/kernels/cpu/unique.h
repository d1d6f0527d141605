// Finds equal slices: x is [outer, n, inner]; slice i is x[:, i, :].
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"

namespace weft_engine::kernels {

struct UniqueSlices {
  std::vector<int64_t> first;   // for each distinct slice, in order of appearance, where it first stands
  std::vector<int64_t> group;   // for each slice, which of these it equals
  std::vector<int64_t> counts;  // how many slices each stands for
};

// Numbers are compared by value: -0 equals 0, NaN equals nothing.
UniqueSlices unique_slices(core::DType type, const void* x, int64_t outer, int64_t n, int64_t inner);

}  // namespace weft_engine::kernels

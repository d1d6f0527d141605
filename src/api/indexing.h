// What brackets mean to StridedSlice, for tensors and for slices of variables.
#pragma once

#include <vector>

#include "weft/indexing.h"

namespace weft::api {

struct StridedItems {
  Tensor begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis = 0, new_axis = 0, shrink = 0;
};
// Throws where an item is not one that StridedSlice has.
StridedItems strided_items(const std::vector<Index>& items);
// Whether a mask or a tensor of several integers is among them.
bool has_advanced(const std::vector<Index>& items);

}  // namespace weft::api

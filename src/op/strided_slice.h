// The slice x[begin:end:stride, ..., newaxis, i] as the StridedSlice ops spell it: vectors of begin, end
// and stride with five bit masks. One parser for the shape rules and kernels of all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "op/node_info.h"

namespace weft_engine::op {

struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
  static SliceMasks of(const NodeInfo& node);
};

// One entry per dimension of the sliced tensor.
struct SliceDim {
  int64_t begin = 0, stride = 1;
  int64_t size = 0;  // -1: not known
};

struct StridedSlice {
  std::vector<SliceDim> dims;
  PartialShape shape;      // of the result, with new axes and without shrunk ones
  std::vector<int> axes;   // for each axis of the result the dimension it comes from; -1 for a new axis
  bool identity = true;    // the result is the whole tensor, perhaps with another shape
  bool only_rows = true;   // the result is a run of rows of dimension 0
  // Of the tensor's rank: what is cut out before axes come and go. Valid if all sizes are known.
  Shape cut() const;
};

// Reads a slice of a tensor of that shape. `begin` and `end` may be null (not known yet); the shape must
// have a rank, but its dimensions may be unknown. The errors are TensorFlow's.
Result<StridedSlice> parse_strided_slice(const Tensor* begin, const Tensor* end, const Tensor& strides, const PartialShape& shape,
                                         const SliceMasks& masks);

}  // namespace weft_engine::op

#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void slice(Registry& r) {
  r.add("Slice")
      .in("input: T")
      .in("begin: Index")
      .in("size: Index")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int32, int64}");

  r.add("StridedSlice")
      .in("input: T")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int16, int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0");

  r.add("StridedSliceGrad")
      .in("shape: Index")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("dy: T")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0");
}

}  // namespace weft::ops

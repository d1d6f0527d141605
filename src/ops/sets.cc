#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void sets(Registry& r) {
  r.add("DenseToDenseSetOperation")
      .in("set1: T")
      .in("set2: T")
      .out("result_indices: int64")
      .out("result_values: T")
      .out("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}");

  r.add("DenseToSparseSetOperation")
      .in("set1: T")
      .in("set2_indices: int64")
      .in("set2_values: T")
      .in("set2_shape: int64")
      .out("result_indices: int64")
      .out("result_values: T")
      .out("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}");

  r.add("ListDiff")
      .in("x: T")
      .in("y: T")
      .out("out: T")
      .out("idx: out_idx")
      .attr("T: type")
      .attr("out_idx: {int32, int64} = DT_INT32");

  r.add("SetSize")
      .in("set_indices: int64")
      .in("set_values: T")
      .in("set_shape: int64")
      .out("size: int32")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}");

  r.add("SparseToSparseSetOperation")
      .in("set1_indices: int64")
      .in("set1_values: T")
      .in("set1_shape: int64")
      .in("set2_indices: int64")
      .in("set2_values: T")
      .in("set2_shape: int64")
      .out("result_indices: int64")
      .out("result_values: T")
      .out("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}");
}

}  // namespace weft::ops

#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void sort(Registry& r) {
  r.add("ApproxTopK")
      .in("input: T")
      .out("values: T")
      .out("indices: int32")
      .attr("k: int >= 0")
      .attr("reduction_dimension: int = -1")
      .attr("recall_target: float = 0.95")
      .attr("is_max_k: bool = true")
      .attr("reduction_input_size_override: int = -1")
      .attr("aggregate_to_topk: bool = true")
      .attr("T: {half, bfloat16, float}");

  r.add("LowerBound")
      .in("sorted_inputs: T")
      .in("values: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32");

  r.add("NearestNeighbors")
      .in("points: float")
      .in("centers: float")
      .in("k: int64")
      .out("nearest_center_indices: int64")
      .out("nearest_center_distances: float");

  r.add("NthElement")
      .in("input: T")
      .in("n: int32")
      .out("values: T")
      .attr("reverse: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("TopK")
      .in("input: T")
      .out("values: T")
      .out("indices: int32")
      .attr("k: int >= 0")
      .attr("sorted: bool = true")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .deprecated(7, "");

  r.add("TopKV2")
      .in("input: T")
      .in("k: Tk")
      .out("values: T")
      .out("indices: index_type")
      .attr("sorted: bool = true")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tk: {int16, int32, int64} = DT_INT32")
      .attr("index_type: {int16, int32, int64} = DT_INT32");

  r.add("Unique")
      .in("x: T")
      .out("y: T")
      .out("idx: out_idx")
      .attr("T: type")
      .attr("out_idx: {int32, int64} = DT_INT32");

  r.add("UniqueV2")
      .in("x: T")
      .in("axis: Taxis")
      .out("y: T")
      .out("idx: out_idx")
      .attr("T: type")
      .attr("Taxis: {int32, int64} = DT_INT64")
      .attr("out_idx: {int32, int64} = DT_INT32");

  r.add("UniqueWithCounts")
      .in("x: T")
      .out("y: T")
      .out("idx: out_idx")
      .out("count: out_idx")
      .attr("T: type")
      .attr("out_idx: {int32, int64} = DT_INT32");

  r.add("UniqueWithCountsV2")
      .in("x: T")
      .in("axis: Taxis")
      .out("y: T")
      .out("idx: out_idx")
      .out("count: out_idx")
      .attr("T: type")
      .attr("Taxis: {int32, int64} = DT_INT64")
      .attr("out_idx: {int32, int64} = DT_INT32");

  r.add("UpperBound")
      .in("sorted_inputs: T")
      .in("values: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32");

  r.add("XlaKeyValueSort")
      .in("keys: K")
      .in("values: V")
      .out("sorted_keys: K")
      .out("sorted_values: V")
      .attr("K: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("V: type");

  r.add("XlaSort")
      .in("input: T")
      .out("output: T")
      .attr("T: type");
}

}  // namespace weft::ops

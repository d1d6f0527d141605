#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void concat(Registry& r) {
  r.add("Concat")
      .in("concat_dim: int32")
      .in("values: N * T")
      .out("output: T")
      .attr("N: int >= 2")
      .attr("T: type");

  r.add("ConcatOffset")
      .in("concat_dim: int32")
      .in("shape: N * shape_type")
      .out("offset: N * shape_type")
      .attr("N: int >= 2")
      .attr("shape_type: {int32, int64} = DT_INT32");

  r.add("ConcatV2")
      .in("values: N * T")
      .in("axis: Tidx")
      .out("output: T")
      .attr("N: int >= 2")
      .attr("T: type")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("DynamicPartition")
      .in("data: T")
      .in("partitions: int32")
      .out("outputs: num_partitions * T")
      .attr("num_partitions: int >= 1")
      .attr("T: type");

  r.add("DynamicStitch")
      .in("indices: N * int32")
      .in("data: N * T")
      .out("merged: T")
      .attr("N: int >= 1")
      .attr("T: type");

  r.add("Pack")
      .in("values: N * T")
      .out("output: T")
      .attr("N: int >= 1")
      .attr("T: type")
      .attr("axis: int = 0");

  r.add("ParallelConcat")
      .in("values: N * T")
      .out("output: T")
      .attr("N: int >= 1")
      .attr("T: type")
      .attr("shape: shape");

  r.add("ParallelDynamicStitch")
      .in("indices: N * int32")
      .in("data: N * T")
      .out("merged: T")
      .attr("N: int >= 1")
      .attr("T: type");

  r.add("Split")
      .in("split_dim: int32")
      .in("value: T")
      .out("output: num_split * T")
      .attr("num_split: int >= 1")
      .attr("T: type");

  r.add("SplitV")
      .in("value: T")
      .in("size_splits: Tlen")
      .in("split_dim: int32")
      .out("output: num_split * T")
      .attr("num_split: int >= 1")
      .attr("T: type")
      .attr("Tlen: {int8, int32, int64} = DT_INT64");

  r.add("Unpack")
      .in("value: T")
      .out("output: num * T")
      .attr("num: int >= 0")
      .attr("T: type")
      .attr("axis: int = 0");
}

}  // namespace weft::ops

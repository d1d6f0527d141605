#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void ragged(Registry& r) {
  r.add("RaggedCross")
      .in("ragged_values: ragged_values_types")
      .in("ragged_row_splits: ragged_splits_types")
      .in("sparse_indices: Nsparse * int64")
      .in("sparse_values: sparse_values_types")
      .in("sparse_shape: Nsparse * int64")
      .in("dense_inputs: dense_types")
      .out("output_values: out_values_type")
      .out("output_row_splits: out_row_splits_type")
      .attr("Nsparse: int >= 0")
      .attr("input_order: string")
      .attr("hashed_output: bool")
      .attr("num_buckets: int >= 0")
      .attr("hash_key: int")
      .attr("ragged_values_types: list({int64, string}) >= 0")
      .attr("ragged_splits_types: list({int32, int64}) >= 0")
      .attr("sparse_values_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0")
      .attr("out_values_type: {int64, string}")
      .attr("out_row_splits_type: {int32, int64}");

  r.add("RaggedFillEmptyRows")
      .in("value_rowids: int64")
      .in("values: T")
      .in("nrows: int64")
      .in("default_value: T")
      .out("output_value_rowids: int64")
      .out("output_values: T")
      .out("empty_row_indicator: bool")
      .out("reverse_index_map: int64")
      .attr("T: type");

  r.add("RaggedFillEmptyRowsGrad")
      .in("reverse_index_map: int64")
      .in("grad_values: T")
      .out("d_values: T")
      .out("d_default_value: T")
      .attr("T: type");

  r.add("RaggedGather")
      .in("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits")
      .in("params_dense_values: Tvalues")
      .in("indices: Tindices")
      .out("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits")
      .out("output_dense_values: Tvalues")
      .attr("Tvalues: type")
      .attr("Tindices: {int32, int64}")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .attr("PARAMS_RAGGED_RANK: int >= 1")
      .attr("OUTPUT_RAGGED_RANK: int >= 0");

  r.add("RaggedRange")
      .in("starts: T")
      .in("limits: T")
      .in("deltas: T")
      .out("rt_nested_splits: Tsplits")
      .out("rt_dense_values: T")
      .attr("T: {bfloat16, float, double, int32, int64} = DT_INT32")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("RaggedTensorFromVariant")
      .in("encoded_ragged: variant")
      .out("output_nested_splits: output_ragged_rank * Tsplits")
      .out("output_dense_values: Tvalues")
      .attr("input_ragged_rank: int >= -1")
      .attr("output_ragged_rank: int >= 0")
      .attr("Tvalues: type")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("RaggedTensorToSparse")
      .in("rt_nested_splits: RAGGED_RANK * Tsplits")
      .in("rt_dense_values: T")
      .out("sparse_indices: int64")
      .out("sparse_values: T")
      .out("sparse_dense_shape: int64")
      .attr("RAGGED_RANK: int >= 1")
      .attr("T: type")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("RaggedTensorToTensor")
      .in("shape: Tshape")
      .in("values: T")
      .in("default_value: T")
      .in("row_partition_tensors: num_row_partition_tensors * Tindex")
      .out("result: T")
      .attr("T: type")
      .attr("Tindex: {int64, int32}")
      .attr("Tshape: {int64, int32}")
      .attr("num_row_partition_tensors: int >= 1")
      .attr("row_partition_types: list(string)");

  r.add("RaggedTensorToVariant")
      .in("rt_nested_splits: RAGGED_RANK * Tsplits")
      .in("rt_dense_values: Tvalues")
      .out("encoded_ragged: variant")
      .attr("RAGGED_RANK: int >= 0")
      .attr("Tvalues: type")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .attr("batched_input: bool");

  r.add("RaggedTensorToVariantGradient")
      .in("encoded_ragged_grad: variant")
      .in("row_splits: Tsplits")
      .in("dense_values_shape: int32")
      .out("dense_values_grad: Tvalues")
      .attr("Tvalues: type")
      .attr("Tsplits: {int32, int64} = DT_INT64");
}

}  // namespace weft::ops

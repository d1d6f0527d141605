#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void sparse_cross(Registry& r) {
  r.add("SparseCross")
      .in("indices: N * int64")
      .in("values: sparse_types")
      .in("shapes: N * int64")
      .in("dense_inputs: dense_types")
      .out("output_indices: int64")
      .out("output_values: out_type")
      .out("output_shape: int64")
      .attr("N: int >= 0")
      .attr("hashed_output: bool")
      .attr("num_buckets: int >= 0")
      .attr("hash_key: int")
      .attr("sparse_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0")
      .attr("out_type: {int64, string}")
      .attr("internal_type: {int64, string}");

  r.add("SparseCrossHashed")
      .in("indices: N * int64")
      .in("values: sparse_types")
      .in("shapes: N * int64")
      .in("dense_inputs: dense_types")
      .in("num_buckets: int64")
      .in("strong_hash: bool")
      .in("salt: int64")
      .out("output_indices: int64")
      .out("output_values: int64")
      .out("output_shape: int64")
      .attr("N: int >= 0")
      .attr("sparse_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0");

  r.add("SparseCrossV2")
      .in("indices: N * int64")
      .in("values: sparse_types")
      .in("shapes: N * int64")
      .in("dense_inputs: dense_types")
      .in("sep: string")
      .out("output_indices: int64")
      .out("output_values: string")
      .out("output_shape: int64")
      .attr("N: int >= 0")
      .attr("sparse_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0");
}

}  // namespace weft::ops

#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void bincount(Registry& r) {
  r.add("Bincount")
      .in("arr: int32")
      .in("size: int32")
      .in("weights: T")
      .out("bins: T")
      .attr("T: {int32, int64, float, double}");

  r.add("Bucketize")
      .in("input: T")
      .out("output: int32")
      .attr("T: {int32, int64, float, double}")
      .attr("boundaries: list(float)");

  r.add("DenseBincount")
      .in("input: Tidx")
      .in("size: Tidx")
      .in("weights: T")
      .out("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false");

  r.add("DenseCountSparseOutput")
      .in("values: T")
      .in("weights: output_type")
      .out("output_indices: int64")
      .out("output_values: output_type")
      .out("output_dense_shape: int64")
      .attr("T: {int32, int64}")
      .attr("minlength: int >= -1 = -1")
      .attr("maxlength: int >= -1 = -1")
      .attr("binary_output: bool")
      .attr("output_type: {int32, int64, float, double}");

  r.add("HistogramFixedWidth")
      .in("values: T")
      .in("value_range: T")
      .in("nbins: int32")
      .out("out: dtype")
      .attr("T: {int32, int64, float, double}")
      .attr("dtype: {int32, int64} = DT_INT32");

  r.add("RaggedBincount")
      .in("splits: int64")
      .in("values: Tidx")
      .in("size: Tidx")
      .in("weights: T")
      .out("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false");

  r.add("RaggedCountSparseOutput")
      .in("splits: int64")
      .in("values: T")
      .in("weights: output_type")
      .out("output_indices: int64")
      .out("output_values: output_type")
      .out("output_dense_shape: int64")
      .attr("T: {int32, int64}")
      .attr("minlength: int >= -1 = -1")
      .attr("maxlength: int >= -1 = -1")
      .attr("binary_output: bool")
      .attr("output_type: {int32, int64, float, double}");

  r.add("SparseBincount")
      .in("indices: int64")
      .in("values: Tidx")
      .in("dense_shape: int64")
      .in("size: Tidx")
      .in("weights: T")
      .out("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false");

  r.add("SparseCountSparseOutput")
      .in("indices: int64")
      .in("values: T")
      .in("dense_shape: int64")
      .in("weights: output_type")
      .out("output_indices: int64")
      .out("output_values: output_type")
      .out("output_dense_shape: int64")
      .attr("T: {int32, int64}")
      .attr("minlength: int >= -1 = -1")
      .attr("maxlength: int >= -1 = -1")
      .attr("binary_output: bool")
      .attr("output_type: {int32, int64, float, double}");
}

}  // namespace weft::ops

#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void sparse(Registry& r) {
  r.add("DeserializeManySparse")
      .in("serialized_sparse: string")
      .out("sparse_indices: int64")
      .out("sparse_values: dtype")
      .out("sparse_shape: int64")
      .attr("dtype: type");

  r.add("DeserializeSparse")
      .in("serialized_sparse: Tserialized")
      .out("sparse_indices: int64")
      .out("sparse_values: dtype")
      .out("sparse_shape: int64")
      .attr("dtype: type")
      .attr("Tserialized: {string, variant} = DT_STRING");

  r.add("SerializeManySparse")
      .in("sparse_indices: int64")
      .in("sparse_values: T")
      .in("sparse_shape: int64")
      .out("serialized_sparse: out_type")
      .attr("T: type")
      .attr("out_type: {string, variant} = DT_STRING");

  r.add("SerializeSparse")
      .in("sparse_indices: int64")
      .in("sparse_values: T")
      .in("sparse_shape: int64")
      .out("serialized_sparse: out_type")
      .attr("T: type")
      .attr("out_type: {string, variant} = DT_STRING");

  r.add("SparseAdd")
      .in("a_indices: int64")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b_indices: int64")
      .in("b_values: T")
      .in("b_shape: int64")
      .in("thresh: Treal")
      .out("sum_indices: int64")
      .out("sum_values: T")
      .out("sum_shape: int64")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Treal: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("SparseAddGrad")
      .in("backprop_val_grad: T")
      .in("a_indices: int64")
      .in("b_indices: int64")
      .in("sum_indices: int64")
      .out("a_val_grad: T")
      .out("b_val_grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseConcat")
      .in("indices: N * int64")
      .in("values: N * T")
      .in("shapes: N * int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("concat_dim: int")
      .attr("N: int >= 2")
      .attr("T: type");

  r.add("SparseDenseCwiseAdd")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .in("dense: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseDenseCwiseDiv")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .in("dense: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseDenseCwiseMul")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .in("dense: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseFillEmptyRows")
      .in("indices: int64")
      .in("values: T")
      .in("dense_shape: int64")
      .in("default_value: T")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("empty_row_indicator: bool")
      .out("reverse_index_map: int64")
      .attr("T: type");

  r.add("SparseFillEmptyRowsGrad")
      .in("reverse_index_map: int64")
      .in("grad_values: T")
      .out("d_values: T")
      .out("d_default_value: T")
      .attr("T: type");

  r.add("SparseReduceMax")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("SparseReduceMaxSparse")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("SparseReduceSum")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseReduceSumSparse")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseReorder")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .attr("T: type");

  r.add("SparseReshape")
      .in("input_indices: int64")
      .in("input_shape: int64")
      .in("new_shape: int64")
      .out("output_indices: int64")
      .out("output_shape: int64");

  r.add("SparseSlice")
      .in("indices: int64")
      .in("values: T")
      .in("shape: int64")
      .in("start: int64")
      .in("size: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("T: type");

  r.add("SparseSliceGrad")
      .in("backprop_val_grad: T")
      .in("input_indices: int64")
      .in("input_start: int64")
      .in("output_indices: int64")
      .out("val_grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseSoftmax")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .out("output: T")
      .attr("T: {half, float, double}");

  r.add("SparseSparseMaximum")
      .in("a_indices: int64")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b_indices: int64")
      .in("b_values: T")
      .in("b_shape: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("SparseSparseMinimum")
      .in("a_indices: int64")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b_indices: int64")
      .in("b_values: T")
      .in("b_shape: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("SparseSplit")
      .in("split_dim: int64")
      .in("indices: int64")
      .in("values: T")
      .in("shape: int64")
      .out("output_indices: num_split * int64")
      .out("output_values: num_split * T")
      .out("output_shape: num_split * int64")
      .attr("num_split: int >= 1")
      .attr("T: type");

  r.add("SparseTensorDenseAdd")
      .in("a_indices: Tindices")
      .in("a_values: T")
      .in("a_shape: Tindices")
      .in("b: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}");

  r.add("SparseTensorDenseMatMul")
      .in("a_indices: Tindices")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b: T")
      .out("product: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64} = DT_INT64")
      .attr("adjoint_a: bool = false")
      .attr("adjoint_b: bool = false");

  r.add("SparseToDense")
      .in("sparse_indices: Tindices")
      .in("output_shape: Tindices")
      .in("sparse_values: T")
      .in("default_value: T")
      .out("dense: T")
      .attr("validate_indices: bool = true")
      .attr("T: type")
      .attr("Tindices: {int32, int64}");
}

}  // namespace weft::ops

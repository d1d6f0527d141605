#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void sparse_matrix(Registry& r) {
  r.add("CSRSparseMatrixComponents")
      .in("csr_sparse_matrix: variant")
      .in("index: int32")
      .out("row_ptrs: int32")
      .out("col_inds: int32")
      .out("values: type")
      .attr("type: {float, double, complex64, complex128}");

  r.add("CSRSparseMatrixToDense")
      .in("sparse_input: variant")
      .out("dense_output: type")
      .attr("type: {float, double, complex64, complex128}");

  r.add("CSRSparseMatrixToSparseTensor")
      .in("sparse_matrix: variant")
      .out("indices: int64")
      .out("values: type")
      .out("dense_shape: int64")
      .attr("type: {float, double, complex64, complex128}");

  r.add("DenseToCSRSparseMatrix")
      .in("dense_input: T")
      .in("indices: int64")
      .out("sparse_output: variant")
      .attr("T: {float, double, complex64, complex128}");

  r.add("SparseMatrixAdd")
      .in("a: variant")
      .in("b: variant")
      .in("alpha: T")
      .in("beta: T")
      .out("c: variant")
      .attr("T: {float, double, complex64, complex128}");

  r.add("SparseMatrixMatMul")
      .in("a: variant")
      .in("b: T")
      .out("output: T")
      .attr("T: type")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("adjoint_a: bool = false")
      .attr("adjoint_b: bool = false")
      .attr("transpose_output: bool = false")
      .attr("conjugate_output: bool = false");

  r.add("SparseMatrixMul")
      .in("a: variant")
      .in("b: T")
      .out("output: variant")
      .attr("T: type");

  r.add("SparseMatrixNNZ")
      .in("sparse_matrix: variant")
      .out("nnz: int32");

  r.add("SparseMatrixOrderingAMD")
      .in("input: variant")
      .out("output: int32");

  r.add("SparseMatrixSoftmax")
      .in("logits: variant")
      .out("softmax: variant")
      .attr("type: {float, double}");

  r.add("SparseMatrixSoftmaxGrad")
      .in("softmax: variant")
      .in("grad_softmax: variant")
      .out("gradient: variant")
      .attr("type: {float, double}");

  r.add("SparseMatrixSparseCholesky")
      .in("input: variant")
      .in("permutation: int32")
      .out("output: variant")
      .attr("type: {float, double, complex64, complex128}");

  r.add("SparseMatrixSparseMatMul")
      .in("a: variant")
      .in("b: variant")
      .out("c: variant")
      .attr("type: {float, double, complex64, complex128}")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("adjoint_a: bool = false")
      .attr("adjoint_b: bool = false");

  r.add("SparseMatrixTranspose")
      .in("input: variant")
      .out("output: variant")
      .attr("conjugate: bool = false")
      .attr("type: {float, double, complex64, complex128}");

  r.add("SparseMatrixZeros")
      .in("dense_shape: int64")
      .out("sparse_matrix: variant")
      .attr("type: {float, double, complex64, complex128}");

  r.add("SparseTensorToCSRSparseMatrix")
      .in("indices: int64")
      .in("values: T")
      .in("dense_shape: int64")
      .out("sparse_matrix: variant")
      .attr("T: {float, double, complex64, complex128}");
}

}  // namespace weft::ops

#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void linalg(Registry& r) {
  r.add("BandedTriangularSolve")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("lower: bool = true")
      .attr("adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("BatchCholesky")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float}")
      .deprecated(13, "");

  r.add("BatchCholeskyGrad")
      .in("l: T")
      .in("grad: T")
      .out("output: T")
      .attr("T: {float, double}")
      .deprecated(13, "");

  r.add("BatchMatrixDeterminant")
      .in("input: T")
      .out("output: T")
      .attr("T: {float, double, complex64, complex128}")
      .deprecated(13, "");

  r.add("BatchMatrixInverse")
      .in("input: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float}")
      .deprecated(13, "");

  r.add("BatchMatrixSolve")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float}")
      .deprecated(13, "");

  r.add("BatchMatrixSolveLs")
      .in("matrix: T")
      .in("rhs: T")
      .in("l2_regularizer: double")
      .out("output: T")
      .attr("T: {double, float}")
      .attr("fast: bool = true")
      .deprecated(13, "");

  r.add("BatchMatrixTriangularSolve")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("lower: bool = true")
      .attr("adjoint: bool = false")
      .attr("T: {double, float}")
      .deprecated(13, "");

  r.add("BatchSelfAdjointEig")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float}")
      .deprecated(11, "");

  r.add("BatchSelfAdjointEigV2")
      .in("input: T")
      .out("e: T")
      .out("v: T")
      .attr("compute_v: bool = true")
      .attr("T: {double, float}")
      .deprecated(13, "");

  r.add("BatchSvd")
      .in("input: T")
      .out("s: T")
      .out("u: T")
      .out("v: T")
      .attr("compute_uv: bool = true")
      .attr("full_matrices: bool = false")
      .attr("T: {double, float, complex64, complex128}")
      .deprecated(13, "");

  r.add("Cholesky")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("CholeskyGrad")
      .in("l: T")
      .in("grad: T")
      .out("output: T")
      .attr("T: {half, float, double}");

  r.add("Cross")
      .in("a: T")
      .in("b: T")
      .out("product: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("Eig")
      .in("input: T")
      .out("e: Tout")
      .out("v: Tout")
      .attr("compute_v: bool = true")
      .attr("T: {float, double, complex64, complex128}")
      .attr("Tout: {complex64, complex128}");

  r.add("LogMatrixDeterminant")
      .in("input: T")
      .out("sign: T")
      .out("log_abs_determinant: T")
      .attr("T: {half, float, double, complex64, complex128}");

  r.add("Lu")
      .in("input: T")
      .out("lu: T")
      .out("p: output_idx_type")
      .attr("T: {double, float, half, complex64, complex128}")
      .attr("output_idx_type: {int32, int64} = DT_INT32");

  r.add("MatrixDeterminant")
      .in("input: T")
      .out("output: T")
      .attr("T: {half, float, double, complex64, complex128}");

  r.add("MatrixInverse")
      .in("input: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("MatrixLogarithm")
      .in("input: T")
      .out("output: T")
      .attr("T: {complex64, complex128}");

  r.add("MatrixSolve")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("MatrixSolveLs")
      .in("matrix: T")
      .in("rhs: T")
      .in("l2_regularizer: double")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}")
      .attr("fast: bool = true");

  r.add("MatrixSquareRoot")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("MatrixTriangularSolve")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("lower: bool = true")
      .attr("adjoint: bool = false")
      .attr("T: {bfloat16, double, float, half, complex64, complex128}");

  r.add("Qr")
      .in("input: T")
      .out("q: T")
      .out("r: T")
      .attr("full_matrices: bool = false")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("SelfAdjointEig")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half}")
      .deprecated(11, "");

  r.add("SelfAdjointEigV2")
      .in("input: T")
      .out("e: T")
      .out("v: T")
      .attr("compute_v: bool = true")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("Svd")
      .in("input: T")
      .out("s: T")
      .out("u: T")
      .out("v: T")
      .attr("compute_uv: bool = true")
      .attr("full_matrices: bool = false")
      .attr("T: {double, float, half, complex64, complex128}");

  r.add("TridiagonalMatMul")
      .in("superdiag: T")
      .in("maindiag: T")
      .in("subdiag: T")
      .in("rhs: T")
      .out("output: T")
      .attr("T: {double, float, complex64, complex128}");

  r.add("TridiagonalSolve")
      .in("diagonals: T")
      .in("rhs: T")
      .out("output: T")
      .attr("partial_pivoting: bool = true")
      .attr("perturb_singular: bool = false")
      .attr("T: {double, float, complex64, complex128}");
}

}  // namespace weft::ops

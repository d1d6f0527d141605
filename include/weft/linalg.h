// tf.linalg: functions of matrices, which are the last two dimensions; those in front of them are batches.
#pragma once

#include "weft/math.h"

namespace weft::linalg {

using weft::eye;
using weft::matmul;
using weft::matvec;
using weft::norm;
using weft::tensordot;

// Vectors as the diagonals of matrices that are zero elsewhere.
WEFT_API Tensor diag(const Tensor& diagonal, int64_t k = 0);
// The diagonal k of matrices: 0 is the main one, those above it are positive.
WEFT_API Tensor diag_part(const Tensor& x, int64_t k = 0);
// Matrices with other values on the diagonal k.
WEFT_API Tensor set_diag(const Tensor& x, const Tensor& diagonal, int64_t k = 0);
// What is in the band: num_lower diagonals below the main one and num_upper above; -1: all.
WEFT_API Tensor band_part(const Tensor& x, int64_t num_lower, int64_t num_upper);
// The sum of the main diagonal.
WEFT_API Tensor trace(const Tensor& x);
// The last two dimensions exchanged.
WEFT_API Tensor matrix_transpose(const Tensor& x);
// The same, and the complex conjugate.
WEFT_API Tensor adjoint(const Tensor& x);
// The cross product of vectors of length 3.
WEFT_API Tensor cross(const Tensor& a, const Tensor& b);

// The determinant.
WEFT_API Tensor det(const Tensor& x);
struct SignAndLog {
  Tensor sign, log_abs_determinant;
};
// The sign of the determinant and the logarithm of its size.
WEFT_API SignAndLog slogdet(const Tensor& x);
// The logarithm of the determinant of hermitian positive definite matrices.
WEFT_API Tensor logdet(const Tensor& x);
// The inverse.
WEFT_API Tensor inv(const Tensor& x, bool adjoint = false);
// The solution x of matrix * x = rhs.
WEFT_API Tensor solve(const Tensor& matrix, const Tensor& rhs, bool adjoint = false);
struct TriangularSolveOptions {
  bool lower = true, adjoint = false;
};
// The solution for a triangular matrix.
WEFT_API Tensor triangular_solve(const Tensor& matrix, const Tensor& rhs, const TriangularSolveOptions& options = {});
struct LstsqOptions {
  double l2_regularizer = 0;
  bool fast = true;
};
// The solution of least squares.
WEFT_API Tensor lstsq(const Tensor& matrix, const Tensor& rhs, const LstsqOptions& options = {});
// The lower triangular L with L * adjoint(L) = x, for hermitian positive definite matrices.
WEFT_API Tensor cholesky(const Tensor& x);
struct QrDecomposition {
  Tensor q, r;
};
// An orthogonal and an upper triangular matrix whose product is x.
WEFT_API QrDecomposition qr(const Tensor& x, bool full_matrices = false);
struct SingularValues {
  Tensor s, u, v;  // x = u * diag(s) * adjoint(v)
};
struct SvdOptions {
  bool full_matrices = false, compute_uv = true;
};
// Singular values, largest first, and vectors.
WEFT_API SingularValues svd(const Tensor& x, const SvdOptions& options = {});
struct EigenDecomposition {
  Tensor values, vectors;
};
// Eigenvalues, smallest first, and eigenvectors of hermitian matrices.
WEFT_API EigenDecomposition eigh(const Tensor& x);
// The eigenvalues of hermitian matrices.
WEFT_API Tensor eigvalsh(const Tensor& x);

}  // namespace weft::linalg

// tf.linalg: functions of matrices, which are the last two dimensions; those in front of them are batches.
#pragma once

#include "weft/math.h"

namespace weft::linalg {

using weft::einsum;
using weft::eye;
using weft::global_norm;
using weft::l2_normalize;
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
// Eigenvalues and eigenvectors of any square matrices, complex, in no known order.
WEFT_API EigenDecomposition eig(const Tensor& x);
// The eigenvalues of any square matrices.
WEFT_API Tensor eigvals(const Tensor& x);
// Eigenvalues, smallest first, and eigenvectors of hermitian matrices by their diagonal and the one below it.
WEFT_API EigenDecomposition eigh_tridiagonal(const Tensor& alpha, const Tensor& beta);

struct LuDecomposition {
  Tensor lu;  // the upper triangular matrix, and below its diagonal the lower one, whose diagonal is 1
  Tensor p;   // the order of the rows
};
// The product of triangular matrices, with rows exchanged.
WEFT_API LuDecomposition lu(const Tensor& x);
// The solution of matrix * x = rhs, for the lu of the matrix.
WEFT_API Tensor lu_solve(const Tensor& lower_upper, const Tensor& perm, const Tensor& rhs);
// The inverse of the matrix.
WEFT_API Tensor lu_matrix_inverse(const Tensor& lower_upper, const Tensor& perm);
// The matrix itself.
WEFT_API Tensor lu_reconstruct(const Tensor& lower_upper, const Tensor& perm);
// The solution of matrix * x = rhs, for the Cholesky factor of the matrix.
WEFT_API Tensor cholesky_solve(const Tensor& chol, const Tensor& rhs);
// The solution for triangular matrices with few diagonals, which are the rows of `bands`.
WEFT_API Tensor banded_triangular_solve(const Tensor& bands, const Tensor& rhs, const TriangularSolveOptions& options = {});
// Tridiagonal matrices: `diagonals` is [..., 3, n], the one above, the main one and the one below. The last element of the first and the first of the
// last are not read.
WEFT_API Tensor tridiagonal_solve(const Tensor& diagonals, const Tensor& rhs, bool partial_pivoting = true);
// The product of a tridiagonal matrix and others.
WEFT_API Tensor tridiagonal_matmul(const Tensor& diagonals, const Tensor& rhs);

// The exponential of matrices.
WEFT_API Tensor expm(const Tensor& x);
// The logarithm of complex matrices.
WEFT_API Tensor logm(const Tensor& x);
// The square root of matrices.
WEFT_API Tensor sqrtm(const Tensor& x);
// Moore and Penrose's inverse. Singular values below rcond times the largest are taken as zero; rcond below 0: by the type and the size.
WEFT_API Tensor pinv(const Tensor& x, double rcond = -1);
// How many singular values are larger than tol; tol below 0: by the type and the size.
WEFT_API Tensor matrix_rank(const Tensor& x, double tol = -1);
struct Normalized {
  Tensor normalized, norm;
};
// A tensor divided by its norm, and the norm.
WEFT_API Normalized normalize(const Tensor& x, const NormOptions& options = {});
// A tensor of twice the rank with x on its diagonal.
WEFT_API Tensor tensor_diag(const Tensor& diagonal);
// The diagonal of such a tensor.
WEFT_API Tensor tensor_diag_part(const Tensor& x);

}  // namespace weft::linalg

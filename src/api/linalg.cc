#include "weft/linalg.h"

#include <numeric>
#include <string>

#include "api/op_args.h"
#include "weft/raw/array.h"
#include "weft/raw/linalg.h"

namespace weft::linalg {
namespace {

Tensor zero_like(const Tensor& x) { return cast(Tensor(0.f), x.dtype()); }
Tensor int32(int64_t v) { return Tensor(int32_t(v)); }
int rank_of_matrices(const Tensor& x) {
  const int rank = api::known_rank(x);
  if (rank < 2)
    throw Error(Code::kInvalidArgument, "matrices need at least two dimensions, of a known number, got " +
                                            (rank < 0 ? std::string("an unknown number") : std::to_string(rank)));
  return rank;
}

}  // namespace

Tensor diag(const Tensor& diagonal, int64_t k) { return raw::MatrixDiagV3(diagonal, int32(k), int32(-1), int32(-1), zero_like(diagonal)); }
Tensor diag_part(const Tensor& x, int64_t k) { return raw::MatrixDiagPartV3(x, int32(k), zero_like(x)); }
Tensor set_diag(const Tensor& x, const Tensor& diagonal, int64_t k) { return raw::MatrixSetDiagV3(x, diagonal, int32(k)); }
Tensor band_part(const Tensor& x, int64_t num_lower, int64_t num_upper) { return raw::MatrixBandPart(x, Tensor(num_lower), Tensor(num_upper)); }
Tensor trace(const Tensor& x) { return reduce_sum(diag_part(x), {.axis = {-1}}); }
Tensor matrix_transpose(const Tensor& x) {
  std::vector<int64_t> perm(size_t(rank_of_matrices(x)));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose(x, perm);
}
Tensor adjoint(const Tensor& x) { return conj(matrix_transpose(x)); }
Tensor cross(const Tensor& a, const Tensor& b) { return raw::Cross(a, b); }

Tensor det(const Tensor& x) { return raw::MatrixDeterminant(x); }
SignAndLog slogdet(const Tensor& x) {
  const raw::LogMatrixDeterminantResult r = raw::LogMatrixDeterminant(x);
  return {r.sign, r.log_abs_determinant};
}
Tensor logdet(const Tensor& x) {
  const Tensor logs = log(real(diag_part(cholesky(x))));
  return cast(Tensor(2.f), logs.dtype()) * reduce_sum(logs, {.axis = {-1}});
}
Tensor inv(const Tensor& x, bool adjoint) { return raw::MatrixInverse(x, {.adjoint = adjoint}); }
Tensor solve(const Tensor& matrix, const Tensor& rhs, bool adjoint) { return raw::MatrixSolve(matrix, rhs, {.adjoint = adjoint}); }
Tensor triangular_solve(const Tensor& matrix, const Tensor& rhs, const TriangularSolveOptions& o) {
  return raw::MatrixTriangularSolve(matrix, rhs, {.lower = o.lower, .adjoint = o.adjoint});
}
Tensor lstsq(const Tensor& matrix, const Tensor& rhs, const LstsqOptions& o) {
  return raw::MatrixSolveLs(matrix, rhs, Tensor(o.l2_regularizer), {.fast = o.fast});
}
Tensor cholesky(const Tensor& x) { return raw::Cholesky(x); }
QrDecomposition qr(const Tensor& x, bool full_matrices) {
  const raw::QrResult r = raw::Qr(x, {.full_matrices = full_matrices});
  return {r.q, r.r_};
}
SingularValues svd(const Tensor& x, const SvdOptions& o) {
  const raw::SvdResult r = raw::Svd(x, {.compute_uv = o.compute_uv, .full_matrices = o.full_matrices});
  return {r.s, o.compute_uv ? r.u : Tensor(), o.compute_uv ? r.v : Tensor()};
}
EigenDecomposition eigh(const Tensor& x) {
  const raw::SelfAdjointEigV2Result r = raw::SelfAdjointEigV2(x);
  return {r.e, r.v};
}
Tensor eigvalsh(const Tensor& x) { return raw::SelfAdjointEigV2(x, {.compute_v = false}).e; }

}  // namespace weft::linalg

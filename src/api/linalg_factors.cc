// Factors of matrices, what is solved with them, and functions of matrices.
#include <cmath>
#include <limits>
#include <string>

#include "api/op_args.h"
#include "weft/control_flow.h"
#include "weft/linalg.h"
#include "weft/raw/array.h"
#include "weft/raw/linalg.h"

namespace weft::linalg {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

bool is_double(DType t) { return t == DType::float64 || t == DType::complex128; }
DType real_of(DType t) { return is_double(t) ? DType::float64 : DType::float32; }
DType complex_of(DType t) { return is_double(t) ? DType::complex128 : DType::complex64; }
Tensor number(double v, DType t) { return cast(Tensor(v), t); }
int rank_of(const Tensor& x, const char* who) {
  const int rank = api::known_rank(x);
  if (rank < 2) fail(std::string(who) + ": matrices need at least two dimensions, of a known number");
  return rank;
}
// The number of rows or columns, whichever is larger, times the type's precision.
Tensor precision_of(const Tensor& x, int rank, double factor) {
  const double eps = is_double(x.dtype()) ? std::numeric_limits<double>::epsilon() : double(std::numeric_limits<float>::epsilon());
  const Tensor larger = cast(reduce_max(shape(x)[{slice(rank - 2, rank)}]), real_of(x.dtype()));
  return larger * number(eps * factor, real_of(x.dtype()));
}
// The identity, as large as the matrices of x.
Tensor identity_like(const Tensor& x) {
  const Tensor none = zeros_like(x);
  return set_diag(none, ones_like(diag_part(x)));
}
// Rows in another order, matrix by matrix.
Tensor rows(const Tensor& x, const Tensor& order) {
  const int batch = rank_of(x, "lu") - 2;
  return gather(x, order, {.axis = batch, .batch_dims = batch});
}
Tensor band(const Tensor& diagonals, int64_t i) { return diagonals[{ellipsis, slice(i, i + 1), _}]; }

// Padé's approximants of exp: coefficients, and the norm up to which they are good enough.
struct Approximant {
  std::vector<double> coefficients;
  double limit;
};
const Approximant& approximant_for(DType t) {
  static const Approximant single{{17297280., 8648640., 1995840., 277200., 25200., 1512., 56., 1.}, 3.925724783138660};
  static const Approximant twice{{64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600.,
                                  670442572800., 33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.},
                                 5.371920351148152};
  return is_double(t) ? twice : single;
}

}  // namespace

EigenDecomposition eig(const Tensor& x) {
  const raw::EigResult r = raw::Eig(x, complex_of(x.dtype()));
  return {r.e, r.v};
}
Tensor eigvals(const Tensor& x) { return raw::Eig(x, complex_of(x.dtype()), {.compute_v = false}).e; }
EigenDecomposition eigh_tridiagonal(const Tensor& alpha, const Tensor& beta) { return eigh(diag(alpha) + diag(beta, -1) + diag(conj(beta), 1)); }

LuDecomposition lu(const Tensor& x) {
  const raw::LuResult r = raw::Lu(x);
  return {r.lu, r.p};
}
Tensor lu_solve(const Tensor& lower_upper, const Tensor& perm, const Tensor& rhs) {
  const Tensor lower = set_diag(lower_upper, ones_like(diag_part(lower_upper)));
  return triangular_solve(lower_upper, triangular_solve(lower, rows(rhs, perm)), {.lower = false});
}
Tensor lu_matrix_inverse(const Tensor& lower_upper, const Tensor& perm) { return lu_solve(lower_upper, perm, identity_like(lower_upper)); }
Tensor lu_reconstruct(const Tensor& lower_upper, const Tensor& perm) {
  const Tensor lower = set_diag(band_part(lower_upper, -1, 0), ones_like(diag_part(lower_upper)));
  return rows(matmul(lower, band_part(lower_upper, 0, -1)), argsort(perm));
}
Tensor cholesky_solve(const Tensor& chol, const Tensor& rhs) { return triangular_solve(chol, triangular_solve(chol, rhs), {.adjoint = true}); }
Tensor banded_triangular_solve(const Tensor& bands, const Tensor& rhs, const TriangularSolveOptions& o) {
  return raw::BandedTriangularSolve(bands, rhs, {.lower = o.lower, .adjoint = o.adjoint});
}
Tensor tridiagonal_solve(const Tensor& diagonals, const Tensor& rhs, bool partial_pivoting) {
  if (api::known_rank(rhs) == rank_of(diagonals, "tridiagonal_solve") - 1)
    return squeeze(raw::TridiagonalSolve(diagonals, expand_dims(rhs, -1), {.partial_pivoting = partial_pivoting}), {-1});
  return raw::TridiagonalSolve(diagonals, rhs, {.partial_pivoting = partial_pivoting});
}
Tensor tridiagonal_matmul(const Tensor& diagonals, const Tensor& rhs) {
  return raw::TridiagonalMatMul(band(diagonals, 0), band(diagonals, 1), band(diagonals, 2), rhs);
}

Tensor expm(const Tensor& x) {
  rank_of(x, "expm");
  const DType t = x.dtype(), r = real_of(t);
  const Approximant& pade = approximant_for(t);
  // Halved until the approximant is good enough, then squared as often.
  const Tensor size = reduce_max(reduce_sum(abs(x), {.axis = {-2}}), {.axis = {-1}});
  const Tensor wanted = cast(floor(log(size / number(pade.limit, r)) / number(std::log(2.), r)), DType::int32);
  const Tensor halvings = where(size > number(0, r), maximum(wanted, Tensor(int32_t(0))), zeros_like(wanted));
  const Tensor scale = pow(number(2, r), cast(halvings, r));
  const Tensor small = x / cast(expand_dims(expand_dims(scale, -1), -1), t);
  const Tensor square = matmul(small, small);
  Tensor even, odd, power = identity_like(small);
  for (size_t i = 0; i < pade.coefficients.size(); ++i) {
    Tensor& sum = i % 2 ? odd : even;
    const Tensor term = number(pade.coefficients[i], t) * power;
    sum = sum.has_value() ? sum + term : term;
    if (i % 2 && i + 1 < pade.coefficients.size()) power = matmul(power, square);
  }
  odd = matmul(small, odd);
  const Tensor result = solve(even - odd, even + odd), most = reduce_max(halvings), left = expand_dims(expand_dims(halvings, -1), -1);
  const auto squared = [&](const Tensor& i, const Tensor& value) { return where(i < left, matmul(value, value), value); };
  if (!x.is_symbolic()) {
    Tensor value = result;
    for (int32_t i = 0, n = most.item<int32_t>(); i < n; ++i) value = squared(Tensor(i), value);
    return value;
  }
  return while_loop([&](Tensor i, Tensor) { return i < most; },
                    [&](Tensor i, Tensor value) { return std::pair(i + Tensor(int32_t(1)), squared(i, value)); },
                    std::pair(Tensor(int32_t(0)), result))
      .second;
}
Tensor logm(const Tensor& x) { return raw::MatrixLogarithm(x); }
Tensor sqrtm(const Tensor& x) { return raw::MatrixSquareRoot(x); }
Tensor pinv(const Tensor& x, double rcond) {
  const int rank = rank_of(x, "pinv");
  const SingularValues all = svd(x);
  const DType r = all.s.dtype();
  const Tensor cutoff = (rcond < 0 ? precision_of(x, rank, 10) : number(rcond, r)) * reduce_max(all.s, {.axis = {-1}, .keepdims = true});
  const Tensor values = where(all.s > cutoff, all.s, number(std::numeric_limits<double>::infinity(), r));
  return matmul(all.v / cast(expand_dims(values, -2), x.dtype()), adjoint(all.u));
}
Tensor matrix_rank(const Tensor& x, double tol) {
  const int rank = rank_of(x, "matrix_rank");
  const Tensor values = svd(x, {.compute_uv = false}).s;
  const Tensor limit = tol < 0 ? precision_of(x, rank, 1) * reduce_max(values, {.axis = {-1}, .keepdims = true}) : number(tol, values.dtype());
  return reduce_sum(cast(values > limit, DType::int32), {.axis = {-1}});
}
Normalized normalize(const Tensor& x, const NormOptions& o) {
  const Tensor size = cast(norm(x, {.ord = o.ord, .axis = o.axis, .keepdims = true}), x.dtype());
  return {x / size, size};
}
Tensor tensor_diag(const Tensor& diagonal) { return raw::Diag(diagonal); }
Tensor tensor_diag_part(const Tensor& x) { return raw::DiagPart(x); }

}  // namespace weft::linalg

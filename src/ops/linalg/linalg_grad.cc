#include "ops/linalg/linalg_grad.h"

#include "op/emit.h"
#include "op/registry.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

constexpr int kToEnd = INT32_MAX;

// x[..., begin:end] and x[..., begin:end, :].
Value columns(const Value& x, int begin, int end) {
  if (!x.valid()) return {};
  Emitter& e = x.emitter();
  return e.one("StridedSlice", {x, ints(e, {0, begin}), ints(e, {0, end}), ints(e, {1, 1})}, {{"ellipsis_mask", int64_t(1)}});
}
Value rows(const Value& x, int begin, int end) {
  if (!x.valid()) return {};
  Emitter& e = x.emitter();
  return e.one("StridedSlice", {x, ints(e, {0, begin, 0}), ints(e, {0, end, 0}), ints(e, {1, 1, 1})},
               {{"ellipsis_mask", int64_t(1)}, {"begin_mask", int64_t(4)}, {"end_mask", int64_t(4)}});
}
Value join(const Value& a, const Value& b, int axis) {
  const Value parts[] = {a, b};
  return concat(parts, axis);
}
// Rows moved up or down by one; zeros come in. Columns likewise.
Value rows_up(const Value& x) { return join(rows(x, 1, kToEnd), zeros_like(rows(x, 0, 1)), -2); }
Value rows_down(const Value& x) { return join(zeros_like(rows(x, 0, 1)), rows(x, 0, -1), -2); }
Value columns_left(const Value& x) { return join(columns(x, 1, kToEnd), zeros_like(columns(x, 0, 1)), -1); }
Value columns_right(const Value& x) { return join(zeros_like(columns(x, 0, 1)), columns(x, 0, -1), -1); }

bool complex_numbers(const Value& x) { return x.dtype() == DType::kComplex64 || x.dtype() == DType::kComplex128; }
Value diag(const Value& x) { return unary("MatrixDiag", x); }
Value diag_part(const Value& x) { return unary("MatrixDiagPart", x); }
Value eye_like(const Value& x) { return diag(ones_like(diag_part(x))); }
Value plain_transpose(const Value& x) { return conj(adjoint(x)); }
Value lower_part(const Value& x) {
  if (!x.valid()) return {};
  Emitter& e = x.emitter();
  return e.one("MatrixBandPart", {x, scalar(e, DType::kInt64, -1), scalar(e, DType::kInt64, 0)});
}
Value last_sum(const Value& x) { return x.valid() ? reduce("Sum", x, ints(x.emitter(), {-1})) : x; }

// 1 / x that is 0 at 0: eigenvalues may be equal.
Value safe_reciprocal(const Value& x) { return x * unary("Reciprocal", x * x + 1e-20); }
// 1 / (e_j - e_i) in row i, column j; 0 on the diagonal.
Value reciprocal_gaps(const Value& e) { return binary("MatrixSetDiag", safe_reciprocal(expand_dims(e, -2) - expand_dims(e, -1)), zeros_like(e)); }

// The inner two dimensions, or -1.
std::pair<int64_t, int64_t> inner(const Value& x) {
  const PartialShape s = x.shape();
  if (!s.has_rank() || s.rank() < 2) return {kUnknownDim, kUnknownDim};
  return {s.dim(-2), s.dim(-1)};
}

// x as [..., r, c]: the outer dimensions stay those of `like`.
Value reshape_inner(const Value& x, const Value& like, const Value& r, const Value& c) {
  if (!x.valid() || !like.valid() || !r.valid() || !c.valid()) return {};
  Emitter& e = x.emitter();
  const Value outer = e.one("StridedSlice", {shape_of(like), ints(e, {0}), ints(e, {-2}), ints(e, {1})});
  const Value parts[] = {outer, expand_dims(r, 0), expand_dims(c, 0)};
  return reshape(x, concat(parts, 0));
}

// x r^-H for an upper triangular r.
Value solve_right(const Value& x, const Value& r) {
  if (!x.valid() || !r.valid()) return {};
  return adjoint(x.emitter().one("MatrixTriangularSolve", {r, adjoint(x)}, {{"lower", false}}));
}

// Of as many rows as columns, or more.
Value deep_qr_grad(const Value& q, const Value& r, const Value& dq, const Value& dr) {
  const Value qdq = batch_matmul(q, dq, true, false), rdr = batch_matmul(r, dr, false, true);
  const Value low = lower_part((qdq - adjoint(qdq)) + (rdr - adjoint(rdr)));
  Value out = batch_matmul(q, dr + solve_right(low, r)) + solve_right(dq - batch_matmul(q, qdq), r);
  if (complex_numbers(q)) {
    // The phase of R's diagonal is fixed, which takes the imaginary part away.
    const Value d = diag_part(rdr - adjoint(qdq));
    const Value imaginary = diag((d - conj(d)) * 0.5);
    out = out + solve_right(batch_matmul(q, imaginary, false, true), r);
  }
  return out;
}

}  // namespace

// dR solves R^H dR + dR R^H = dy, written as one system of n^2 equations.
Grads square_root_grad(const GradContext& g) {
  const Value r = g.y(), eye = eye_like(r);
  auto kronecker = [](const Value& a, const Value& b) { return expand_dims(expand_dims(a, -2), -1) * expand_dims(expand_dims(b, -3), -2); };
  const Value n = element(shape_of(r), -1), n2 = n * n;
  const Value sum = reshape_inner(kronecker(eye, plain_transpose(r)) + kronecker(r, eye), r, n2, n2);
  const Value one = scalar(g.emitter(), DType::kInt32, 1);
  const Value solved = g.one("MatrixSolve", {sum, reshape_inner(plain_transpose(g.dy()), r, n2, one)});
  return {plain_transpose(reshape_like(solved, r))};
}

Grads qr_grad(const GradContext& g) {
  const Value q = g.y(0), r = g.y(1), dq = g.dy(0), dr = g.dy(1);
  const int64_t m = inner(q).first, p = inner(q).second, k = inner(r).first, n = inner(r).second;
  if (m < 0 || p < 0 || k < 0 || n < 0)
    return g.fail(unimplemented("QrGrad not implemented with dynamic shapes. Received r.shape: ", r.shape().to_string()));
  if (k > n && m == p) {
    return g.fail(unimplemented("QrGrad not implemented when nrows > ncols and full_matrices is true. Received r.shape=", r.shape().to_string(),
                                " with nrows=", k, "and ncols=", n, "."));
  }
  if (m >= n) return {deep_qr_grad(q, r, dq, dr)};
  // A = [X, Y], R = [U, V]: X is square.
  const int at = int(m);
  const Value y = columns(g.x(), at, kToEnd), dv = columns(dr, at, kToEnd);
  const Value dx = deep_qr_grad(q, columns(r, 0, at), dq + batch_matmul(y, dv, false, true), columns(dr, 0, at));
  return {join(dx, batch_matmul(q, dv), -1)};
}

Grads eig_grad(const GradContext& g) {
  const bool vectors = g.attr<bool>("compute_v");
  Value v = g.y(1);
  if (!vectors) {
    auto again = g.emitter().apply("Eig", {g.x()}, g.attrs({"Tout"}));
    if (again.size() < 2) return g.none();
    v = again[1];
  }
  const Value vt = adjoint(v);
  Value middle = diag(g.dy(0));
  if (vectors) {
    const Value vgv = batch_matmul(vt, g.dy(1)), d = diag_part(vgv);
    middle = middle + conj(reciprocal_gaps(g.y(0))) * (vgv - batch_matmul(batch_matmul(vt, v), diag((d + conj(d)) * 0.5)));
  }
  return {cast(g.one("MatrixSolve", {vt, batch_matmul(middle, vt)}), g.x().dtype())};
}

Grads self_adjoint_eig_grad(const GradContext& g) {
  const bool vectors = g.attr<bool>("compute_v");
  Value v = g.y(1), middle = diag(g.dy(0));
  if (vectors) {
    middle = middle + reciprocal_gaps(g.y(0)) * batch_matmul(v, g.dy(1), true, false);
  } else {
    auto again = g.emitter().apply("SelfAdjointEigV2", {g.x()});
    if (again.size() < 2) return g.none();
    v = again[1];
  }
  const Value a = batch_matmul(v, batch_matmul(middle, v, false, true));
  // Only the lower triangle of the input is read.
  const Value low = lower_part(a + adjoint(a));
  return {binary("MatrixSetDiag", low, 0.5 * diag_part(low))};
}

Grads svd_grad(const GradContext& g) {
  const Value a = g.x();
  const Value ds = diag(cast(g.dy(0), a.dtype()));
  if (!g.attr<bool>("compute_uv")) {
    auto again = g.emitter().apply("Svd", {a});
    if (again.size() < 3) return g.none();
    return {batch_matmul(again[1], batch_matmul(ds, again[2], false, true))};
  }
  auto [m, n] = inner(a);
  if (m < 0 || n < 0) return g.fail(unimplemented("SVD gradient has not been implemented for input with unknown inner matrix shape."));
  const bool full = g.attr<bool>("full_matrices"), transposed = m > n;
  const Value s = cast(g.y(0), a.dtype());
  Value u = g.y(1), v = g.y(2), du = g.dy(1), dv = g.dy(2);
  if (transposed) {  // the decomposition of the adjoint
    std::swap(m, n);
    std::swap(u, v);
    std::swap(du, dv);
  }
  if (full && n - m > 1) {
    return g.fail(unimplemented("svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. Received: m=", m, " and n=", n,
                                " from op input with shape=", a.shape().to_string(), "."));
  }
  const int at = int(m);
  const bool wide = full && m != n;
  const Value s_matrix = diag(s), gaps = reciprocal_gaps(unary("Square", s)), s_inverse = diag(safe_reciprocal(s));
  const Value v1 = wide ? columns(v, 0, at) : v, dv1 = wide ? columns(dv, 0, at) : dv;
  const Value ugu = batch_matmul(u, du, true, false), vgv = batch_matmul(v1, dv1, true, false);
  const Value fu = gaps * ugu, fv = gaps * vgv;
  const Value core = ds + batch_matmul(fu + adjoint(fu), s_matrix) + batch_matmul(s_matrix, fv + adjoint(fv));
  Value out = batch_matmul(u, batch_matmul(core, v1, false, true));
  if (m != n) {
    const Value gv = adjoint(dv1);
    Value rest = gv - batch_matmul(batch_matmul(gv, v1), v1, false, true);
    if (full) rest = rest - batch_matmul(batch_matmul(v1, columns(dv, at, int(n)), true, false), columns(v, at, int(n)), false, true);
    out = out + batch_matmul(batch_matmul(u, s_inverse), rest);
  }
  if (complex_numbers(a)) {
    const Value l = diag(diag_part(vgv));
    out = out + 0.5 * batch_matmul(u, batch_matmul(batch_matmul(s_inverse, adjoint(l) - l), v1, false, true));
  }
  return {transposed ? adjoint(out) : out};
}

// Through the normal equations, of the first kind where there are at least as many equations as unknowns.
Grads least_squares_grad(const GradContext& g) {
  if (!g.attr<bool>("fast")) return g.fail(invalid_argument("Gradient not defined for fast=False"));
  const Value a = g.x(0), b = g.x(1), x = g.y(), dy = g.dy();
  const auto [m, n] = inner(a);
  if (m < 0 || n < 0) return g.fail(unimplemented("the gradient of MatrixSolveLs for matrices whose size is not known"));
  const bool first = m >= n;
  Value gramian = batch_matmul(a, a, first, !first);
  gramian = gramian + cast(g.x(2), a.dtype()) * eye_like(gramian);
  const Value l = unary("Cholesky", gramian);
  auto solve = [&](const Value& rhs) { return g.one("MatrixTriangularSolve", {l, g.one("MatrixTriangularSolve", {l, rhs})}, {{"adjoint", true}}); };
  if (first) {
    const Value z = solve(dy), xz = batch_matmul(x, z, false, true);
    return {batch_matmul(b, z, false, true) - batch_matmul(a, xz + plain_transpose(xz)), batch_matmul(a, z), {}};
  }
  const Value db = solve(batch_matmul(a, dy)), t = solve(b);
  const Value da = batch_matmul(t, dy - batch_matmul(a, db, true, false), false, true) - batch_matmul(db, batch_matmul(t, a, true, false));
  return {da, db, {}};
}

Grads banded_solve_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const bool adjointed = g.attr<bool>("adjoint"), lower = g.attr<bool>("lower");
  AttrMap attrs = g.attrs({"lower"});
  attrs["adjoint"] = !adjointed;
  const Value db = g.one("BandedTriangularSolve", {g.x(0), g.dy()}, std::move(attrs));
  const Value product = -(adjointed ? batch_matmul(g.y(), db, false, true) : batch_matmul(db, g.y(), false, true));
  const Value zero = scalar(e, DType::kInt32, 0);
  const int64_t known = inner(g.x(0)).first;
  const Value furthest = (known >= 0 ? scalar(e, DType::kInt32, double(known)) : element(shape_of(g.x(0)), -2)) - 1;
  const Value ends[] = {expand_dims(lower ? -furthest : zero, 0), expand_dims(lower ? zero : furthest, 0)};
  const Value da = g.one("MatrixDiagPartV3", {product, concat(ends, 0), scalar(e, product.valid() ? product.dtype() : DType::kFloat, 0)},
                         {{"align", std::string("LEFT_RIGHT")}});
  return {sum_to(da, g.x(0)), sum_to(db, g.x(1))};
}

Grads tridiagonal_matmul_grad(const GradContext& g) {
  const Value dy = g.dy(), x = conj(g.x(3));
  auto diagonal = [&](const Value& moved) { return expand_dims(last_sum(moved * dy), -2); };
  const Value dx = rows_down(adjoint(g.x(0)) * dy) + adjoint(g.x(1)) * dy + rows_up(adjoint(g.x(2)) * dy);
  return {diagonal(rows_up(x)), diagonal(x), diagonal(rows_down(x)), dx};
}

// TensorFlow transposes the matrix but takes no conjugates.
Grads tridiagonal_solve_grad(const GradContext& g) {
  const Value d = g.x(0), x = g.y();
  const Value transposed[] = {columns_left(rows(d, 2, 3)), rows(d, 1, 2), columns_right(rows(d, 0, 1))};
  const Value db = g.one("TridiagonalSolve", {concat(transposed, -2), g.dy()}, g.attrs({"partial_pivoting", "perturb_singular"}));
  auto diagonal = [&](const Value& moved) { return expand_dims(last_sum(db * moved), -2); };
  const Value parts[] = {diagonal(rows_up(x)), diagonal(x), diagonal(rows_down(x))};
  return {-concat(parts, -2), db};
}

}  // namespace weft_engine::ops

// Factorisations of matrices, and what comes of them.
#include "ops/linalg/linalg_matrix_lower.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

namespace {

LoweredList cross(LowerContext& l) {
  const Value a = l.x(0), b = l.x(1);
  if (!a || !b) return {};
  const int last = a->rank() - 1;
  if (last < 0 || b->rank() != a->rank() || !a->dim(last).is(3))
    return l.fail(invalid_argument("Cross-products are only defined for 3-element vectors."));
  auto part = [&](Value x, int i) { return l.b.slice_axis(x, last, Dim(i % 3), 1); };
  std::vector<Value> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(l.b.sub(l.b.mul(part(a, i + 1), part(b, i + 2)), l.b.mul(part(a, i + 2), part(b, i + 1))));
  return {l.b.concat(std::move(parts), last)};
}

Value real_of(ir::Builder& b, Value x) { return x && is_complex_type(x->type.dtype) ? b.real(x) : x; }

LoweredList cholesky(LowerContext& l) {
  const MatrixStack s = square_stack(l, l.x());
  const Value y = cholesky_of(l.b, s.x, s.rows);
  if (!y) return {};
  const Value pivots = real_of(l.b, diagonal_of(l.b, y));
  l.b.check(all_of(l.b, l.b.compare(ir::Compare::kGt, pivots, l.b.scalar(pivots->type.dtype, 0))),
            "Cholesky decomposition was not successful. The input might not be valid.");
  return {unstacked(l, s, y)};
}

// The lower triangle of l^T g with its diagonal halved, between the inverses of l^T and l; made symmetric.
LoweredList cholesky_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const MatrixStack s = square_stack(l, l.x(0), "Inputs must be a square matrices."),
                    g = square_stack(l, l.x(1), "Inputs must be a square matrices.");
  if (!s.x || !g.x) return {};
  const Dim n = s.rows;
  const Value row = b.iota(DType::kInt32, s.x->type.dims, 1), col = b.iota(DType::kInt32, s.x->type.dims, 2), zero = b.scalar(s.x->type.dtype, 0);
  const auto lower = [&](Value x) { return b.select(b.compare(ir::Compare::kGe, row, col), x, zero); };
  const Value factor = lower(s.x), m = lower(b.dot(factor, lower(g.x), true, false));
  const Value phi = b.select(b.compare(ir::Compare::kEq, row, col), b.mul(m, 0.5), m);
  const Value up = b.transpose(factor, {0, 2, 1}), left = triangular_solution(b, up, phi, n, false, false);
  const Value both = b.transpose(triangular_solution(b, up, b.transpose(left, {0, 2, 1}), n, false, false), {0, 2, 1});
  return {unstacked(l, s, b.mul(b.add(both, b.transpose(both, {0, 2, 1})), 0.5))};
}

LoweredList determinant(LowerContext& l) {
  const MatrixStack s = square_stack(l, l.x());
  const LuFactors f = lu_of(l.b, s.x, s.rows);
  if (!f.lu) return {};
  return {unstacked(l, s, l.b.mul(f.sign, l.b.reduce(ir::Reduce::kProd, diagonal_of(l.b, f.lu), {1})))};
}

LoweredList log_determinant(LowerContext& l) {
  ir::Builder& b = l.b;
  const MatrixStack s = square_stack(l, l.x());
  const LuFactors f = lu_of(b, s.x, s.rows);
  if (!f.lu) return {};
  const Value d = diagonal_of(b, f.lu), sign = b.mul(f.sign, b.reduce(ir::Reduce::kProd, b.unary(ir::Unary::kSign, d), {1}));
  const Value log = b.convert(b.sum(b.log(magnitude(b, d)), {1}), f.lu->type.dtype);
  return {unstacked(l, s, sign, 0), unstacked(l, s, log, 1)};
}

LoweredList lu(LowerContext& l) {
  const MatrixStack s = square_stack(l, l.x());
  const LuFactors f = lu_of(l.b, s.x, s.rows);
  if (!f.lu) return {};
  const Value d = diagonal_of(l.b, f.lu);
  l.b.check(all_of(l.b, l.b.compare(ir::Compare::kNe, d, l.b.scalar(d->type.dtype, 0))), "Input is not invertible.");
  return {unstacked(l, s, f.lu, 0), unstacked(l, s, f.order, 1)};
}

LoweredList inverse(LowerContext& l) {
  ir::Builder& b = l.b;
  const MatrixStack s = square_stack(l, l.x());
  if (!s.x) return {};
  const LuFactors f = lu_of(b, l.attr<bool>("adjoint") ? adjoint_of(b, s.x) : s.x, s.rows);
  if (!f.lu) return {};
  const Value d = diagonal_of(b, f.lu);
  b.check(all_of(b, b.compare(ir::Compare::kNe, d, b.scalar(d->type.dtype, 0))), "Input is not invertible.");
  return {unstacked(l, s, lu_solution(b, f, eye(b, s.x->type.dtype, s.x->dim(0), s.rows), s.rows))};
}

LoweredList qr(LowerContext& l) {
  ir::Builder& b = l.b;
  const MatrixStack s = matrix_stack(l, l.x());
  if (!s.x) return {};
  const Dim least = ir::min(s.rows, s.columns);
  QrFactors f = qr_of(b, s.x, s.rows, s.columns, least);
  if (!f.q) return {};
  if (!l.attr<bool>("full_matrices")) {
    f.q = b.slice_axis(f.q, 2, 0, least);
    f.r = b.slice_axis(f.r, 1, 0, least);
  }
  return {unstacked(l, s, f.q, 0), unstacked(l, s, f.r, 1)};
}

// Sizes as numbers: the order of the rotations depends on them.
bool fixed_real(LowerContext& l, const MatrixStack& s) {
  if (!s.x) return false;
  if (is_complex_type(s.x->type.dtype)) l.unsupported("complex numbers");
  if (!s.rows.is_const() || !s.columns.is_const()) l.unsupported("open sizes");
  return l.ok();
}

LoweredList self_adjoint_eig(LowerContext& l) {
  const MatrixStack s = square_stack(l, l.x());
  if (!fixed_real(l, s)) return {};
  const int64_t n = s.rows.value();
  if (n == 0) return {unstacked(l, s, l.b.reshape(s.x, {s.x->dim(0), 0}), 0), unstacked(l, s, s.x, 1)};
  const Eigen e = symmetric_eigen(l.b, s.x, s.x->dim(0), n);
  const Value none = l.b.fill(l.out_type(1), {0}, 0);
  return {unstacked(l, s, e.values, 0), l.attr<bool>("compute_v") ? unstacked(l, s, e.vectors, 1) : none};
}

// The columns of the longer side are made orthogonal; the other vectors are the reflections that make those columns an upper triangle, which is a diagonal.
LoweredList svd(LowerContext& l) {
  ir::Builder& b = l.b;
  const MatrixStack s = matrix_stack(l, l.x());
  if (!fixed_real(l, s)) return {};
  const int64_t rows = s.rows.value(), columns = s.columns.value();
  const bool vectors = l.attr<bool>("compute_uv"), full = l.attr<bool>("full_matrices"), tall = rows >= columns;
  if (rows == 0 || columns == 0) return l.unsupported("empty matrices");
  const int64_t m = tall ? rows : columns, n = tall ? columns : rows;
  const Dim count = s.x->dim(0);
  const Orthogonal o = orthogonal_columns(b, tall ? s.x : b.transpose(s.x, {0, 2, 1}), count, n);
  if (!o.av) return {};
  const Value values = b.sqrt(b.sum(b.square(o.av), {1}));
  const Value none = b.fill(l.out_type(1), {0}, 0);
  if (!vectors) return {unstacked(l, s, values, 0), none, none};
  const QrFactors f = qr_of(b, o.av, m, n, n);
  if (!f.q) return {};
  const Value d = diagonal_of(b, b.slice_axis(f.r, 1, 0, n)), minus = b.compare(ir::Compare::kLt, d, b.scalar(d->type.dtype, 0));
  const Value sign = b.select(minus, b.scalar(d->type.dtype, -1), b.scalar(d->type.dtype, 1));
  const Value wide = b.pad(sign, b.scalar(d->type.dtype, 1), {0, 0}, {0, m - n});
  Value other = b.mul(f.q, b.expand_dims(wide, 1)), own = o.v;
  if (!full) other = b.slice_axis(other, 2, 0, n);
  return {unstacked(l, s, values, 0), unstacked(l, s, tall ? other : own, 1), unstacked(l, s, tall ? own : other, 2)};
}

}  // namespace

void lower_linalg(Registry& r) {
  r.lower("Cholesky", cholesky);
  r.lower("CholeskyGrad", cholesky_grad);
  r.lower("Cross", cross);
  r.lower("LogMatrixDeterminant", log_determinant);
  r.lower("Lu", lu);
  r.lower("MatrixDeterminant", determinant);
  r.lower("MatrixInverse", inverse);
  r.lower("Qr", qr);
  r.lower("SelfAdjointEigV2", self_adjoint_eig);
  r.lower("Svd", svd);
}

}  // namespace weft_engine::ops

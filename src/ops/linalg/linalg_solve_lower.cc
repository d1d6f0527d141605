// Linear equations: general, triangular, banded and tridiagonal matrices, and least squares.
#include <limits>

#include "ops/linalg/linalg_matrix_lower.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

namespace {

using B = ir::Binary;
using C = ir::Compare;
using List = std::vector<Value>;

Value not_zero(ir::Builder& b, Value x) { return x ? b.compare(C::kNe, x, b.scalar(x->type.dtype, 0)) : nullptr; }

// Matrices and right-hand sides whose outer dimensions are broadcast.
struct System {
  MatrixStack a, rhs;
};
std::optional<System> read_system(LowerContext& l, bool broadcast) {
  const Value a = l.x(0), rhs = l.x(1);
  if (!a || !rhs) return std::nullopt;
  if (a->rank() < 2 || rhs->rank() < 2) {
    const int which = a->rank() < 2 ? 0 : 1;
    l.fail(invalid_argument("In[", which, "] ndims must be >= 2: ", l.rank(which)));
    return std::nullopt;
  }
  const Dims outer = l.b.broadcast_dims(dims_of(a, 0, a->rank() - 2), dims_of(rhs, 0, rhs->rank() - 2));
  if (!l.ok()) return std::nullopt;
  const auto spread = [&](Value x) {
    Dims dims = outer;
    dims.insert(dims.end(), x->type.dims.end() - 2, x->type.dims.end());
    return l.b.broadcast_to(x, dims);
  };
  System s{matrix_stack(l, broadcast ? spread(a) : a), matrix_stack(l, broadcast ? spread(rhs) : rhs)};
  return s.a.x && s.rhs.x && l.ok() ? std::optional(s) : std::nullopt;
}

LoweredList matrix_solve(LowerContext& l) {
  const auto s = read_system(l, false);
  if (!s) return {};
  l.b.same(s->a.rows, s->a.columns);
  l.b.same(s->a.rows, s->rhs.rows);
  if (!l.ok()) return {};
  // Twice the digits: what elimination loses is not seen.
  const DType t = is_complex_type(s->a.x->type.dtype) ? DType::kComplex128 : DType::kDouble;
  const Value a = l.b.convert(s->a.x, t);
  const LuFactors f = lu_of(l.b, l.attr<bool>("adjoint") ? adjoint_of(l.b, a) : a, s->a.rows);
  l.b.check(all_of(l.b, not_zero(l.b, diagonal_of(l.b, f.lu))), "Input matrix is not invertible.");
  return {unstacked(l, s->rhs, lu_solution(l.b, f, l.b.convert(s->rhs.x, t), s->a.rows))};
}

LoweredList triangular_solve(LowerContext& l) {
  const auto s = read_system(l, true);
  if (!s) return {};
  l.b.same(s->a.rows, s->a.columns);
  l.b.same(s->a.rows, s->rhs.rows);
  if (!l.ok()) return {};
  const bool adjoint = l.attr<bool>("adjoint");
  const Value a = adjoint ? adjoint_of(l.b, s->a.x) : s->a.x;
  return {unstacked(l, s->rhs, triangular_solution(l.b, a, s->rhs.x, s->a.rows, l.attr<bool>("lower") != adjoint, false))};
}

// The bands spread into whole matrices: element (i, j) of a lower one is in band i - j, at i.
LoweredList banded_solve(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_system(l, true);
  if (!s) return {};
  const Dim bands = s->a.rows, n = s->a.columns, count = s->a.x->dim(0);
  b.same(n, s->rhs.rows);
  if (!l.ok()) return {};
  const bool lower = l.attr<bool>("lower"), adjoint = l.attr<bool>("adjoint");
  const DType t = s->a.x->type.dtype;
  const Value first = b.slice(s->a.x, {0, lower ? Dim(0) : bands - Dim(1), 0}, {1, 1, n});
  b.check(all_of(b, not_zero(b, first)), "Input matrix is not invertible.");
  const Dims dims{count, n, n};
  const Value i = b.iota(DType::kInt64, dims, 1), j = b.iota(DType::kInt64, dims, 2), size = b.sizes({bands}, DType::kInt64, true);
  const Value band = lower ? b.sub(i, j) : b.sub(b.sub(size, b.scalar_int(DType::kInt64, 1)), b.sub(j, i));
  const Value good = b.binary(B::kAnd, inside(b, band, bands), b.compare(lower ? C::kGe : C::kLe, i, j));
  // [count, n, bands] by the number of the band.
  Value a = b.gather(b.transpose(s->a.x, {0, 2, 1}), b.select(good, band, b.scalar_int(DType::kInt64, 0)), 2, 2, "");
  a = b.select(good, a, b.scalar(t, 0));
  if (adjoint) a = adjoint_of(b, a);
  return {unstacked(l, s->rhs, triangular_solution(b, a, s->rhs.x, n, lower != adjoint, false))};
}

// By the normal equations.
LoweredList least_squares(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_system(l, false);
  const Value weight = l.x(2);
  if (!s || !weight) return {};
  if (!l.attr<bool>("fast")) return l.unsupported("fast = false");
  b.same(s->a.rows, s->rhs.rows);
  if (!l.ok()) return {};
  const Dim m = s->a.rows, n = s->a.columns, count = s->a.x->dim(0);
  if (!m.is_const() || !n.is_const()) return l.unsupported("open sizes");
  b.check(b.compare(C::kGe, as_scalar(b, weight), b.scalar(DType::kDouble, 0)), "l2_regularizer must be >= 0.");
  // Squares of condition numbers want digits.
  const bool is_complex = is_complex_type(s->a.x->type.dtype);
  const DType t = is_complex ? DType::kComplex128 : DType::kDouble;
  const Value a = b.convert(s->a.x, t), rhs = b.convert(s->rhs.x, t), ah = adjoint_of(b, a);
  const bool tall = m.value() >= n.value();
  const Dim k = tall ? n : m;
  const Value gram = b.add(tall ? b.dot(ah, a) : b.dot(a, ah), b.mul(eye(b, t, count, k), b.convert(as_scalar(b, weight), t)));
  const Value factor = cholesky_of(b, gram, k);
  const Value pivots = diagonal_of(b, factor), sizes = is_complex ? b.real(pivots) : pivots;
  b.check(all_of(b, b.compare(C::kGt, sizes, b.scalar(DType::kDouble, 0))),
          cat("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide ", tall ? "a larger" : "an",
              " l2_regularizer > 0."));
  const Value y = triangular_solution(b, factor, tall ? b.dot(ah, rhs) : rhs, k, true, false);
  const Value x = triangular_solution(b, adjoint_of(b, factor), y, k, false, false);
  return {unstacked(l, s->rhs, tall ? x : b.dot(ah, x))};
}

// Row i of [count, n] values, or of [count, n, k].
Value at(ir::Builder& b, Value x, Value i) {
  if (!x || !i) return nullptr;
  const Value zero = b.scalar_int(DType::kInt64, 0);
  return x->rank() == 2 ? b.dynamic_slice(x, {zero, i}, {x->dim(0), 1}) : b.dynamic_slice(x, {zero, i, zero}, {x->dim(0), 1, x->dim(2)});
}
Value with(ir::Builder& b, Value x, Value i, Value row) {
  const Value zero = b.scalar_int(DType::kInt64, 0);
  return x->rank() == 2 ? b.dynamic_update(x, row, {zero, i}) : b.dynamic_update(x, row, {zero, i, zero});
}

// Elimination with the rows of two neighbours changing places where that is better (LAPACK's xGTSV), then back substitution. A pivot of 0 makes the whole
// solution NaN.
LoweredList tridiagonal_solve(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_system(l, false);
  if (!s) return {};
  if (l.attr<bool>("perturb_singular")) return l.unsupported("perturb_singular");
  if (!s->a.rows.is(3))
    return l.fail(invalid_argument("Expected diagonals to be provided as a matrix with 3 rows, got ", size_text(b, s->a.rows), " rows."));
  b.same(s->a.columns, s->rhs.rows);
  if (!l.ok()) return {};
  const Dim n = s->rhs.rows, count = s->a.x->dim(0);
  const bool pivoting = l.attr<bool>("partial_pivoting");
  const DType t = s->a.x->type.dtype;
  const auto diagonal = [&](int i) { return b.reshape(b.slice_axis(s->a.x, 1, i, 1), {count, n}); };
  const Value super = diagonal(0), main = diagonal(1), sub = diagonal(2), zeros = b.fill(t, {count, n}, 0);
  if (!zeros || n.is(0)) return {l.x(1)};
  const Value one = b.scalar_int(DType::kInt64, 1), last = b.sizes({n - Dim(1)}, DType::kInt64, true);
  // main, first, second (of U), right-hand side: row i is finished in turn i.
  const List end = counted_loop(b, n - Dim(1), {main, super, zeros, s->rhs.x}, [&](Value i, const List& v) -> List {
    const Value next = b.add(i, one), pivot = at(b, v[0], i), first = at(b, v[1], i), under = at(b, sub, next), m = at(b, main, next),
                u = at(b, super, next);
    const Value row = at(b, v[3], i), below = at(b, v[3], next);
    const Value stay = pivoting ? b.compare(C::kGe, magnitude(b, pivot), magnitude(b, under)) : b.fill(DType::kBool, {count, 1}, 1);
    const Value factor = b.select(stay, b.div(under, pivot), b.div(pivot, under)), wide = b.expand_dims(factor, 2), rows = b.expand_dims(stay, 2);
    const Value zero = b.scalar(t, 0), more = b.compare(C::kLt, next, last);
    const Value new_main = b.select(stay, b.sub(m, b.mul(factor, first)), b.sub(first, b.mul(factor, m)));
    const Value new_first = b.select(stay, u, b.select(more, b.neg(b.mul(factor, u)), zero));
    const Value new_row = b.select(rows, b.sub(below, b.mul(wide, row)), b.sub(row, b.mul(wide, below)));
    return {with(b, with(b, v[0], i, b.select(stay, pivot, under)), next, new_main),
            with(b, with(b, v[1], i, b.select(stay, first, m)), next, new_first), with(b, v[2], i, b.select(stay, zero, b.select(more, u, zero))),
            with(b, with(b, v[3], i, b.select(rows, row, below)), next, new_row)};
  });
  if (!end[0]) return {};
  const Value zero = b.scalar(t, 0);
  const Value x = counted_loop(b, n, {end[3]}, [&](Value step, const List& v) -> List {
    const Value i = b.sub(last, step), next = b.add(i, one), second = b.add(next, one);
    const auto part = [&](Value diagonal_, Value j) {
      const Value in = b.compare(C::kLe, j, last);
      return b.select(in, b.mul(b.expand_dims(at(b, diagonal_, i), 2), at(b, v[0], j)), zero);
    };
    const Value row = b.sub(b.sub(at(b, v[0], i), part(end[1], next)), part(end[2], second));
    return {with(b, v[0], i, b.div(row, b.expand_dims(at(b, end[0], i), 2)))};
  })[0];
  const Value good = b.reduce(ir::Reduce::kAnd, not_zero(b, end[0]), {1});
  if (!x || !good) return {};
  const DType real = is_complex_type(t) ? ir::part_type(t) : t;
  const Value nan = b.convert(b.scalar(real, std::numeric_limits<double>::quiet_NaN()), t);
  return {unstacked(l, s->rhs, b.select(b.broadcast_in_dim(good, x->type.dims, {0}), x, nan))};
}

LoweredList tridiagonal_matmul(LowerContext& l) {
  ir::Builder& b = l.b;
  const MatrixStack rhs = matrix_stack(l, l.x(3));
  if (!rhs.x) return {};
  const Dim n = rhs.rows, count = rhs.x->dim(0);
  Value d[3] = {};
  for (int i = 0; i < 3; ++i) {
    const MatrixStack m = matrix_stack(l, l.x(i));
    if (!m.x) return {};
    b.same(m.rows, Dim(1));
    b.same(m.columns, n);
    d[i] = b.reshape(m.x, {count, n, 1});
  }
  const Value zero = b.scalar(rhs.x->type.dtype, 0);
  const auto moved = [&](int64_t by) { return b.pad(rhs.x, zero, {0, by, 0}, {0, -by, 0}); };
  const Value y = b.add(b.add(b.mul(d[1], rhs.x), b.mul(d[2], moved(1))), b.mul(d[0], moved(-1)));
  return {unstacked(l, rhs, y)};
}

}  // namespace

void lower_linalg_solve(Registry& r) {
  r.lower("BandedTriangularSolve", banded_solve);
  r.lower("MatrixSolve", matrix_solve);
  r.lower("MatrixSolveLs", least_squares);
  r.lower("MatrixTriangularSolve", triangular_solve);
  r.lower("TridiagonalMatMul", tridiagonal_matmul);
  r.lower("TridiagonalSolve", tridiagonal_solve);
}

}  // namespace weft_engine::ops

#include "ops/linalg/linalg_matrix_lower.h"

#include <limits>

#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using B = ir::Binary;
using C = ir::Compare;
using U = ir::Unary;
using List = std::vector<Value>;

MatrixStack matrix_stack(LowerContext& l, Value x) {
  MatrixStack s;
  if (!x) return s;
  if (x->rank() < 2) {
    l.fail(invalid_argument("Input tensor must have rank >= 2, got ", x->rank()));
    return s;
  }
  s.outer = dims_of(x, 0, x->rank() - 2);
  s.rows = x->dim(x->rank() - 2);
  s.columns = x->dim(x->rank() - 1);
  s.x = l.b.reshape(widened(l, x), {product(s.outer), s.rows, s.columns});
  return s;
}

MatrixStack square_stack(LowerContext& l, Value x, const char* error) {
  MatrixStack s = matrix_stack(l, x);
  if (!s.x) return s;
  if (s.rows.is_const() && s.columns.is_const() && !(s.rows == s.columns)) l.fail(Status(Code::kInvalidArgument, error));
  l.b.same(s.rows, s.columns);
  if (!l.ok()) s.x = nullptr;
  return s;
}

Value unstacked(LowerContext& l, const MatrixStack& s, Value y, int output) {
  if (!y) return nullptr;
  Dims dims = s.outer;
  dims.insert(dims.end(), y->type.dims.begin() + 1, y->type.dims.end());
  return l.b.convert(l.b.reshape(y, dims), l.out_type(output));
}

Value column_of(ir::Builder& b, Value x, Value j) {
  if (!x || !j) return nullptr;
  const Value zero = b.scalar_int(DType::kInt64, 0);
  return b.dynamic_slice(x, {zero, zero, j}, {x->dim(0), x->dim(1), 1});
}

Value row_of(ir::Builder& b, Value x, Value i) {
  if (!x || !i) return nullptr;
  const Value zero = b.scalar_int(DType::kInt64, 0);
  return b.dynamic_slice(x, {zero, i, zero}, {x->dim(0), 1, x->dim(2)});
}

Value at_index(ir::Builder& b, const Dims& dims, int axis, C c, Value i) { return b.compare(c, b.iota(DType::kInt64, dims, axis), i); }

Value adjoint_of(ir::Builder& b, Value x) { return conjugate(b, b.transpose(x, {0, 2, 1})); }

Value eye(ir::Builder& b, DType t, const Dim& count, const Dim& n) {
  const Dims dims{count, n, n};
  return b.select(b.compare(C::kEq, b.iota(DType::kInt32, dims, 1), b.iota(DType::kInt32, dims, 2)), b.scalar(t, 1), b.scalar(t, 0));
}

// A sum of one number and zeros.
Value diagonal_of(ir::Builder& b, Value x) {
  if (!x) return nullptr;
  const Value on = b.compare(C::kEq, b.iota(DType::kInt32, x->type.dims, 1), b.iota(DType::kInt32, x->type.dims, 2));
  return b.sum(b.select(on, x, b.scalar(x->type.dtype, 0)), {2});
}

Value magnitude(ir::Builder& b, Value x) { return b.unary(U::kAbs, x); }
Value squared_magnitude(ir::Builder& b, Value x) {
  if (!x) return nullptr;
  return is_complex_type(x->type.dtype) ? b.add(b.square(b.real(x)), b.square(b.imag(x))) : b.square(x);
}

namespace {

Value zero_of(ir::Builder& b, Value x) { return b.scalar(x->type.dtype, 0); }
Value where_or_zero(ir::Builder& b, Value condition, Value x) { return x ? b.select(condition, x, zero_of(b, x)) : nullptr; }
// A real number in the type of x.
Value as_type_of(ir::Builder& b, Value real, Value x) { return real && x ? b.convert(real, x->type.dtype) : nullptr; }

}  // namespace

LuFactors lu_of(ir::Builder& b, Value a, const Dim& n) {
  if (!a) return {};
  const Dim count = a->dim(0);
  const DType t = a->type.dtype;
  const Dims column{count, n, 1};
  const Value order = b.iota(DType::kInt64, {count, n}, 1), sign = b.fill(t, {count}, 1);
  const List end = counted_loop(b, n, {a, order, sign}, [&](Value k, const List& v) -> List {
    const Value below = at_index(b, column, 1, C::kGe, k), size = magnitude(b, column_of(b, v[0], k));
    if (!size) return List(3);
    const Value most = b.arg_reduce(ir::Reduce::kMax, b.reshape(b.select(below, size, b.scalar(size->type.dtype, -1)), {count, n}), 1, DType::kInt64);
    const Value index = b.iota(DType::kInt64, {count, n}, 1), other = b.broadcast_in_dim(most, {count, n}, {0});
    const Value from = b.select(b.compare(C::kEq, index, k), other, b.select(b.compare(C::kEq, index, other), k, index));
    Value lu = b.gather(v[0], from, 1, 1, "");
    const Value moved = b.gather(v[1], from, 1, 1, "");
    const Value row = row_of(b, lu, k), pivot = column_of(b, row, k), none = b.compare(C::kEq, pivot, zero_of(b, pivot));
    const Value after = at_index(b, column, 1, C::kGt, k), here = column_of(b, lu, k);
    const Value factor = b.select(after, b.select(none, here, b.div(here, pivot)), zero_of(b, pivot));
    const Value right = at_index(b, {count, 1, n}, 2, C::kGt, k);
    lu = b.sub(lu, b.mul(factor, where_or_zero(b, right, row)));
    lu = b.select(b.binary(B::kAnd, at_index(b, {count, 1, n}, 2, C::kEq, k), after), factor, lu);
    const Value turned = b.select(b.compare(C::kEq, most, k), v[2], b.neg(v[2]));
    return {lu, moved, turned};
  });
  return {end[0], end[1], end[2]};
}

Value triangular_solution(ir::Builder& b, Value a, Value rhs, const Dim& n, bool lower, bool unit_diagonal) {
  if (!a || !rhs) return nullptr;
  const Dims column{a->dim(0), n, 1};
  return counted_loop(b, n, {rhs}, [&](Value step, const List& v) -> List {
    const Value last = b.sizes({n - Dim(1)}, DType::kInt64, true), i = lower ? step : b.sub(last, step);
    const Value here = column_of(b, a, i);
    Value x = row_of(b, v[0], i);
    if (!unit_diagonal) x = b.div(x, row_of(b, here, i));
    const Value rest = at_index(b, column, 1, lower ? C::kGt : C::kLt, i), on = at_index(b, column, 1, C::kEq, i);
    return {b.select(on, x, b.select(rest, b.sub(v[0], b.mul(here, x)), v[0]))};
  })[0];
}

Value lu_solution(ir::Builder& b, const LuFactors& f, Value rhs, const Dim& n) {
  if (!f.lu || !rhs) return nullptr;
  const Value y = triangular_solution(b, f.lu, b.gather(rhs, f.order, 1, 1, ""), n, true, true);
  return triangular_solution(b, f.lu, y, n, false, false);
}

Value cholesky_of(ir::Builder& b, Value a, const Dim& n) {
  if (!a) return nullptr;
  const Dims column{a->dim(0), n, 1};
  const Value zeros = b.fill(a->type.dtype, a->type.dims, 0);
  return counted_loop(b, n, {a, zeros}, [&](Value j, const List& v) -> List {
    const Value here = column_of(b, v[0], j), pivot = row_of(b, here, j);
    if (!pivot) return List(2);
    const Value root = is_complex_type(pivot->type.dtype) ? b.convert(b.sqrt(b.real(pivot)), pivot->type.dtype) : b.sqrt(pivot);
    const Value on = at_index(b, column, 1, C::kEq, j), below = at_index(b, column, 1, C::kGt, j);
    const Value l = b.select(on, root, where_or_zero(b, below, b.div(here, root)));
    const Value next = b.sub(v[0], b.mul(l, adjoint_of(b, l)));
    return {next, b.select(at_index(b, {column[0], 1, n}, 2, C::kEq, j), l, v[1])};
  })[1];
}

// Householder's reflections, with Eigen's signs.
QrFactors qr_of(ir::Builder& b, Value a, const Dim& m, const Dim& n, const Dim& steps) {
  if (!a) return {};
  const Dim count = a->dim(0);
  const Dims column{count, m, 1};
  const DType t = a->type.dtype;
  const List end = counted_loop(b, steps, {eye(b, t, count, m), a}, [&](Value k, const List& v) -> List {
    const Value here = column_of(b, v[1], k), first = row_of(b, here, k), below = at_index(b, column, 1, C::kGt, k);
    const Value tail = where_or_zero(b, below, here), rest = b.sum(squared_magnitude(b, tail), {1}, true);
    if (!first || !rest) return List(2);
    const bool is_complex = is_complex_type(t);
    const Value re = is_complex ? b.real(first) : first, zero = zero_of(b, rest);
    const Value least = b.scalar(rest->type.dtype,
                                 rest->type.dtype == DType::kDouble ? std::numeric_limits<double>::min() : double(std::numeric_limits<float>::min()));
    Value still = b.compare(C::kLe, rest, least);
    if (is_complex) still = b.binary(B::kAnd, still, b.compare(C::kLe, b.square(b.imag(first)), least));
    const Value norm = b.sqrt(b.add(squared_magnitude(b, first), rest));
    const Value length = b.select(b.compare(C::kGe, re, zero), b.neg(norm), norm), beta = as_type_of(b, length, first);
    const Value one = b.scalar(t, 1), none = b.scalar(t, 0);
    const Value essential = b.select(still, none, b.div(tail, b.sub(first, beta)));
    const Value tau = b.select(still, none, conjugate(b, b.div(b.sub(beta, first), beta)));
    const Value w = b.select(at_index(b, column, 1, C::kEq, k), one, essential), wh = adjoint_of(b, w);
    const Value r = b.sub(v[1], b.mul(b.mul(w, tau), b.sum(b.mul(conjugate(b, w), v[1]), {1}, true)));
    const Value q = b.sub(v[0], b.mul(b.mul(b.sum(b.mul(v[0], b.transpose(w, {0, 2, 1})), {2}, true), conjugate(b, tau)), wh));
    return {q, r};
  });
  const Value r = end[1];
  if (!r) return {};
  const Value upper = b.compare(C::kLe, b.iota(DType::kInt64, {count, m, n}, 1), b.iota(DType::kInt64, {count, m, n}, 2));
  return {end[0], where_or_zero(b, upper, r)};
}

namespace {

constexpr int kSweeps = 14;  // Jacobi's methods converge quadratically at the end

// All pairs of n (even) players meet in n - 1 rounds: number i plays i + n / 2, then all but the first move on by one place.
struct Rounds {
  explicit Rounds(int64_t n) {
    const int64_t h = n / 2;
    // The circle: 0, then 1 .. h - 1, then the second half backwards.
    for (int64_t i = 0; i < n; ++i) next.push_back(i);
    std::vector<int64_t> circle;
    for (int64_t i = 1; i < h; ++i) circle.push_back(i);
    for (int64_t i = n - 1; i >= h; --i) circle.push_back(i);
    for (size_t k = 0; k < circle.size(); ++k) next[size_t(circle[(k + 1) % circle.size()])] = circle[k];
  }
  std::vector<int64_t> next;  // who comes to each place
};

// Cosine and sine of the rotation that makes [[p, x], [x, q]] diagonal.
std::pair<Value, Value> rotation(ir::Builder& b, Value p, Value q, Value x) {
  const Value zero = zero_of(b, x), one = b.scalar(x->type.dtype, 1), none = b.compare(C::kEq, x, zero);
  const Value theta = b.div(b.sub(q, p), b.mul(b.select(none, one, x), 2.0)), size = b.unary(U::kAbs, theta);
  const Value root = b.sqrt(b.add(b.square(theta), 1.0)), t = b.div(b.select(b.compare(C::kLt, theta, zero), b.neg(one), one), b.add(size, root));
  const Value tangent =
      b.select(b.binary(B::kOr, none, b.unary(U::kIsInf, root)), b.select(none, zero, b.div(b.scalar(x->type.dtype, 0.5), theta)), t);
  const Value c = b.rsqrt(b.add(b.square(tangent), 1.0));
  return {c, b.mul(tangent, c)};
}

}  // namespace

Eigen symmetric_eigen(ir::Builder& b, Value a, const Dim& count, int64_t n) {
  if (!a) return {};
  const DType t = a->type.dtype;
  // The lower triangle is what counts.
  const Value row = b.iota(DType::kInt32, a->type.dims, 1), col = b.iota(DType::kInt32, a->type.dims, 2);
  a = b.select(b.compare(C::kGe, row, col), a, b.transpose(a, {0, 2, 1}));
  const int64_t even = n + n % 2, h = even / 2;
  if (n % 2) {  // a last one beyond all others, which stands still
    const Value most = b.add(b.mul(b.reduce(ir::Reduce::kMax, b.unary(U::kAbs, a), {1, 2}), double(n + 1)), 1.0);
    const Value wide = b.pad(a, b.scalar(t, 0), {0, 0, 0}, {0, 1, 1});
    if (!wide) return {};
    const Value last = b.scalar_int(DType::kInt64, n);
    const Value corner = b.binary(B::kAnd, at_index(b, {count, even, even}, 1, C::kEq, last), at_index(b, {count, even, even}, 2, C::kEq, last));
    a = b.select(corner, b.broadcast_in_dim(most, {count, even, even}, {0}), wide);
  }
  const Rounds rounds(even);
  const Value next = b.ints(rounds.next, DType::kInt64);
  const auto halves = [&](Value x, int axis) { return std::pair(b.slice_axis(x, axis, 0, h), b.slice_axis(x, axis, h, h)); };
  // Rows are vectors, so that both sides of the matrix are treated alike.
  const auto turned = [&](Value x, int axis, Value c, Value s) {
    const auto [p, q] = halves(x, axis);
    return b.concat({b.sub(b.mul(c, p), b.mul(s, q)), b.add(b.mul(s, p), b.mul(c, q))}, axis);
  };
  const List end = counted_loop(b, Dim(kSweeps * (even - 1)), {a, eye(b, t, count, even)}, [&](Value, const List& v) -> List {
    const Value d = diagonal_of(b, v[0]);
    const auto [p, q] = halves(d, 1);
    const Value off = diagonal_of(b, b.slice(v[0], {0, 0, h}, {count, h, h}));
    if (!p || !q || !off) return List(2);
    const auto [c, s] = rotation(b, p, q, off);
    const Value cr = b.expand_dims(c, 2), sr = b.expand_dims(s, 2), cc = b.expand_dims(c, 1), sc = b.expand_dims(s, 1);
    Value x = turned(turned(v[0], 1, cr, sr), 2, cc, sc), w = turned(v[1], 1, cr, sr);
    x = b.gather(b.gather(x, next, 1, 0, ""), next, 2, 0, "");
    return {x, b.gather(w, next, 1, 0, "")};
  });
  const auto [values, places] = b.sort(diagonal_of(b, end[0]), false);
  if (!values) return {};
  const Value first = b.slice_axis(places, 1, 0, n);
  const Value vectors = b.slice_axis(b.gather(end[1], first, 1, 1, ""), 2, 0, n);
  return {b.slice_axis(values, 1, 0, n), b.transpose(vectors, {0, 2, 1})};
}

Orthogonal orthogonal_columns(ir::Builder& b, Value a, const Dim& count, int64_t n) {
  if (!a) return {};
  const DType t = a->type.dtype;
  const int64_t even = n + n % 2, h = even / 2;
  // Columns as rows; a row of zeros stands still.
  Value x = b.pad(b.transpose(a, {0, 2, 1}), b.scalar(t, 0), {0, 0, 0}, {0, n % 2, 0});
  const Rounds rounds(even);
  const Value next = b.ints(rounds.next, DType::kInt64);
  const auto halves = [&](Value v) { return std::pair(b.slice_axis(v, 1, 0, h), b.slice_axis(v, 1, h, h)); };
  const List end = counted_loop(b, Dim(kSweeps * std::max<int64_t>(even - 1, 1)), {x, eye(b, t, count, even)}, [&](Value, const List& v) -> List {
    const auto [p, q] = halves(v[0]);
    if (!p || !q) return List(2);
    const Value pp = b.sum(b.square(p), {2}), qq = b.sum(b.square(q), {2}), pq = b.sum(b.mul(p, q), {2});
    const auto [c, s] = rotation(b, pp, qq, pq);
    const Value cr = b.expand_dims(c, 2), sr = b.expand_dims(s, 2);
    const auto turned = [&](Value y) {
      const auto [first, second] = halves(y);
      return b.gather(b.concat({b.sub(b.mul(cr, first), b.mul(sr, second)), b.add(b.mul(sr, first), b.mul(cr, second))}, 1), next, 1, 0, "");
    };
    return {turned(v[0]), turned(v[1])};
  });
  if (!end[0]) return {};
  const Value length = b.sum(b.square(end[0]), {2});
  // A row of zeros that was added comes last among equals: its size counts below all.
  const Value own = b.sum(b.square(b.slice_axis(end[1], 2, 0, n)), {2});
  const Value key = b.select(b.compare(C::kGt, own, b.scalar(t, 0.5)), length, b.scalar(t, -1));
  const auto [values, places] = b.sort(key, true);
  const Value first = b.slice_axis(places, 1, 0, n);
  const auto sorted = [&](Value v) { return b.transpose(b.gather(v, first, 1, 1, ""), {0, 2, 1}); };
  return {sorted(end[0]), sorted(b.slice_axis(end[1], 2, 0, n))};
}

}  // namespace weft_engine::ops

// Diagonals taken from matrices, put into them and replaced; bands.
#include <algorithm>

#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Binary;
using ir::Compare;

// The diagonals from `lower` to `upper` of a [rows, cols] matrix; as a tensor each is a row, the highest first, padded to the longest.
struct Diagonals {
  int64_t lower = 0, upper = 0;
  bool left_super = true, left_sub = true;
  Dim rows, cols;

  int64_t count() const { return upper - lower + 1; }
  Dim length(int64_t d) const { return min(rows + Dim(std::min<int64_t>(d, 0)), cols - Dim(std::max<int64_t>(d, 0))); }
  Dim longest() const { return min(rows + Dim(std::min<int64_t>(upper, 0)), cols - Dim(std::max<int64_t>(lower, 0))); }
  bool left(int64_t d) const { return (d >= 0 && left_super) || (d <= 0 && left_sub); }
};

// k is input i, if there is one.
std::optional<Diagonals> read_k(LowerContext& l, int i) {
  Diagonals d;
  if (i < l.num_inputs()) {
    const auto k = l.ints(i);
    if (!k) return std::nullopt;
    if (k->empty() || k->size() > 2) {
      l.b.fail(invalid_argument("diag_index must have only one or two elements, received ", k->size(), " elements."));
      return std::nullopt;
    }
    d.lower = k->front();
    d.upper = k->back();
  }
  if (const AttrValue* v = l.node.find_attr("align"); v && v->get<std::string>()) {
    const std::string& how = *v->get<std::string>();
    d.left_super = how.starts_with("LEFT");
    d.left_sub = how.ends_with("LEFT");
  }
  constexpr int64_t kMostDiagonals = 1 << 14;  // each is a part of the code
  if (d.upper - d.lower >= kMostDiagonals) {
    l.b.fail(unimplemented(d.upper - d.lower + 1, " diagonals in compiled code"));
    return std::nullopt;
  }
  if (d.lower <= d.upper) return d;
  l.b.fail(invalid_argument("lower_diag_index must not be larger than upper_diag_index: ", d.lower, " > ", d.upper));
  return std::nullopt;
}

void check_bounds(LowerContext& l, const Diagonals& d) {
  for (const auto& [what, k] : {std::pair("lower", d.lower), std::pair("upper", d.upper)}) {
    if (k == 0) continue;
    require_nonnegative(
        l, (k < 0 ? d.rows + Dim(k) : d.cols - Dim(k)) - Dim(1),
        cat(what, "_diag_index is out of bound: ", k, " It must be between -", size_text(l.b, d.rows), " and ", size_text(l.b, d.cols)));
  }
}

// Diagonal k of [batch..., rows, cols] as [batch..., length].
Value diagonal(LowerContext& l, Value x, const Diagonals& d, int64_t k) {
  Dims dims = dims_of(x, 0, x->rank() - 2);
  dims.push_back(d.rows * d.cols);
  const int last = int(dims.size()) - 1;
  const Value flat = l.b.reshape(x, dims);
  const Dim start = Dim(std::max<int64_t>(-k, 0)) * d.cols + Dim(std::max<int64_t>(k, 0));
  if (!d.cols.is_const()) {
    const Value step = l.b.sizes({d.cols + Dim(1)}, DType::kInt64, true), first = l.b.sizes({start}, DType::kInt64, true);
    return l.b.gather(flat, l.b.add(l.b.mul(l.b.iota(DType::kInt64, {d.length(k)}, 0), step), first), last, 0, "");
  }
  Dims starts(dims.size(), Dim(0));
  std::vector<int64_t> steps(dims.size(), 1);
  starts.back() = start;
  dims.back() = d.length(k);
  steps.back() = d.cols.value() + 1;
  return l.b.slice(flat, std::move(starts), std::move(dims), std::move(steps));
}

LoweredList diag_part(LowerContext& l) {
  const Value x = l.x();
  auto d = read_k(l, 1);
  if (!x || !d) return {};
  if (x->rank() < 2) return l.fail(invalid_argument("input must be at least 2-dim, received shape: ", shape_text(l.b, x->type.dims)));
  const Value padding = l.num_inputs() > 2 ? as_scalar(l.b, l.x(2)) : l.b.scalar(x->type.dtype, 0);
  const int outer = x->rank() - 2;
  d->rows = x->dim(outer);
  d->cols = x->dim(outer + 1);
  check_bounds(l, *d);
  if (!l.ok()) return {};
  std::vector<Value> rows;
  for (int64_t k = d->upper; k >= d->lower; --k) {
    Dims low(size_t(outer) + 1, Dim(0)), high = low;
    (d->left(k) ? high : low).back() = d->longest() - d->length(k);
    const Value row = l.b.pad(diagonal(l, x, *d, k), padding, std::move(low), std::move(high));
    if (d->count() == 1) return {row};
    rows.push_back(l.b.expand_dims(row, outer));
  }
  return {l.b.concat(std::move(rows), outer)};
}

// `base` with the rows of `diagonals` on its diagonals.
Value put_diagonals(LowerContext& l, const Diagonals& d, Value diagonals, Value base) {
  const int outer = base->rank() - 2;
  const Dims matrix{d.rows, d.cols};
  const Value above = l.b.sub(l.b.iota(DType::kInt32, matrix, 1), l.b.iota(DType::kInt32, matrix, 0));
  const int last = diagonals->rank() - 1;
  for (int64_t k = d.lower; k <= d.upper && l.ok(); ++k) {
    Value row = diagonals;
    if (d.count() > 1) {
      row = l.b.slice_axis(row, last - 1, Dim(d.upper - k), 1);
      Dims dims = dims_of(row, 0, last - 1);
      dims.push_back(row->dim(last));
      row = l.b.reshape(row, std::move(dims));
    }
    const Dim n = d.length(k), width = diagonals->dim(last);
    row = l.b.slice_axis(row, outer, d.left(k) ? Dim(0) : width - n, n);
    Dims low(size_t(outer) + 1, Dim(0)), high = low;
    low.back() = Dim(std::max<int64_t>(-k, 0));
    high.back() = d.rows - low.back() - n;
    row = l.b.pad(row, l.b.scalar(base->type.dtype, 0), std::move(low), std::move(high));
    const Value hit = l.b.compare(Compare::kEq, above, l.b.scalar_int(DType::kInt32, k));
    base = l.b.select(hit, l.b.broadcast_in_dim(row, base->type.dims, axes_from(0, outer + 1)), base);
  }
  return base;
}

LoweredList matrix_diag(LowerContext& l) {
  const Value x = l.x();
  auto d = read_k(l, 1);
  if (!x || !d) return {};
  if (x->rank() < 1) return l.fail(invalid_argument("diagonal must be at least 1-dim, received shape: []"));
  const int outer = x->rank() - (d->count() == 1 ? 1 : 2);
  if (outer < 0 || (d->count() > 1 && !x->dim(outer).is(d->count())))
    return l.fail(invalid_argument("The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range."));
  const Dim longest = x->dim(x->rank() - 1);
  const Dim least_rows = longest - Dim(std::min<int64_t>(d->upper, 0)), least_cols = longest + Dim(std::max<int64_t>(d->lower, 0));
  Dim rows(-1), cols(-1);
  if (l.num_inputs() > 1) {
    const auto r = l.sizes(2), c = l.sizes(3);
    if (!r || !c || r->size() != 1 || c->size() != 1) return {};
    rows = (*r)[0];
    cols = (*c)[0];
  }
  if (rows.is(-1) && cols.is(-1)) rows = cols = max(least_rows, least_cols);
  else if (rows.is(-1)) rows = least_rows;
  else if (cols.is(-1)) cols = least_cols;
  require_nonnegative(l, rows - least_rows, "The number of rows is too small.");
  require_nonnegative(l, cols - least_cols, "The number of columns is too small.");
  if (!(rows == least_rows) && !(cols == least_cols))
    return l.fail(invalid_argument("The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."));
  d->rows = rows;
  d->cols = cols;
  Dims dims = dims_of(x, 0, outer);
  dims.push_back(rows);
  dims.push_back(cols);
  const Value base = l.b.broadcast_to(l.num_inputs() > 4 ? as_scalar(l.b, l.x(4)) : l.b.scalar(x->type.dtype, 0), std::move(dims));
  return {base ? put_diagonals(l, *d, x, base) : nullptr};
}

LoweredList set_diag(LowerContext& l) {
  const Value x = l.x(), diagonals = l.x(1);
  auto d = read_k(l, 2);
  if (!x || !diagonals || !d) return {};
  if (x->rank() < 2) return l.fail(invalid_argument("input must be at least 2-dim, received shape: ", shape_text(l.b, x->type.dims)));
  d->rows = x->dim(x->rank() - 2);
  d->cols = x->dim(x->rank() - 1);
  check_bounds(l, *d);
  Dims want = dims_of(x, 0, x->rank() - 2);
  if (d->count() > 1) want.emplace_back(d->count());
  want.push_back(d->longest());
  if (diagonals->rank() != int(want.size()))
    return l.fail(invalid_argument("Diagonal shape: ", shape_text(l.b, diagonals->type.dims), "\nExpected diagonal shape: ", shape_text(l.b, want)));
  for (int i = 0; i < diagonals->rank(); ++i) l.b.same(diagonals->dim(i), want[size_t(i)]);
  return {l.ok() ? put_diagonals(l, *d, diagonals, x) : nullptr};
}

LoweredList band_part(LowerContext& l) {
  const Value x = l.x();
  if (!x || !l.x(1) || !l.x(2)) return {};
  if (x->rank() < 2) return l.fail(invalid_argument("input must be at least 2-dim, received shape: ", shape_text(l.b, x->type.dims)));
  const Dims matrix = dims_of(x, x->rank() - 2, x->rank());
  const DType t = l.type(1).dtype;
  const Value above = l.b.sub(l.b.iota(t, matrix, 1), l.b.iota(t, matrix, 0));
  Value inside_band = nullptr;
  for (int side = 1; side <= 2; ++side) {
    const Value limit = as_scalar(l.b, l.x(side));
    if (!limit) return {};
    const auto* known = l.b.known(limit);
    if (known && (*known)[0].is_const() && (*known)[0].value() < 0) continue;
    const Dim& size = matrix[size_t(side - 1)];
    if (known && (*known)[0].is_const() && size.is_const() && (*known)[0].value() > size.value()) {
      return l.fail(side == 1 ? invalid_argument("num_lower must be negative or less or equal to number of rows (", matrix[0].value(),
                                                 ") got: ", (*known)[0].value())
                              : invalid_argument("num_upper must be negative or less or equal to number of columns (", matrix[1].value(),
                                                 ") got: ", (*known)[0].value()));
    }
    Value near = l.b.compare(Compare::kLe, side == 1 ? l.b.neg(above) : above, limit);
    if (!known) near = l.b.binary(Binary::kOr, near, l.b.compare(Compare::kLt, limit, l.b.scalar_int(t, 0)));
    inside_band = inside_band ? l.b.binary(Binary::kAnd, inside_band, near) : near;
  }
  return {inside_band ? l.b.select(inside_band, x, l.b.scalar(x->type.dtype, 0)) : x};
}

LoweredList diag(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  if (x->rank() < 1) return l.fail(invalid_argument("Input must be at least rank 1, got 0"));
  Dims dims = x->type.dims;
  dims.insert(dims.end(), x->type.dims.begin(), x->type.dims.end());
  const Dim n = x->type.elements();
  Diagonals d;
  d.rows = d.cols = n;
  return {l.b.reshape(put_diagonals(l, d, l.b.reshape(x, {n}), l.b.fill(x->type.dtype, {n, n}, 0)), std::move(dims))};
}

LoweredList tensor_diag_part(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const int half = x->rank() / 2;
  if (x->rank() % 2 != 0 || half == 0) return l.fail(invalid_argument("Input must have even and non-zero rank, input rank is ", x->rank()));
  for (int i = 0; i < half; ++i) l.b.same(x->dim(i), x->dim(i + half));
  if (!l.ok()) return {};
  const Dims dims = dims_of(x, 0, half);
  Diagonals d;
  d.rows = d.cols = ir::product(dims);
  return {l.b.reshape(diagonal(l, l.b.reshape(x, {d.rows, d.cols}), d, 0), dims)};
}

}  // namespace

void lower_diag(Registry& r) {
  for (const char* op : {"BatchMatrixBandPart", "MatrixBandPart"}) r.lower(op, band_part);
  for (const char* op : {"BatchMatrixDiag", "MatrixDiag", "MatrixDiagV2", "MatrixDiagV3"}) r.lower(op, matrix_diag);
  for (const char* op : {"BatchMatrixDiagPart", "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"}) r.lower(op, diag_part);
  for (const char* op : {"BatchMatrixSetDiag", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"}) r.lower(op, set_diag);
  r.lower("Diag", diag);
  r.lower("DiagPart", tensor_diag_part);
}

}  // namespace weft_engine::ops

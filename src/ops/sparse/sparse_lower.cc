// Sparse tensors whose number of elements does not depend on values: index tuples become numbers of rows of a flat tensor.
#include <limits>

#include "ops/lower_util.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

namespace {

using B = ir::Binary;
using C = ir::Compare;
using R = ir::Reduce;

// A sparse tensor by its inputs: indices, values (or none), sizes.
struct Sparse {
  Value indices = nullptr, values = nullptr;  // [n, rank], [n]
  Dims dims;
  Dim n;
};

bool check_tuples(LowerContext& l, Value indices, size_t rank) {
  if (!indices) return false;
  if (indices->rank() != 2) {
    l.fail(invalid_argument("Input indices should be a matrix but received shape ", shape_text(l.b, indices->type.dims)));
    return false;
  }
  l.b.same(indices->dim(1), Dim(int64_t(rank)));
  return l.ok();
}

std::optional<Sparse> read_sparse(LowerContext& l, int indices, int values, int shape) {
  Sparse s;
  s.indices = l.x(indices);
  s.values = values < 0 ? nullptr : l.x(values);
  const auto dims = l.sizes(shape);
  if (!s.indices || !dims || (values >= 0 && !s.values)) return std::nullopt;
  s.dims = *dims;
  if (!check_tuples(l, s.indices, s.dims.size())) return std::nullopt;
  s.n = s.indices->dim(0);
  if (s.values) {
    if (s.values->rank() != 1) {
      l.fail(invalid_argument("Input values should be a vector but received shape ", shape_text(l.b, s.values->type.dims)));
      return std::nullopt;
    }
    s.n = l.b.same(s.n, s.values->dim(0));
  }
  return l.ok() ? std::optional(s) : std::nullopt;
}

// [n] numbers of elements of a tensor of these dims, row-major.
Value numbers(LowerContext& l, Value indices, const Dims& dims) { return rows_of_tuples(l.b, indices, dims); }
// Index `d` of every tuple.
Value part(ir::Builder& b, Value indices, int d) { return indices ? b.reshape(b.slice_axis(indices, 1, d, 1), {indices->dim(0)}) : nullptr; }

Value tuples(ir::Builder& b, Value number, const Dims& dims) {
  if (!number) return nullptr;
  std::vector<Value> columns(dims.size());
  Value rest = number;
  for (size_t d = dims.size(); d-- > 0;) {
    columns[d] = b.expand_dims(d == 0 ? rest : b.binary(B::kFloorMod, rest, b.max(size_value(b, dims[d]), b.scalar_int(DType::kInt64, 1))), 1);
    if (d > 0) rest = b.binary(B::kFloorDiv, rest, b.max(size_value(b, dims[d]), b.scalar_int(DType::kInt64, 1)));
  }
  return b.concat(columns, 1);
}

constexpr const char* kOutside = "sparse_indices: an index is out of bounds";

// ---- to and with dense tensors

LoweredList to_dense(LowerContext& l) {
  ir::Builder& b = l.b;
  Value indices = l.x(0), values = l.x(2), fallback = l.x(3);
  const auto dims = l.sizes(1);
  if (!indices || !values || !fallback || !dims) return {};
  const Dim n = indices->rank() == 0 ? Dim(1) : indices->dim(0);
  if (indices->rank() < 2) indices = b.reshape(indices, {n, 1});
  if (!check_tuples(l, indices, dims->size())) return {};
  if (fallback->rank() != 0) return l.fail(invalid_argument("default_value should be a scalar."));
  const Value all = values->rank() == 0 ? b.broadcast_to(values, {n}) : values;
  const Value flat = b.broadcast_to(fallback, {product(*dims)});
  return {b.reshape(b.scatter(flat, numbers(l, indices, *dims), all, R::kSet, kOutside), *dims)};
}

LoweredList add_to_dense(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_sparse(l, 0, 1, 2);
  const Value dense = l.x(3);
  if (!s || !dense) return {};
  if (size_t(dense->rank()) != s->dims.size()) return l.fail(invalid_argument("Two operands have different ranks"));
  for (size_t d = 0; d < s->dims.size(); ++d) b.same(s->dims[d], dense->dim(int(d)));
  if (!l.ok()) return {};
  return {b.reshape(b.scatter(b.reshape(dense, {dense->type.elements()}), numbers(l, s->indices, s->dims), s->values, R::kSum, kOutside),
                    dense->type.dims)};
}

LoweredList matmul(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_sparse(l, 0, 1, 2);
  Value x = l.x(3);
  if (!s || !x) return {};
  if (s->dims.size() != 2 || x->rank() != 2) return l.fail(invalid_argument("Tensor 'a_shape' must have 2 elements and 'b' must be a matrix"));
  const bool adjoint_a = l.attr<bool>("adjoint_a"), adjoint_b = l.attr<bool>("adjoint_b");
  const DType t = sum_type(l.out_type());
  Value values = b.convert(s->values, t);
  x = b.convert(x, t);
  if (adjoint_a) values = conjugate(b, values);
  if (adjoint_b) x = conjugate(b, b.transpose(x, {1, 0}));
  if (!x) return {};
  const Dim rows = s->dims[adjoint_a ? 1 : 0], inner = s->dims[adjoint_a ? 0 : 1];
  b.same(inner, x->dim(0));
  if (!l.ok()) return {};
  const Value row = as_index(b, part(b, s->indices, adjoint_a ? 1 : 0)), column = as_index(b, part(b, s->indices, adjoint_a ? 0 : 1));
  const Value parts = b.mul(b.expand_dims(values, 1), b.gather(x, column, 0, 0, "k from index out of bounds"));
  const Value sum = b.scatter(b.fill(t, {rows, x->dim(1)}, 0), row, parts, R::kSum, "m from index out of bounds");
  return {b.convert(sum, l.out_type())};
}

// The dense operand is broadcast to the sparse one, never the other way.
LoweredList with_dense(LowerContext& l, B f) {
  ir::Builder& b = l.b;
  const auto s = read_sparse(l, 0, 1, 2);
  const Value dense = l.x(3);
  if (!s || !dense) return {};
  const Dims dims = b.broadcast_dims(s->dims, dense->type.dims);
  if (!l.ok()) return {};
  if (dims.size() != s->dims.size())
    return l.fail(invalid_argument("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes"));
  for (size_t d = 0; d < dims.size(); ++d) b.same(dims[d], s->dims[d]);
  const Value spread = b.broadcast_to(dense, s->dims);
  if (!spread) return {};
  const Value other = b.gather(b.reshape(spread, {product(s->dims)}), numbers(l, s->indices, s->dims), 0, 0, kOutside);
  return {b.binary(f, s->values, other)};
}

// ---- reductions

LoweredList reduced(LowerContext& l, R how) {
  ir::Builder& b = l.b;
  const auto s = read_sparse(l, 0, 1, 2);
  const auto axes = l.ints(3);
  if (!s || !axes) return {};
  std::vector<bool> gone(s->dims.size());
  for (int64_t a : *axes) {
    const auto axis = l.axis(a, int(s->dims.size()));
    if (!axis) return {};
    gone[size_t(*axis)] = true;
  }
  const bool keep = l.attr<bool>("keep_dims");
  Dims left, out;
  std::vector<Value> columns;
  for (size_t d = 0; d < s->dims.size(); ++d) {
    if (!gone[d]) {
      left.push_back(s->dims[d]);
      columns.push_back(b.slice_axis(s->indices, 1, int64_t(d), 1));
    }
    if (!gone[d] || keep) out.push_back(gone[d] ? Dim(1) : s->dims[d]);
  }
  const DType t = sum_type(s->values->type.dtype);
  const Value values = b.convert(s->values, t), size = b.fill(t, {product(left)}, 0);
  const Value at = columns.empty() ? b.fill(DType::kInt64, {s->n}, 0) : numbers(l, b.concat(columns, 1), left);
  Value result = nullptr;
  if (how == R::kSum) {
    result = b.scatter(size, at, values, how, kOutside);
  } else {
    // Where nothing is, the result is 0.
    const Value low =
        is_floating_type(t) ? b.scalar(t, -std::numeric_limits<double>::infinity()) : b.scalar_int(t, t == DType::kInt64 ? INT64_MIN : INT32_MIN);
    const Value most = b.scatter(b.broadcast_to(low, {product(left)}), at, values, how, kOutside);
    const Value some = b.scatter(b.fill(DType::kInt32, {product(left)}, 0), at, b.fill(DType::kInt32, {s->n}, 1), R::kSet, "");
    result = b.select(b.compare(C::kEq, some, b.scalar_int(DType::kInt32, 1)), most, size);
  }
  return {b.convert(b.reshape(result, out), l.out_type())};
}

// Over the elements that are there, along the last dimension.
LoweredList softmax(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_sparse(l, 0, 1, 2);
  if (!s) return {};
  if (s->dims.size() < 2) return l.fail(invalid_argument("Input should have rank >= 2, but received shape ", shape_text(b, s->dims)));
  const int last = int(s->dims.size()) - 1;
  const Dims outer(s->dims.begin(), s->dims.end() - 1);
  const Value row = numbers(l, b.slice_axis(s->indices, 1, 0, last), outer), x = widened(l, s->values);
  if (!x) return {};
  const DType t = x->type.dtype;
  const Value low = b.fill(t, {product(outer)}, -std::numeric_limits<double>::infinity());
  const Value most = b.gather(b.scatter(low, row, x, R::kMax, kOutside), row, 0, 0, "");
  const Value e = b.exp(b.sub(x, most)), sum = b.scatter(b.fill(t, {product(outer)}, 0), row, e, R::kSum, "");
  return {b.convert(b.div(e, b.gather(sum, row, 0, 0, "")), l.out_type())};
}

// ---- indices

// By the numbers of the elements; equal ones keep their order.
std::pair<Value, Value> in_order(LowerContext& l, Value indices, Value values, const Dims& dims) {
  const auto [sorted, places] = l.b.sort(numbers(l, indices, dims), false);
  if (!sorted) return {nullptr, nullptr};
  return {l.b.gather(indices, places, 0, 0, ""), l.b.gather(values, places, 0, 0, "")};
}

LoweredList reorder(LowerContext& l) {
  const auto s = read_sparse(l, 0, 1, 2);
  if (!s) return {};
  const auto [indices, values] = in_order(l, s->indices, s->values, s->dims);
  return {indices, values};
}

LoweredList reshape(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto s = read_sparse(l, 0, -1, 1);
  const auto wanted = l.sizes(2);
  if (!s || !wanted) return {};
  Dims dims = *wanted;
  Dim known(1);
  int open = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].is(-1)) {
      if (open >= 0) return l.fail(invalid_argument("only one output dimension may be -1, not both ", open, " and ", d));
      open = int(d);
    } else {
      known = known * dims[d];
    }
  }
  const Dim all = product(s->dims);
  if (open >= 0) {
    if (!all.is_const() || !known.is_const()) return l.unsupported("unknown sizes");
    if (known.is(0))
      return l.fail(
          invalid_argument("reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero"));
    if (all.value() % known.value())
      return l.fail(invalid_argument("Input to reshape is a SparseTensor with ", all.value(),
                                     " dense values, but the requested shape requires a multiple of ", known.value()));
    dims[size_t(open)] = all.value() / known.value();
  } else {
    b.same(all, known);
  }
  if (!l.ok()) return {};
  const Value at = numbers(l, s->indices, s->dims);
  const Value out = dims.empty() ? b.fill(DType::kInt64, {s->n, 0}, 0) : tuples(b, at, dims);
  return {out, b.sizes(dims, DType::kInt64)};
}

LoweredList concat(LowerContext& l) {
  ir::Builder& b = l.b;
  const int n = int(l.attr<int64_t>("N"));
  std::vector<Value> indices, values;
  Dims dims;
  Dim at(0);
  int axis = 0;
  for (int i = 0; i < n; ++i) {
    const auto s = read_sparse(l, i, n + i, 2 * n + i);
    if (!s) return {};
    if (i == 0) {
      dims = s->dims;
      const auto a = l.axis(l.attr<int64_t>("concat_dim"), int(dims.size()));
      if (!a) return {};
      axis = *a;
    } else {
      if (s->dims.size() != dims.size())
        return l.fail(
            invalid_argument("Ranks of all input tensors must match: expected ", dims.size(), " but got ", s->dims.size(), " at position ", i));
      for (size_t d = 0; d < dims.size(); ++d) {
        if (int(d) != axis) b.same(dims[d], s->dims[d]);
      }
    }
    std::vector<Dim> moved(dims.size(), Dim(0));
    moved[size_t(axis)] = at;
    indices.push_back(b.add(s->indices, b.sizes(moved, DType::kInt64)));
    values.push_back(s->values);
    at = at + s->dims[size_t(axis)];
  }
  dims[size_t(axis)] = at;
  const auto [sorted, ordered] = in_order(l, b.concat(indices, 0), b.concat(values, 0), dims);
  return {sorted, ordered, b.sizes(dims, DType::kInt64)};
}

// ---- gradients: values found again by their indices

// [n, m] bools: tuple i is tuple j.
Value equal_tuples(ir::Builder& b, Value x, Value y) {
  if (!x || !y) return nullptr;
  const Dims dims{x->dim(0), y->dim(0), b.same(x->dim(1), y->dim(1))};
  return b.reduce(R::kAnd, b.compare(C::kEq, b.broadcast_in_dim(x, dims, {0, 2}), b.broadcast_in_dim(y, dims, {1, 2})), {2});
}

// For each tuple of x the value of the same tuple of y; 0 if it is not there.
Value looked_up(ir::Builder& b, Value x, Value y, Value values) {
  const Value same = equal_tuples(b, x, y);
  if (!same || !values) return nullptr;
  return b.sum(b.select(same, b.broadcast_in_dim(values, same->type.dims, {1}), b.scalar(values->type.dtype, 0)), {1});
}

LoweredList add_grad(LowerContext& l) {
  const Value dy = l.x(0), a = l.x(1), c = l.x(2), sum = l.x(3);
  if (!dy || !a || !c || !sum) return {};
  if (dy->rank() != 1 || a->rank() != 2 || c->rank() != 2 || sum->rank() != 2)
    return l.fail(invalid_argument("Input indices should be matrices and the gradient a vector"));
  return {looked_up(l.b, a, sum, dy), looked_up(l.b, c, sum, dy)};
}

LoweredList slice_grad(LowerContext& l) {
  const Value dy = l.x(0), in = l.x(1), start = l.x(2), out = l.x(3);
  if (!dy || !in || !start || !out) return {};
  if (dy->rank() != 1 || in->rank() != 2 || start->rank() != 1 || out->rank() != 2)
    return l.fail(invalid_argument("Input indices should be matrices and the gradient a vector"));
  return {looked_up(l.b, in, l.b.add(out, start), dy)};
}

// What went to no value belongs to the default.
LoweredList fill_empty_rows_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value places = l.x(0), dy = l.x(1);
  if (!places || !dy) return {};
  if (places->rank() != 1 || dy->rank() != 1) return l.fail(invalid_argument("reverse_index_map and grad_values must be vectors"));
  const Value used = b.scatter(b.fill(DType::kInt32, {dy->dim(0)}, 0), places, b.fill(DType::kInt32, {places->dim(0)}, 1), R::kSet, "");
  const Value left = b.select(b.compare(C::kEq, used, b.scalar_int(DType::kInt32, 1)), b.scalar(dy->type.dtype, 0), dy);
  return {b.gather(dy, places, 0, 0, "Elements in reverse index must be in [0, grad_values.size)"), b.sum(left, {0})};
}

// ---- counts

Value counted(LowerContext& l, Value row, Value x, Value weights, const Dim& rows, const Dim& size, bool matrix) {
  ir::Builder& b = l.b;
  const DType t = weights->type.dtype;
  const bool binary = l.attr<bool>("binary_output"), weighted = !weights->type.elements().is(0) && !binary;
  const Dim n = x->dim(0);
  const Value at = b.convert(x, DType::kInt64), zero = b.scalar_int(DType::kInt64, 0);
  b.check(b.reduce(R::kAnd, b.compare(C::kGe, at, zero), {0}), "Input must be non-negative");
  Value place = b.select(inside(b, at, size), matrix ? b.add(b.mul(row, size_value(b, size)), at) : at, b.scalar_int(DType::kInt64, -1));
  const Value w = weighted ? b.reshape(weights, {n}) : b.fill(t, {n}, 1);
  const Value out = b.scatter(b.fill(t, {rows * size}, 0), place, w, binary ? R::kSet : R::kSum, "");
  return b.reshape(out, matrix ? Dims{rows, size} : Dims{size});
}

LoweredList sparse_bincount(LowerContext& l) {
  const Value indices = l.x(0), x = l.x(1), weights = l.x(4);
  const auto dims = l.sizes(2), size = l.sizes(3);
  if (!indices || !x || !weights || !dims || !size || size->size() != 1) return {};
  if (x->rank() != 1) return l.fail(invalid_argument("values must be a vector"));
  const bool matrix = dims->size() > 1;
  if (matrix && !check_tuples(l, indices, dims->size())) return {};
  return {counted(l, matrix ? part(l.b, indices, 0) : nullptr, x, weights, matrix ? (*dims)[0] : Dim(1), (*size)[0], matrix)};
}

// The row that each of n values belongs to: how many of the splits behind the first are not beyond it.
Value row_of_values(ir::Builder& b, Value splits, const Dim& n) {
  if (!splits) return nullptr;
  const Dims dims{n, splits->dim(0)};
  const Value passed = b.compare(C::kLe, b.broadcast_in_dim(b.convert(splits, DType::kInt64), dims, {1}), b.iota(DType::kInt64, dims, 0));
  return b.sub(b.sum(b.convert(passed, DType::kInt64), {1}), b.scalar_int(DType::kInt64, 1));
}

LoweredList ragged_bincount(LowerContext& l) {
  const Value splits = l.x(0), x = l.x(1), weights = l.x(3);
  const auto size = l.sizes(2);
  if (!splits || !x || !weights || !size || size->size() != 1) return {};
  if (splits->rank() != 1 || x->rank() != 1) return l.fail(invalid_argument("splits and values must be vectors"));
  return {counted(l, row_of_values(l.b, splits, x->dim(0)), x, weights, splits->dim(0) - Dim(1), (*size)[0], true)};
}

// One level of rows; further dimensions are of one size.
LoweredList ragged_to_sparse(LowerContext& l) {
  ir::Builder& b = l.b;
  if (l.attr<int64_t>("RAGGED_RANK") != 1) return l.unsupported("more than one ragged dimension");
  const Value splits = l.x(0), values = l.x(1);
  if (!splits || !values) return {};
  if (splits->rank() != 1 || values->rank() < 1) return l.fail(invalid_argument("splits must be a vector, and values at least one"));
  const Dim n = values->dim(0);
  const Value wide = b.convert(splits, DType::kInt64), row = row_of_values(b, splits, n), first = b.gather(wide, row, 0, 0, "");
  const Value column = b.sub(b.iota(DType::kInt64, {n}, 0), first);
  const Dim rows = splits->dim(0) - Dim(1);
  const Value lengths = b.sub(b.slice_axis(wide, 0, 1, rows), b.slice_axis(wide, 0, 0, rows));
  const Value longest = b.max(b.reduce(R::kMax, lengths, {0}), b.scalar_int(DType::kInt64, 0));
  Dims more = dims_of(values, 1, values->rank());
  const Dim inner = product(more), all = n * inner;
  const auto spread = [&](Value x) { return b.reshape(b.broadcast_in_dim(x, {n, inner}, {0}), {all, 1}); };
  std::vector<Value> columns{spread(row), spread(column)};
  if (!more.empty()) {
    const Value within = b.reshape(b.iota(DType::kInt64, {n, inner}, 1), {all});
    columns.push_back(tuples(b, within, more));
  }
  std::vector<Value> sizes{b.sizes({rows}, DType::kInt64), b.reshape(longest, {1})};
  if (!more.empty()) sizes.push_back(b.sizes(more, DType::kInt64));
  return {b.concat(columns, 1), b.reshape(values, {all}), b.concat(sizes, 0)};
}

}  // namespace

void lower_sparse(Registry& r) {
  r.lower("RaggedBincount", ragged_bincount);
  r.lower("RaggedFillEmptyRowsGrad", fill_empty_rows_grad);
  r.lower("RaggedTensorToSparse", ragged_to_sparse);
  r.lower("SparseAddGrad", add_grad);
  r.lower("SparseBincount", sparse_bincount);
  r.lower("SparseConcat", concat);
  r.lower("SparseDenseCwiseAdd", [](LowerContext& l) -> LoweredList { return with_dense(l, B::kAdd); });
  r.lower("SparseDenseCwiseDiv", [](LowerContext& l) -> LoweredList { return with_dense(l, B::kDiv); });
  r.lower("SparseDenseCwiseMul", [](LowerContext& l) -> LoweredList { return with_dense(l, B::kMul); });
  r.lower("SparseFillEmptyRowsGrad", fill_empty_rows_grad);
  r.lower("SparseReduceMax", [](LowerContext& l) -> LoweredList { return reduced(l, R::kMax); });
  r.lower("SparseReduceSum", [](LowerContext& l) -> LoweredList { return reduced(l, R::kSum); });
  r.lower("SparseReorder", reorder);
  r.lower("SparseReshape", reshape);
  r.lower("SparseSliceGrad", slice_grad);
  r.lower("SparseSoftmax", softmax);
  r.lower("SparseTensorDenseAdd", add_to_dense);
  r.lower("SparseTensorDenseMatMul", matmul);
  r.lower("SparseToDense", to_dense);
}

}  // namespace weft_engine::ops

#include "ops/sparse/sparse_matrix_grad.h"

#include <limits>

#include "op/emit.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

bool is_complex(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }

struct Coordinates {
  Value indices, values, shape;
};

Coordinates coordinates(const Value& matrix, DType type) {
  if (!matrix.valid()) return {};
  auto parts = matrix.emitter().apply("CSRSparseMatrixToSparseTensor", {matrix}, {{"type", type}});
  if (parts.size() != 3) return {};
  return {parts[0], parts[1], parts[2]};
}

Value from_coordinates(const Coordinates& c) {
  if (!c.indices.valid()) return {};
  return c.indices.emitter().one("SparseTensorToCSRSparseMatrix", {c.indices, c.values, c.shape});
}

Value conjugate(const Value& matrix, DType type) {
  if (!is_complex(type) || !matrix.valid()) return matrix;
  Emitter& e = matrix.emitter();
  return e.one("SparseMatrixTranspose", {e.one("SparseMatrixTranspose", {matrix}, {{"type", type}, {"conjugate", true}})}, {{"type", type}});
}

// The entries of a matrix at the places of another's; zero where it has none.
Value prune(const Value& matrix, const Value& pattern, DType type) {
  const Coordinates m = coordinates(matrix, type), p = coordinates(pattern, type);
  if (!m.indices.valid() || !p.indices.valid()) return {};
  Emitter& e = matrix.emitter();
  const Value flat_shape = e.constant(Tensor::vector(std::vector<int64_t>{-1}));
  auto flat = [&](const Coordinates& c) { return reshape(e.one("SparseReshape", {c.indices, c.shape, flat_shape}), ints(e, {-1})); };
  // Behind the last entry is a zero that is at no place, so that every search finds something.
  const Value ends[] = {flat(m), e.constant(Tensor::vector(std::vector<int64_t>{std::numeric_limits<int64_t>::max()}))};
  const Value places = concat(ends, 0), wanted = flat(p);
  const Value found = squeeze(e.one("LowerBound", {expand_dims(places, 0), expand_dims(wanted, 0)}, {{"out_type", DType::kInt64}}), {0});
  const Value zero[] = {m.values, reshape(scalar(e, type, 0), ints(e, {1}))};
  const Value chosen = where(binary("Equal", gather(places, found), wanted), found, size_of(m.values, DType::kInt64));
  return from_coordinates({p.indices, gather(concat(zero, 0), chosen), p.shape});
}

// How an operand of a product was transposed.
enum class Orientation { kNone, kTranspose, kAdjoint };

Orientation orientation_of(const GradContext& g, std::string_view which) {
  if (g.attr<bool>(cat("adjoint_", which))) return Orientation::kAdjoint;
  return g.attr<bool>(cat("transpose_", which)) ? Orientation::kTranspose : Orientation::kNone;
}

}  // namespace

Grads csr_from_dense_grad(const GradContext& g) { return {g.one("CSRSparseMatrixToDense", {g.dy()}, {{"type", g.attr<DType>("T")}}), {}}; }

Grads csr_to_dense_grad(const GradContext& g) {
  const Value dy = g.dy();
  const Coordinates c = coordinates(g.x(), g.attr<DType>("type"));
  if (!c.indices.valid()) return g.none();
  return {from_coordinates({c.indices, g.one("GatherNd", {dy, c.indices}), shape_of(dy, DType::kInt64)})};
}

Grads csr_from_sparse_grad(const GradContext& g) { return {{}, coordinates(g.dy(), g.attr<DType>("T")).values, {}}; }

Grads csr_to_sparse_grad(const GradContext& g) { return {from_coordinates({g.y(0), g.dy(1), g.y(2)})}; }

// TensorFlow gives no gradients of the two factors.
Grads csr_add_grad(const GradContext& g) {
  const DType type = g.attr<DType>("T");
  auto scaled = [&](int matrix, int factor) { return g.one("SparseMatrixMul", {prune(g.dy(), g.x(matrix), type), g.x(factor)}); };
  return {scaled(0, 2), scaled(1, 3), {}, {}};
}

Grads csr_transpose_grad(const GradContext& g) { return {g.one("SparseMatrixTranspose", {g.dy()}, g.attrs({"type", "conjugate"}))}; }

Grads csr_softmax_grad(const GradContext& g) { return {g.one("SparseMatrixSoftmaxGrad", {g.y(), g.dy()}, g.attrs({"type"}))}; }

// For C = A' B' with A' and B' the operands as they were transposed: dA' = dC B'^H at the places of A', dB' = A'^H dC, both transposed back.
Grads csr_dense_matmul_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value a = g.x(0), b = g.x(1);
  const DType type = b.dtype();
  const PartialShape s = b.shape();
  if (!s.has_rank()) return g.fail(unimplemented("the gradient of SparseMatrixMatMul for a matrix whose rank is not known"));
  const bool batched = s.rank() == 3;
  auto flip = [&](const Value& x) { return transpose(x, ints(e, batched ? std::vector<int32_t>{0, 2, 1} : std::vector<int32_t>{1, 0})); };
  const Orientation ta = orientation_of(g, "a"), tb = orientation_of(g, "b");
  Value dc = g.dy();
  if (g.attr<bool>("transpose_output")) dc = flip(dc);
  if (g.attr<bool>("conjugate_output")) dc = conj(dc);

  const Coordinates c = coordinates(a, type);
  if (!c.indices.valid()) return g.none();
  // The batch, if there is one, and the row or column.
  auto line = [&](int i) {
    const Value at = slice(c.indices, ints(e, {0, batched ? i + 1 : i}), ints(e, {-1, 1}));
    if (!batched) return at;
    const Value parts[] = {slice(c.indices, ints(e, {0, 0}), ints(e, {-1, 1})), at};
    return concat(parts, 1);
  };
  const Value right = tb == Orientation::kNone ? b : tb == Orientation::kTranspose ? flip(b) : conj(flip(b));
  const Value rows = g.one("GatherNd", {dc, line(ta == Orientation::kNone ? 0 : 1)}),
              columns = g.one("GatherNd", {right, line(ta == Orientation::kNone ? 1 : 0)});
  Value values = reduce("Sum", rows * conj(columns), ints(e, {1}));
  if (ta == Orientation::kAdjoint) values = conj(values);

  AttrMap attrs;
  if (ta == Orientation::kNone) attrs["adjoint_a"] = true;
  attrs["transpose_output"] = tb != Orientation::kNone;
  // A conjugate of A alone is not to be had, but those of the others are.
  const bool around = ta == Orientation::kTranspose && is_complex(type);
  attrs["conjugate_output"] = around != (tb == Orientation::kAdjoint);
  return {from_coordinates({c.indices, values, c.shape}), g.one("SparseMatrixMatMul", {a, around ? conj(dc) : dc}, std::move(attrs))};
}

Grads csr_sparse_matmul_grad(const GradContext& g) {
  const DType type = g.attr<DType>("type");
  const Value a = g.x(0), b = g.x(1), dc = g.dy();
  const Orientation ta = orientation_of(g, "a"), tb = orientation_of(g, "b");
  auto product = [&](const Value& x, Orientation tx, const Value& y, Orientation ty) {
    return g.one("SparseMatrixSparseMatMul", {x, y},
                 {{"type", type},
                  {"transpose_a", tx == Orientation::kTranspose},
                  {"adjoint_a", tx == Orientation::kAdjoint},
                  {"transpose_b", ty == Orientation::kTranspose},
                  {"adjoint_b", ty == Orientation::kAdjoint}});
  };
  // What stands for X'^H: X' = X, X^T or X^H.
  auto adjoint_of = [&](const Value& x, Orientation t) {
    return std::pair(t == Orientation::kTranspose ? conjugate(x, type) : x, t == Orientation::kNone ? Orientation::kAdjoint : Orientation::kNone);
  };
  // And for conj(X').
  auto conjugate_of = [&](const Value& x, Orientation t) {
    return std::pair(t == Orientation::kNone ? conjugate(x, type) : x, t == Orientation::kNone        ? Orientation::kNone
                                                                       : t == Orientation::kTranspose ? Orientation::kAdjoint
                                                                                                      : Orientation::kTranspose);
  };
  Value da, db;
  if (ta == Orientation::kNone) {
    const auto [right, orientation] = adjoint_of(b, tb);
    da = product(dc, Orientation::kNone, right, orientation);
  } else {
    const auto [left, orientation] = ta == Orientation::kTranspose ? conjugate_of(b, tb) : std::pair(b, tb);
    da = product(left, orientation, dc, ta);
  }
  if (tb == Orientation::kNone) {
    const auto [left, orientation] = adjoint_of(a, ta);
    db = product(left, orientation, dc, Orientation::kNone);
  } else {
    const auto [right, orientation] = tb == Orientation::kTranspose ? conjugate_of(a, ta) : std::pair(a, ta);
    db = product(dc, tb, right, orientation);
  }
  return {prune(da, a, type), prune(db, b, type)};
}

}  // namespace weft_engine::ops

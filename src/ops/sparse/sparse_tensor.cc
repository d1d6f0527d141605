#include "ops/sparse/sparse_tensor.h"

#include <cstring>

#include "op/dispatch.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status check_shapes(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2) return invalid_argument("Sparse indices must be rank 2 but is rank ", indices.rank());
  if (values.rank() != 1) return invalid_argument("Sparse values must be rank 1 but is rank ", values.rank());
  if (shape.rank() != 1) return invalid_argument("Sparse shape must be rank 1 but is rank ", shape.rank());
  if (values.dim(0) != indices.dim(0))
    return invalid_argument("Number of elements in indices (", indices.dim(0), ") and values (", values.dim(0), ") do not match");
  if (shape.dim(0) != indices.dim(1)) return invalid_argument("Index rank (", indices.dim(1), ") and shape rank (", shape.dim(0), ") do not match");
  return {};
}

Status bad_tuple(std::span<const int64_t> row, int64_t at, const char* what) {
  return invalid_argument("Sparse index tuple indices[", at, ", :] = [", join(row, ", "), "] is ", what);
}

}  // namespace

Status check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape, IndexCheck check) {
  WEFT_RETURN_IF_ERROR(check_shapes(indices, values, shape));
  if (check == IndexCheck::kNone) return {};
  const int64_t n = indices.dim(0), rank = indices.dim(1);
  const int64_t *ix = indices.data<int64_t>(), *limit = shape.data<int64_t>();
  for (int64_t i = 0; i < n; ++i, ix += rank) {
    const std::span<const int64_t> row(ix, size_t(rank));
    bool larger = i == 0 || check != IndexCheck::kOrdered;
    for (int64_t d = 0; d < rank; ++d) {
      if (ix[d] < 0 || ix[d] >= limit[d]) return bad_tuple(row, i, "out of bounds");
      if (larger) continue;
      if (ix[d] < ix[d - rank]) return bad_tuple(row, i, "out of order");
      larger = ix[d] > ix[d - rank];
    }
    if (!larger) return bad_tuple(row, i, "repeated");
  }
  return {};
}

Status check_sparse_parts(const Tensor& indices, const Tensor& values, int64_t rank) {
  if (values.rank() != 1) return invalid_argument("vals must be a vec, but got: ", values.shape());
  if (indices.rank() >= 1 && indices.dim(0) != values.dim(0))
    return invalid_argument("indices and values rows (indexing dimension) must match. (indices = ", indices.dim(0), ", values = ", values.dim(0),
                            ")");
  if (indices.rank() != 2) return invalid_argument("indices must be a matrix, but got: ", indices.shape());
  if (indices.dim(1) != rank) return invalid_argument("Order length must be SparseTensor rank.");
  return {};
}

Status check_sparse_order(const Tensor& indices, std::span<const int64_t> shape) {
  const int64_t n = indices.dim(0), rank = indices.dim(1);
  const int64_t* ix = indices.data<int64_t>();
  for (int64_t i = 0; i < n; ++i, ix += rank) {
    bool in_range = true, larger = i == 0, smaller = false;
    for (int64_t d = 0; d < rank; ++d) {
      in_range &= ix[d] >= 0 && ix[d] < shape[size_t(d)];
      if (larger || smaller) continue;
      larger = ix[d] > ix[d - rank];
      smaller = ix[d] < ix[d - rank];
    }
    if (in_range && larger) [[likely]]
      continue;
    const std::string at = cat("indices[", i, "] = [", join(std::span<const int64_t>(ix, size_t(rank))), rank ? "]" : "");
    if (!in_range) return invalid_argument(at, " is out of bounds: need 0 <= index < [", join(shape), "]");
    if (smaller)
      return invalid_argument(at,
                              " is out of order. Many sparse ops require sorted indices.\n"
                              "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n");
    return invalid_argument(at, " is repeated");
  }
  return {};
}

Result<Shape> dense_shape_of(const Tensor& shape) {
  if (shape.rank() != 1 || shape.dtype() != DType::kInt64) return invalid_argument("Shape must be a 1D tensor.");
  return Shape::make(shape.span<int64_t>());
}

Result<Tensor> pick_values(const Tensor& values, std::span<const int64_t> rows) {
  WEFT_ASSIGN(Tensor out, Tensor::allocate(values.dtype(), Shape({int64_t(rows.size())})));
  WEFT_RETURN_IF_ERROR(dispatch_movable(values.dtype(), [&]<class T>(Tag<T>) {
    const T* in = values.data<T>();
    T* to = out.data<T>();
    for (size_t i = 0; i < rows.size(); ++i) to[i] = in[rows[i]];
    return Status();
  }));
  return out;
}

Result<Tensor> pick_rows(const Tensor& indices, std::span<const int64_t> rows) {
  const int64_t rank = indices.dim(1);
  WEFT_ASSIGN(Tensor out, Tensor::allocate(DType::kInt64, Shape({int64_t(rows.size()), rank})));
  const int64_t* in = indices.data<int64_t>();
  int64_t* to = out.data<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i) std::copy_n(in + rows[i] * rank, rank, to + int64_t(i) * rank);
  return out;
}

Status check_sparse_ranks(const ShapeContext& c, int i) {
  for (int k = 0; k < 3; ++k) {
    if (auto s = c.with_rank(i + k, k == 0 ? 2 : 1); !s.ok()) return s.status();
  }
  return {};
}

}  // namespace weft_engine::ops

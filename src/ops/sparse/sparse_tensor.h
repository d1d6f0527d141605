// What the ops on sparse tensors share: a sparse tensor arrives as three inputs, indices [n, rank],
// values [n] and dense_shape [rank], and must be checked before any of it is used. TensorFlow has two
// sets of checks with texts of their own, and programs match on both.
#pragma once

#include "core/tensor.h"
#include "op/shape_context.h"

namespace weft_engine::ops {

enum class IndexCheck { kNone, kInRange, kOrdered };

// "Sparse indices must be rank 2 but is rank 1", and "Sparse index tuple indices[1, :] = [2, 1] is out of bounds".
core::Status check_sparse(const core::Tensor& indices, const core::Tensor& values, const core::Tensor& shape, IndexCheck check);

// "indices must be a matrix, but got: [2]", "indices and values rows (indexing dimension) must match."
core::Status check_sparse_parts(const core::Tensor& indices, const core::Tensor& values, int64_t rank);
// Every index within the shape, rows strictly increasing: "indices[1] = [0,0] is out of order. ..."
core::Status check_sparse_order(const core::Tensor& indices, std::span<const int64_t> shape);

// The dense shape as a Shape: no negative sizes, no overflow. Needs an int64 vector.
core::Result<core::Shape> dense_shape_of(const core::Tensor& shape);

// values[rows[i]] for each i, as a new tensor of the same type; and the same for the rows of the indices.
core::Result<core::Tensor> pick_values(const core::Tensor& values, std::span<const int64_t> rows);
core::Result<core::Tensor> pick_rows(const core::Tensor& indices, std::span<const int64_t> rows);

// Shape rules: the ranks that indices, values and dense_shape (at inputs i, i + 1, i + 2) must have.
core::Status check_sparse_ranks(const op::ShapeContext& c, int i);

}  // namespace weft_engine::ops

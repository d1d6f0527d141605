// What the linear algebra ops share: batches of matrices in the inner two dimensions, with TensorFlow's
// checks, solved in parallel; and shape rules.
#pragma once

#include <atomic>

#include "op/registry.h"

namespace weft_engine::ops {

#define WEFT_LINALG_TYPES float, double, ::weft_engine::core::complex64, ::weft_engine::core::complex128

// Inputs 0 ... inputs-1 have one rank, of at least 2, and the same outer dimensions; the result is these.
op::Result<op::Shape> outer_dims(const op::KernelContext& c, int inputs);

struct MatrixSize {
  int64_t rows, columns;
  int64_t elements() const { return rows * columns; }
};
inline MatrixSize matrix_size(const op::Tensor& t) { return {t.dim(t.rank() - 2), t.dim(t.rank() - 1)}; }

// Calls solve(i) for each matrix; `error` if one says false. `cost` is about the nanoseconds of one.
template <class Solve>
op::Status each_matrix(op::KernelContext& c, int64_t count, double cost, std::string_view error, Solve solve) {
  std::atomic<bool> failed = false;
  c.pool().parallel_for(count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !failed; ++i) {
      if (!solve(i)) failed = true;
    }
  });
  if (failed) return op::invalid_argument(error);
  return {};
}

// The batches of two inputs broadcast against each other: which matrix of each goes into result i.
struct MatrixBatch {
  op::Shape shape;
  std::vector<int64_t> a, b;
};
op::Result<MatrixBatch> broadcast_matrices(const op::Shape& a, const op::Shape& b);

// The outer dimensions of an input, and the inner two; -1 for what is not known.
struct PartialMatrix {
  op::PartialShape outer;
  int64_t rows = -1, columns = -1;
};
op::Result<PartialMatrix> partial_matrix(const op::ShapeContext& c, int input);
op::Result<PartialMatrix> partial_square(const op::ShapeContext& c, int input);
inline op::PartialShape with_dims(const op::PartialShape& outer, std::vector<int64_t> dims) {
  return outer.has_rank() ? outer.concat(op::PartialShape(std::move(dims))) : op::PartialShape();
}

}  // namespace weft_engine::ops

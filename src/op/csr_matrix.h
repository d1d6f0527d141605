// A sparse matrix, or a batch of them, in compressed row form inside a variant. Matrix b has the entries
// [batch_pointers[b], batch_pointers[b + 1]); its row r those from row_pointers[b * (rows + 1) + r] on,
// counted from the start of the matrix.
#pragma once

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

struct CsrMatrix final : core::VariantObject {
  std::string type_name() const override { return "tensorflow::CSRSparseMatrix"; }

  core::Shape shape;            // [rows, columns] or [batch, rows, columns]
  core::Tensor batch_pointers;  // int32 [batch + 1]
  core::Tensor row_pointers;    // int32 [batch * (rows + 1)]
  core::Tensor columns;         // int32 [entries]
  core::Tensor values;          // [entries]

  core::DType dtype() const { return values.dtype(); }
  bool batched() const { return shape.rank() == 3; }
  int64_t batch() const { return batched() ? shape.dim(0) : 1; }
  int64_t num_rows() const { return shape.dim(shape.rank() - 2); }
  int64_t num_columns() const { return shape.dim(shape.rank() - 1); }
  int64_t begin(int64_t b) const { return batch_pointers.data<int32_t>()[b]; }
  int64_t entries(int64_t b) const { return begin(b + 1) - begin(b); }
  const int32_t* rows_of(int64_t b) const { return row_pointers.data<int32_t>() + b * (num_rows() + 1); }
  const int32_t* columns_of(int64_t b) const { return columns.data<int32_t>() + begin(b); }
  template <class T>
  const T* values_of(int64_t b) const {
    return values.data<T>() + begin(b);
  }
};

}  // namespace weft_engine::op

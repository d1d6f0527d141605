// Tensors as columns of a table, and batches made of rows: one copy of bytes a row, no op.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/dataset.h"

namespace weft::data {

class Columns {
 public:
  // Throws unless all have the same first dimension.
  explicit Columns(std::vector<Tensor> tensors);
  int64_t rows() const { return rows_; }
  Element row(int64_t i) const;
  Element gather(std::span<const int64_t> rows) const;

 private:
  struct Column {
    Tensor tensor;
    DType dtype;
    std::vector<int64_t> row_shape;
    const std::byte* bytes = nullptr;
    size_t row_size = 0;               // bytes, or strings
    std::vector<std::string> strings;  // all of them
  };
  Tensor rows_of(const Column& c, std::vector<int64_t> shape, std::span<const int64_t> rows) const;
  std::vector<Column> columns_;
  int64_t rows_ = 0;
};

// Elements on top of each other. InvalidArgument (TensorFlow's text) where their shapes, types or numbers of tensors differ.
Element stack(std::span<const Element> elements);

}  // namespace weft::data

// Keys and values for a table from a text file, one pair a line.
#pragma once

#include <string>

#include "core/tensor.h"

namespace weft_engine::ops {

struct TextFileColumns {
  static constexpr int64_t kLineNumber = -1, kWholeLine = -2;
  int64_t key_index = 0, value_index = 0;
  int64_t vocab_size = -1;  // lines to read; -1: all
  char delimiter = '\t';
  int64_t offset = 0;       // added to line numbers
};

// `keys` and `values` get the lines before the first bad one; the error tells whether there was one, and
// OutOfRange that not even one line was wanted.
core::Status read_text_file(const std::string& path, const TextFileColumns& columns, core::DType key_dtype, core::DType value_dtype,
                            core::Tensor& keys, core::Tensor& values);

}  // namespace weft_engine::ops

// A sparse matrix, as a list of (row, column, value), times a dense one.
#pragma once

#include <cstdint>

#include "core/float_types.h"

namespace weft_engine::kernels {

// sums[row, j] += value * b[column, j] for each entry and each column j in [begin, end). Entries are
// added in the order they stand in. T is the type of the operands, W that of the sums.
template <class T, class W>
struct SparseProduct {
  const int64_t* indices;  // n pairs
  const T* values;
  int64_t n;
  bool swapped;            // entries are (column, row)
  bool conjugate;          // take the conjugates of complex values
  const T* b;
  W* sums;
  int64_t columns;         // of b and of sums
  int64_t begin, end;
};

void multiply_sparse_dense(const SparseProduct<float, float>& p);
void multiply_sparse_dense(const SparseProduct<double, double>& p);
void multiply_sparse_dense(const SparseProduct<int32_t, int32_t>& p);
void multiply_sparse_dense(const SparseProduct<core::complex64, core::complex64>& p);
void multiply_sparse_dense(const SparseProduct<core::complex128, core::complex128>& p);
void multiply_sparse_dense(const SparseProduct<core::half, float>& p);
void multiply_sparse_dense(const SparseProduct<core::bfloat16, float>& p);

}  // namespace weft_engine::kernels

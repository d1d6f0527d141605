// Sparse matrices in compressed row form: transposes, sums and products of one matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace weft_engine::kernels {

// Borrowed: row r has the entries [row_pointers[r], row_pointers[r + 1]).
template <class T>
struct CsrView {
  int64_t rows, columns;
  const int32_t* row_pointers;
  const int32_t* column_indices;
  const T* values;
  int64_t entries() const { return row_pointers[rows]; }
};

template <class T>
struct CsrParts {
  std::vector<int32_t> row_pointers, column_indices;
  std::vector<T> values;
};

// Entries of each row come out in the order of their rows in `a`.
template <class T>
CsrParts<T> csr_transpose(const CsrView<T>& a, bool conjugate);

// alpha * a + beta * b over the union of their entries; columns sorted. Rows of both must be sorted.
template <class T>
CsrParts<T> csr_add(const CsrView<T>& a, T alpha, const CsrView<T>& b, T beta);

// a * b, columns sorted; entries that cancel are kept. Nothing if the result has more entries than int32 counts.
template <class T>
std::optional<CsrParts<T>> csr_multiply(const CsrView<T>& a, const CsrView<T>& b);

// An order of elimination that keeps the Cholesky factor of a symmetric pattern sparse (approximate minimum degree).
std::vector<int32_t> amd_ordering(int64_t n, const int32_t* row_pointers, const int32_t* column_indices);

// The lower factor L of P a P^T = L L^H, where row i of the permuted matrix is row p[i] of a; only the upper
// triangle of a is read. Nothing if the matrix is not positive definite.
template <class T>
std::optional<CsrParts<T>> sparse_cholesky(const CsrView<T>& a, const int32_t* permutation);

}  // namespace weft_engine::kernels

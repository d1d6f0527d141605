#include "kernels/cpu/csr.h"

#include <algorithm>
#include <complex>
#include <limits>

#include "core/float_types.h"

namespace weft_engine::kernels {

using core::complex128;
using core::complex64;
using core::is_complex;

template <class T>
CsrParts<T> csr_transpose(const CsrView<T>& a, bool conjugate) {
  const size_t n = size_t(a.entries());
  CsrParts<T> out{std::vector<int32_t>(size_t(a.columns) + 1, 0), std::vector<int32_t>(n), std::vector<T>(n)};
  for (size_t i = 0; i < n; ++i) ++out.row_pointers[size_t(a.column_indices[i]) + 1];
  for (int64_t c = 0; c < a.columns; ++c) out.row_pointers[size_t(c) + 1] += out.row_pointers[size_t(c)];
  std::vector<int32_t> next(out.row_pointers.begin(), out.row_pointers.end() - 1);
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int32_t i = a.row_pointers[r]; i < a.row_pointers[r + 1]; ++i) {
      const size_t at = size_t(next[size_t(a.column_indices[i])]++);
      out.column_indices[at] = int32_t(r);
      if constexpr (is_complex<T>) out.values[at] = conjugate ? std::conj(a.values[i]) : a.values[i];
      else out.values[at] = a.values[i];
    }
  }
  return out;
}

template <class T>
CsrParts<T> csr_add(const CsrView<T>& a, T alpha, const CsrView<T>& b, T beta) {
  CsrParts<T> out;
  out.row_pointers.push_back(0);
  for (int64_t r = 0; r < a.rows; ++r) {
    int32_t i = a.row_pointers[r], j = b.row_pointers[r];
    const int32_t i_end = a.row_pointers[r + 1], j_end = b.row_pointers[r + 1];
    while (i < i_end || j < j_end) {
      const bool from_a = i < i_end && (j >= j_end || a.column_indices[i] <= b.column_indices[j]);
      const bool from_b = j < j_end && (i >= i_end || b.column_indices[j] <= a.column_indices[i]);
      out.column_indices.push_back(from_a ? a.column_indices[i] : b.column_indices[j]);
      T sum{};
      if (from_a) sum += alpha * a.values[i++];
      if (from_b) sum += beta * b.values[j++];
      out.values.push_back(sum);
    }
    out.row_pointers.push_back(int32_t(out.values.size()));
  }
  return out;
}

// Gustavson: a row of the result is the sum of rows of b, gathered in an array over the columns.
template <class T>
std::optional<CsrParts<T>> csr_multiply(const CsrView<T>& a, const CsrView<T>& b) {
  CsrParts<T> out;
  out.row_pointers.push_back(0);
  std::vector<T> sums(static_cast<size_t>(b.columns));
  std::vector<int64_t> seen(size_t(b.columns), -1);  // the last row that touched the column
  for (int64_t r = 0; r < a.rows; ++r) {
    const size_t first = out.column_indices.size();
    for (int32_t i = a.row_pointers[r]; i < a.row_pointers[r + 1]; ++i) {
      const int32_t k = a.column_indices[i];
      for (int32_t j = b.row_pointers[k]; j < b.row_pointers[k + 1]; ++j) {
        const size_t c = size_t(b.column_indices[j]);
        if (seen[c] != r) {
          seen[c] = r;
          sums[c] = T(0);
          out.column_indices.push_back(int32_t(c));
        }
        sums[c] += a.values[i] * b.values[j];
      }
    }
    if (out.column_indices.size() > size_t(std::numeric_limits<int32_t>::max())) return std::nullopt;
    std::sort(out.column_indices.begin() + int64_t(first), out.column_indices.end());
    for (size_t i = first; i < out.column_indices.size(); ++i) out.values.push_back(sums[size_t(out.column_indices[i])]);
    out.row_pointers.push_back(int32_t(out.values.size()));
  }
  return out;
}

#define WEFT_CSR(T)                                                         \
  template CsrParts<T> csr_transpose(const CsrView<T>&, bool);              \
  template CsrParts<T> csr_add(const CsrView<T>&, T, const CsrView<T>&, T); \
  template std::optional<CsrParts<T>> csr_multiply(const CsrView<T>&, const CsrView<T>&);
WEFT_CSR(float)
WEFT_CSR(double)
WEFT_CSR(complex64)
WEFT_CSR(complex128)

}  // namespace weft_engine::kernels

// Work on the index matrix of a sparse tensor: `n` rows of `rank` numbers, row after row.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/float_types.h"

namespace weft_engine::kernels {

// -1, 0 or 1, column by column.
inline int compare_index_rows(const int64_t* a, const int64_t* b, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    if (a[d] < b[d]) return -1;
    if (a[d] > b[d]) return 1;
  }
  return 0;
}

// The row numbers in lexicographic order of the columns `order`. Equal rows fall as std::sort leaves
// them, which is what TensorFlow does too, so that values of repeated indices come out in its order.
std::vector<int64_t> sort_index_rows(const int64_t* indices, int64_t n, int64_t rank, std::span<const int64_t> order);

// One step of the union of two sorted index lists; -1 on a side that has no entry there.
struct IndexPair {
  int64_t a, b;
};
std::vector<IndexPair> merge_index_rows(const int64_t* a, int64_t a_rows, const int64_t* b, int64_t b_rows, int64_t rank);

// Sums that wrap around in integers instead of being undefined.
template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return T(U(U(a) + U(b)));
  } else {
    return T(a + b);
  }
}
template <class T>
T wrap_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(a) * uint64_t(b));
  else return T(a * b);
}

}  // namespace weft_engine::kernels

#include "kernels/cpu/sparse_index.h"

#include <algorithm>
#include <numeric>

namespace weft_engine::kernels {

std::vector<int64_t> sort_index_rows(const int64_t* indices, int64_t n, int64_t rank, std::span<const int64_t> order) {
  std::vector<int64_t> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](int64_t i, int64_t j) {
    const int64_t *a = indices + i * rank, *b = indices + j * rank;
    for (int64_t d : order) {
      if (a[d] != b[d]) return a[d] < b[d];
    }
    return false;
  });
  return rows;
}

std::vector<IndexPair> merge_index_rows(const int64_t* a, int64_t a_rows, const int64_t* b, int64_t b_rows, int64_t rank) {
  std::vector<IndexPair> out;
  out.reserve(size_t(a_rows + b_rows));
  int64_t i = 0, j = 0;
  while (i < a_rows && j < b_rows) {
    const int order = compare_index_rows(a + i * rank, b + j * rank, rank);
    out.push_back({order <= 0 ? i : -1, order >= 0 ? j : -1});
    i += order <= 0;
    j += order >= 0;
  }
  for (; i < a_rows; ++i) out.push_back({i, -1});
  for (; j < b_rows; ++j) out.push_back({-1, j});
  return out;
}

}  // namespace weft_engine::kernels

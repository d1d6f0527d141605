#include "ops/ragged/ragged_splits.h"

#include <algorithm>
#include <limits>

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT: an ops file is written in the vocabulary of core/

std::vector<int64_t> to_int64s(const Tensor& t) {
  if (t.dtype() == DType::kInt32) return {t.span<int32_t>().begin(), t.span<int32_t>().end()};
  return {t.span<int64_t>().begin(), t.span<int64_t>().end()};
}

Result<Tensor> from_int64s(std::span<const int64_t> values, DType dtype) {
  WEFT_ASSIGN(Tensor out, Tensor::allocate(dtype, Shape({int64_t(values.size())})));
  if (dtype == DType::kInt64) {
    std::copy(values.begin(), values.end(), out.data<int64_t>());
    return out;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] > std::numeric_limits<int32_t>::max()) return invalid_argument("row splits do not fit into int32: ", values[i]);
    out.data<int32_t>()[i] = int32_t(values[i]);
  }
  return out;
}

Status check_splits(const Tensor& splits, bool check_last, int64_t num_values) {
  if (splits.rank() != 1) return invalid_argument("Invalid ragged splits: ragged splits must be rank 1 but is rank ", splits.rank());
  if (splits.num_elements() < 1) return invalid_argument("Invalid ragged splits: ragged splits must have at least one splits, but is empty");
  const std::vector<int64_t> s = to_int64s(splits);
  if (s[0] != 0) return invalid_argument("Invalid ragged splits: first element of ragged splits  must be 0 but is ", s[0]);
  for (size_t i = 1; i < s.size(); ++i) {
    if (s[i] < s[i - 1])
      return invalid_argument("Invalid ragged splits: ragged splits must be monotonically increasing, but ragged_splits[", i, "]=", s[i],
                              " is smaller than row_splits[", i - 1, "]=", s[i - 1]);
  }
  if (check_last && s.back() != num_values)
    return invalid_argument("Invalid ragged splits: last element of ragged splits must be the number of ragged values(", num_values, ") but is ",
                            s.back());
  return {};
}

}  // namespace weft_engine::ops

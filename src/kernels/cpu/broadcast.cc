#include "kernels/cpu/broadcast.h"

#include <algorithm>

namespace weft_engine::kernels {

using core::Shape;

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  int64_t dims[core::kMaxRank];
  if (rank > core::kMaxRank) return std::nullopt;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t x = ia < 0 ? 1 : a.dim(ia), y = ib < 0 ? 1 : b.dim(ib);
    if (x != y && x != 1 && y != 1) return std::nullopt;
    dims[i] = x == 1 ? y : x;
  }
  return Shape(std::span<const int64_t>(dims, size_t(rank)));
}

Broadcast::Broadcast(const Shape& out, std::span<const Shape* const> operands) {
  const int count = int(operands.size());
  int64_t next[kMaxOperands] = {1, 1, 1};  // the stride of the next dimension of each operand
  // From the last dimension to the first; reversed at the end.
  for (int i = out.rank() - 1; i >= 0; --i) {
    const int64_t size = out.dim(i);
    if (size == 1) continue;
    Dim d = {size, {0, 0, 0}};
    for (int k = 0; k < count; ++k) {
      const int at = i - (out.rank() - operands[size_t(k)]->rank());
      if (at < 0 || operands[size_t(k)]->dim(at) == 1) continue;
      d.stride[k] = next[k];
      next[k] *= size;
    }
    if (rank_ > 0) {
      Dim& last = dims_[rank_ - 1];
      bool merges = true;
      for (int k = 0; k < count; ++k) merges &= d.stride[k] == last.stride[k] * last.size;
      if (merges) {
        last.size *= size;
        continue;
      }
    }
    dims_[rank_++] = d;
  }
  if (rank_ == 0) dims_[rank_++] = {1, {1, 1, 1}};
  std::reverse(dims_, dims_ + rank_);
}

int Broadcast::repeated_row() const {
  if (rank_ != 2 || dims_[1].stride[0] != 1 || dims_[1].stride[1] != 1) return -1;
  return dims_[0].stride[1] == 0 ? 1 : dims_[0].stride[0] == 0 ? 0 : -1;
}

std::optional<BinaryRows> Broadcast::rows() const {
  if (rank_ != 2) return std::nullopt;
  const Dim &outer = dims_[0], &inner = dims_[1];
  return BinaryRows{outer.size, inner.size, {outer.stride[0], outer.stride[1]}, {int(inner.stride[0]), int(inner.stride[1])}};
}

void Broadcast::for_runs(int64_t begin, int64_t end, core::FunctionRef<void(const Offsets&, int64_t, int64_t)> run) const {
  if (begin >= end) return;
  int64_t index[core::kMaxRank + 1];
  Offsets o = {};
  int64_t rest = begin;
  for (int i = rank_ - 1; i >= 0; --i) {
    index[i] = rest % dims_[i].size;
    rest /= dims_[i].size;
    for (int k = 0; k < kMaxOperands; ++k) o.at[k] += index[i] * dims_[i].stride[k];
  }
  const Dim& inner = dims_[rank_ - 1];
  for (int64_t out = begin; out < end;) {
    const int64_t n = std::min(inner.size - index[rank_ - 1], end - out);
    run(o, out, n);
    out += n;
    // To the start of the next row: back to the row's beginning, then on like an odometer.
    for (int k = 0; k < kMaxOperands; ++k) o.at[k] -= index[rank_ - 1] * inner.stride[k];
    index[rank_ - 1] = 0;
    for (int i = rank_ - 2; i >= 0; --i) {
      for (int k = 0; k < kMaxOperands; ++k) o.at[k] += dims_[i].stride[k];
      if (++index[i] < dims_[i].size) break;
      for (int k = 0; k < kMaxOperands; ++k) o.at[k] -= dims_[i].size * dims_[i].stride[k];
      index[i] = 0;
    }
  }
}

}  // namespace weft_engine::kernels

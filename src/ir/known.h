// Small integer tensors whose elements are known (Instr::known), index by index; for the builder's own files.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace weft_engine::ir::known {

constexpr size_t kMostKnown = 1024;  // elements of a tensor whose values are tracked

inline std::optional<int64_t> count(const std::vector<Dim>& dims) {
  int64_t n = 1;
  for (const Dim& d : dims) {
    if (!d.is_const()) return std::nullopt;
    n *= d.value();
    if (n > int64_t(kMostKnown) || n < 0) return std::nullopt;
  }
  return n;
}

// Calls f(index, number) for each element of a small shape, in order.
template <class F>
void each(const std::vector<Dim>& dims, F f) {
  const auto n = count(dims);
  if (!n) return;
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < *n; ++i) {
    f(index, size_t(i));
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d].value()) break;
      index[d] = 0;
    }
  }
}

inline size_t place(const std::vector<Dim>& dims, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d].value() + index[d];
  return size_t(at);
}

// The elements of a movement: from(index of the result) is the index in the operand, or nullopt.
template <class F>
std::optional<std::vector<Dim>> moved(const Instr& x, const std::vector<Dim>& dims, F from) {
  if (!x.known || !count(dims) || !count(x.type.dims)) return std::nullopt;
  std::vector<Dim> out(size_t(*count(dims)));
  each(dims, [&](const std::vector<int64_t>& index, size_t i) { out[i] = (*x.known)[place(x.type.dims, from(index))]; });
  return out;
}

}  // namespace weft_engine::ir::known

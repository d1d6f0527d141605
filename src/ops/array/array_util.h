// Small things that the families of array ops share: integers from tensors, shapes from tensors, axes.
#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/strided_copy.h"
#include "op/kernel.h"
#include "op/shape_context.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

// Element i of a tensor of integers.
inline int64_t int_at(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kInt8: return t.data<int8_t>()[i];
    case DType::kUint8: return t.data<uint8_t>()[i];
    case DType::kInt16: return t.data<int16_t>()[i];
    case DType::kUint16: return t.data<uint16_t>()[i];
    case DType::kInt32: return t.data<int32_t>()[i];
    default: return t.data<int64_t>()[i];
  }
}

inline std::vector<int64_t> ints_of(const Tensor& t) {
  std::vector<int64_t> v(size_t(t.num_elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = int_at(t, int64_t(i));
  return v;
}

// Writes integers into an int32 or int64 tensor.
inline void put_int(Tensor& t, int64_t i, int64_t v) {
  if (t.dtype() == DType::kInt32) t.data<int32_t>()[i] = int32_t(v);
  else t.data<int64_t>()[i] = v;
}

// A shape from a tensor of dimensions, with the texts of TensorFlow's MakeShape.
inline Result<Shape> shape_from(const Tensor& t) {
  if (t.num_elements() > kMaxRank) return invalid_argument("Too many dimensions");
  std::vector<int64_t> dims = ints_of(t);
  for (int64_t d : dims) {
    if (d < 0) return invalid_argument("Dimension ", d, " must be >= 0");
  }
  return Shape::make(dims);
}

// Strides of a dense array of that shape, in elements. Those of an empty one may wrap.
inline std::vector<int64_t> strides_of(const Shape& s) {
  std::vector<int64_t> strides(size_t(s.rank()), 1);
  for (int i = s.rank() - 2; i >= 0; --i) strides[size_t(i)] = int64_t(uint64_t(strides[size_t(i) + 1]) * uint64_t(s.dim(i + 1)));
  return strides;
}

// A pointer to element i of a tensor.
inline const void* element(const Tensor& t, int64_t i) { return t.data<char>() + size_t(i) * dtype_size(t.dtype()); }
inline void* element(Tensor& t, int64_t i) { return t.data<char>() + size_t(i) * dtype_size(t.dtype()); }

// What the attribute bad_indices_policy of gathers and scatters means on the CPU.
inline Result<bool> ignores_bad_indices(const std::string& policy) {
  if (policy == "IGNORE") return true;
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return false;
  return invalid_argument("Unknown bad indices handling attribute: ", policy);
}

// What messages call a node: an op called on its own has no name but its op's.
inline std::string node_name(const NodeInfo& node) { return node.name().empty() ? std::string(node.op()) : node.name(); }

// The output is input 0 itself.
inline Status pass_through(KernelContext& c) {
  c.set_output(0, c.input(0));
  return {};
}

// Output i shares the memory of a tensor under another shape.
inline void share_as(KernelContext& c, int i, const Tensor& t, Shape shape) { c.set_output(i, t.reshaped(std::move(shape))); }

}  // namespace weft_engine::ops

// The values of one feature over a batch of examples, and the tensors made from them.
#pragma once

#include <algorithm>

#include "op/kernel.h"
#include "wire/example.h"

namespace weft_engine::ops {

using wire::FeatureValues;

struct Column {
  explicit Column(core::DType type) : values(type) {}
  std::string_view key;
  FeatureValues values;
  std::vector<int64_t> ends;   // where the values of each example end
  std::vector<bool> present;   // whether the example has the feature

  int64_t begin(int64_t i) const { return i ? ends[size_t(i) - 1] : 0; }
  int64_t count(int64_t i) const { return ends[size_t(i)] - begin(i); }
  int64_t longest() const {
    int64_t n = 0;
    for (size_t i = 0; i < ends.size(); ++i) n = std::max(n, count(int64_t(i)));
    return n;
  }

  core::Result<core::Tensor> values_tensor() const {
    WEFT_ASSIGN(core::Tensor out, core::Tensor::allocate(values.dtype(), core::Shape({values.size()})));
    values.copy_to(0, values.size(), out, 0);
    return out;
  }
  // Indices and shape of a sparse matrix, or of a sparse vector for a single example.
  core::Result<core::Tensor> indices_tensor(bool batched) const {
    WEFT_ASSIGN(core::Tensor indices, core::Tensor::allocate(core::DType::kInt64, core::Shape({values.size(), batched ? 2 : 1})));
    int64_t* at = indices.data<int64_t>();
    for (size_t i = 0; i < ends.size(); ++i) {
      for (int64_t k = 0; k < count(int64_t(i)); ++k) {
        if (batched) *at++ = int64_t(i);
        *at++ = k;
      }
    }
    return indices;
  }
  core::Result<core::Tensor> shape_tensor(bool batched) const {
    WEFT_ASSIGN(core::Tensor shape, core::Tensor::allocate(core::DType::kInt64, core::Shape({batched ? 2 : 1})));
    if (batched) shape.data<int64_t>()[0] = int64_t(ends.size());
    shape.data<int64_t>()[batched ? 1 : 0] = longest();
    return shape;
  }
  core::Result<core::Tensor> splits_tensor(core::DType dtype) const { return split_list(dtype, ends); }
  // {0, ends...}.
  static core::Result<core::Tensor> split_list(core::DType dtype, const std::vector<int64_t>& ends) {
    WEFT_ASSIGN(core::Tensor out, core::Tensor::allocate(dtype, core::Shape({int64_t(ends.size()) + 1})));
    const bool wide = dtype == core::DType::kInt64;
    for (size_t i = 0; i <= ends.size(); ++i) {
      const int64_t v = i ? ends[i - 1] : 0;
      if (wide) out.data<int64_t>()[i] = v;
      else out.data<int32_t>()[i] = int32_t(v);
    }
    return out;
  }

  // The same as outputs of a kernel.
  core::Status emit_values(op::KernelContext& c, int output) const {
    WEFT_ASSIGN(core::Tensor t, values_tensor());
    c.set_output(output, std::move(t));
    return {};
  }
  core::Status emit_sparse(op::KernelContext& c, bool batched, int indices_output, int values_output, int shape_output) const {
    WEFT_RETURN_IF_ERROR(emit_values(c, values_output));
    WEFT_ASSIGN(core::Tensor indices, indices_tensor(batched));
    c.set_output(indices_output, std::move(indices));
    WEFT_ASSIGN(core::Tensor shape, shape_tensor(batched));
    c.set_output(shape_output, std::move(shape));
    return {};
  }
  core::Status emit_splits(op::KernelContext& c, int output) const { return emit_split_list(c, output, ends); }
  static core::Status emit_split_list(op::KernelContext& c, int output, const std::vector<int64_t>& ends) {
    WEFT_ASSIGN(core::Tensor t, split_list(c.output_type(output), ends));
    c.set_output(output, std::move(t));
    return {};
  }
};

// Keys that come as tensors.
inline core::Result<std::string_view> scalar_key(const core::Tensor& t, std::string_view name, size_t k) {
  if (t.rank() != 0) return core::invalid_argument("Expected ", name, "[", k, "] to be a scalar, got shape: ", t.shape());
  return t.data<core::tstring>()[0].view();
}

inline core::Result<std::vector<std::string_view>> vector_keys(const core::Tensor& t, std::string_view name, size_t n) {
  if (t.rank() != 1) return core::invalid_argument("Expected ", name, " to be a vector, got shape: ", t.shape());
  if (t.num_elements() != int64_t(n)) return core::invalid_argument("Expected ", name, " to have ", n, " elements, got ", t.num_elements());
  std::vector<std::string_view> keys;
  for (const core::tstring& s : t.span<core::tstring>()) keys.push_back(s.view());
  return keys;
}

}  // namespace weft_engine::ops

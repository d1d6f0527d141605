// A tensor inside a variant: what SerializeSparse(out_type=variant) and friends hand around.
#pragma once

#include <memory>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

struct TensorVariant final : core::VariantObject {
  explicit TensorVariant(core::Tensor t) : tensor(std::move(t)) {}
  std::string type_name() const override { return "tensorflow::Tensor"; }
  core::Tensor tensor;
};

inline core::Variant wrap_tensor(core::Tensor t) { return core::Variant(std::make_shared<const TensorVariant>(std::move(t))); }
// Null if the variant holds something else.
inline const core::Tensor* unwrap_tensor(const core::Variant& v) {
  const auto* t = v.get<TensorVariant>();
  return t ? &t->tensor : nullptr;
}

}  // namespace weft_engine::op

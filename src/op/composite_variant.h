// CompositeTensorVariant: a composite tensor as a variant. The metadata is TensorFlow's serialized CompositeTensorVariantMetadata.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

struct CompositeTensorVariant final : core::VariantObject {
  std::string type_name() const override { return "CompositeTensorVariant"; }
  std::string metadata;
  std::vector<core::Tensor> components;
};

}  // namespace weft_engine::op

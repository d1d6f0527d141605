// TensorMap: what a variant made by the TensorMap ops holds: a map from tensors to tensors, as a value.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

class TensorMap final : public core::VariantObject {
 public:
  std::string type_name() const override { return "tensorflow::TensorMap"; }
  std::map<std::string, std::pair<core::Tensor, core::Tensor>> items;  // by the key's bytes: key and value
};

}  // namespace weft_engine::op

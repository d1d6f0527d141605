// Optional: what the Optional ops and dataset iterators pass on: some tensors, or nothing.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

class Optional final : public core::VariantObject {
 public:
  std::string type_name() const override { return "tensorflow::data::Optional"; }
  bool has_value = false;
  std::vector<core::Tensor> values;
};

}  // namespace weft_engine::op

// A ragged tensor inside a variant: flat values and the row splits of each ragged dimension, outermost first.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

struct RaggedTensorVariant final : core::VariantObject {
  std::string type_name() const override { return "RaggedTensorVariant"; }
  int ragged_rank() const { return int(splits.size()); }
  core::Tensor values;
  std::vector<core::Tensor> splits;
};

}  // namespace weft_engine::op

// TensorList: what a variant made by the TensorList ops holds. A value: an op that changes a list makes
// a new one; the tensors inside are shared.
#pragma once

#include <memory>
#include <vector>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::op {

class TensorList final : public core::VariantObject {
 public:
  std::string type_name() const override { return "tensorflow::TensorList"; }
  core::DType element_dtype = core::DType::kInvalid;
  core::PartialShape element_shape;
  int64_t max_num_elements = -1;        // -1: no bound
  std::vector<core::Tensor> tensors;    // one without a type is not initialised yet
};

}  // namespace weft_engine::op

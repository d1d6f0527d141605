// Tensors as the arrays of interpret() and back.
#pragma once

#include "core/tensor.h"
#include "tests/compiler/interpret.h"

namespace weft_engine::testing {

Array to_array(const core::Tensor& t);
core::Tensor to_tensor(const Array& a);
// The module's results by interpret(), or by compiled code; its error as a status with the message's text.
core::Result<std::vector<core::Tensor>> run(const ir::Module& m, const std::vector<core::Tensor>& parameters, const std::vector<int64_t>& symbols,
                                            bool compiled);

}  // namespace weft_engine::testing

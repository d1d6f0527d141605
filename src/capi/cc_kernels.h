// What belongs to an op that C++ sources register: kernels, which may come before it (static constructors of several files run in any order), and rules.
#pragma once

#include <string_view>

#include "op/op_spec.h"
#include "tensorflow/core/weft_abi.h"

namespace weft_engine::capi {

// Registers the kernels that waited for this op.
core::Status add_waiting_kernels(std::string_view op);
// Gradient and lowering, where the definition has them.
void set_rules(op::OpSpec& spec, const weft_op_def& def);

}  // namespace weft_engine::capi

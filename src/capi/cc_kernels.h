// What belongs to an op that C++ sources register: kernels, which may come before it (static constructors of several files run in any order), and rules.
#pragma once

#include <string_view>

#include "core/status.h"
#include "op/kernel.h"
#include "op/op_spec.h"
#include "tensorflow/core/weft_abi.h"

// While a kernel is made.
struct weft_construction {
  const weft_engine::op::NodeInfo& node;
  std::string_view device_type;
  weft_engine::core::Status status;
};

namespace weft_engine::capi {

// Registers the kernels that waited for this op.
core::Status add_waiting_kernels(std::string_view op);
// Gradient and lowering, where the definition has them.
void set_rules(op::OpSpec& spec, const weft_op_def& def);
// The object of a kernel that C++ sources registered, which is the caller's from then on: the kernel itself runs no more. Null for any other kernel.
void* take_object(op::Kernel& kernel);

}  // namespace weft_engine::capi

// Updates of parts of a variable in compiled code; shared by resource and reference variables.
#pragma once

#include "op/lower.h"

namespace weft_engine::ops {

// "ResourceScatterNdAdd", "ScatterMul" ...: how updates are combined.
ir::Reduce scatter_reduce(std::string_view op);
// The new value of a variable; null and an error if shapes do not fit.
ir::Value scatter_rows(op::LowerContext& l, ir::Value x, ir::Value indices, ir::Value updates, ir::Reduce reduce);
ir::Value scatter_nd(op::LowerContext& l, ir::Value x, ir::Value indices, ir::Value updates, ir::Reduce reduce);

}  // namespace weft_engine::ops

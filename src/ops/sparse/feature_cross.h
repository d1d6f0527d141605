// Feature crosses of columns that may be sparse, ragged or dense; SparseCross and RaggedCross share them.
#pragma once

#include "op/kernel.h"

namespace weft_engine::ops {

core::Status run_ragged_cross(op::KernelContext& c);

}  // namespace weft_engine::ops

// Kernels of C++ sources whose op comes later: static constructors of several files run in any order.
#pragma once

#include <string_view>

#include "core/status.h"

namespace weft_engine::capi {

// Registers the kernels that waited for this op.
core::Status add_waiting_kernels(std::string_view op);

}  // namespace weft_engine::capi

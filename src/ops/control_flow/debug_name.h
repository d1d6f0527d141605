// The tensor_name of the first debugger ops: "node" or "node:slot".
#pragma once

#include <string>

#include "core/status.h"

namespace weft_engine::ops {

core::Status check_debug_name(const std::string& name);

}  // namespace weft_engine::ops

// What a function computes, as a text that is the same whatever the function and those that it calls are named:
// names come from counters, and differ between two runs of the same program. Declared here, implemented by runtime/.
#pragma once

#include <atomic>
#include <string>

#include "op/attr_value.h"

namespace weft_engine::op {

class FunctionCaller;

using FunctionDescriber = Result<std::string> (*)(FunctionCaller& functions, const FunctionAttr& function);
inline std::atomic<FunctionDescriber> function_describer{nullptr};  // set when the engine is made

}  // namespace weft_engine::op

// A function of the context as a kernel, so that a call by name goes the way of every op.
#pragma once

#include <memory>

#include "eager/context.h"

namespace weft_engine::eager {

Result<std::unique_ptr<op::Kernel>> make_function_kernel(Context& context, const op::NodeInfo& node, Device* device);

}  // namespace weft_engine::eager

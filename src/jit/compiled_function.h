// The plan of a function that is compiled: machine code for each signature (shapes of arguments and variables) that it is called with.
#pragma once

#include <memory>

#include "runtime/executable.h"

namespace weft_engine::jit {

core::Result<std::unique_ptr<runtime::Executable>> compile_function(graph::FunctionBody body, const runtime::PlanContext& c,
                                                                    runtime::PlanMaker otherwise, bool must);

}  // namespace weft_engine::jit

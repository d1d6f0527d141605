// Functions on a GPU: compiled as a whole, where they can be.
#pragma once

#include "runtime/device_compiler.h"

namespace weft_engine::cuda {

// As runtime::DeviceCompiler.
std::unique_ptr<runtime::CompiledPlan> compile_function(const graph::FunctionBody& body, core::Device& device,
                                                        std::unique_ptr<runtime::Executable>& otherwise);

}  // namespace weft_engine::cuda

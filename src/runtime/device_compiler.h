// The seam to the compilers of devices with memory of their own (cuda/). Set by engine/.
#pragma once

#include "runtime/executable.h"

namespace weft_engine::runtime {

// A plan that makes plans for shapes itself.
class CompiledPlan : public Executable {};

// A plan for a body whose nodes are all on one such device. `body` is as it was written; `otherwise` runs it op by op where it cannot be compiled. Null: the device has no
// compiler for it, and `otherwise` is left as it is.
using DeviceCompiler = std::unique_ptr<CompiledPlan> (*)(const graph::FunctionBody& body, Device& device, std::unique_ptr<Executable>& otherwise);
void set_device_compiler(DeviceCompiler compiler);

}  // namespace weft_engine::runtime

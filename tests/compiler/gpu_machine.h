// Kernels without a GPU: the same code on this processor, one thread of a block after the other and all of them as far as their barriers.
#pragma once

#include <string>

#include "compiler/codegen.h"
#include "tests/compiler/interpret.h"

namespace weft_engine::testing {

struct GpuCall {
  std::vector<void*> parameters, results;
  std::vector<int64_t> symbols;
};
// The error word afterwards. Library calls are run by their own kernels: there is no library here.
core::Result<int32_t> run_on_gpu_machine(const compiler::Plan& plan, const compiler::GpuHostCode& code, const GpuCall& call);
// As run_compiled, by kernels.
core::Result<Interpreted> run_kernels(const ir::Module& m, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols);

// CUDA's assembler, if it is on this machine.
bool has_assembler();
// Empty, or what it says of the code; for chips of this architecture.
std::string assemble(const std::string& ptx, int sm);
// What a kernel must not have: calls of functions that are not in the module. Empty, or the first.
std::string unresolved(const std::string& ptx);

}  // namespace weft_engine::testing

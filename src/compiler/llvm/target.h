// The machine that code is for, and what LLVM does for it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <string>

#include "compiler/llvm/code_emitter.h"

namespace weft_engine::compiler {

struct Machine {
  std::unique_ptr<llvm::TargetMachine> machine;
  Target target;
  std::string cpu, features;
};

// Does the work; an error where LLVM would have ended the process. What the work has made must then be left alone.
core::Status guarded(const std::function<core::Status()>& work);
core::Result<Machine> make_machine(const CodegenOptions& options);
core::Result<Machine> make_gpu_machine(const GpuOptions& options);
// Marks functions for the machine and runs LLVM's optimisation, of which the rest is left out once `cancel_flag` is true.
void optimize(llvm::Module& m, Machine& machine, const std::atomic<bool>* cancel_flag);
core::Result<std::string> write_code(llvm::Module& m, Machine& machine, CodegenOptions::Emit what);
core::Result<std::unique_ptr<JitCode>> load_code(const std::string& object, Machine& machine, const std::string& symbol, bool fails_late);
core::Result<std::unique_ptr<GpuHostCode>> load_kernels(const std::string& object, Machine& machine, GpuCode code);

}  // namespace weft_engine::compiler

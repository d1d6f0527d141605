// The one symbol of libweft_jit.so.
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>

#include "compiler/llvm/code_emitter.h"
#include "compiler/llvm/target.h"

namespace weft_engine::compiler {
namespace {

// Remarks about loops that were not vectorised are no one's business.
struct Quiet : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return true; }
};

core::Result<std::string> write(llvm::LLVMContext& context, llvm::Module& module, std::span<const CodeUnit> code, std::span<const DataUnit> data,
                                const CodegenOptions& options, Machine& machine) {
  context.setDiagnosticHandler(std::make_unique<Quiet>());
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(machine.machine->getTargetTriple());
#else
  module.setTargetTriple(machine.machine->getTargetTriple().str());
#endif
  module.setDataLayout(machine.machine->createDataLayout());
  // Equal constants become one in LLVM's passes.
  for (const DataUnit& d : data) {
    llvm::Constant* bytes =
        llvm::ConstantDataArray::getRaw(llvm::StringRef(static_cast<const char*>(d.bytes), d.size), d.size, llvm::Type::getInt8Ty(context));
    auto* g = new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::ExternalLinkage, bytes, d.symbol);
    g->setAlignment(llvm::Align(64));
  }
  for (const CodeUnit& c : code) {
    CodeEmitter emitter(module, *c.plan, machine.target, options, c.symbol);
    WEFT_RETURN_IF_ERROR(emitter.run());
  }
  if (std::getenv("WEFT_JIT_DUMP")) module.print(llvm::errs(), nullptr);  // as written, before LLVM's passes
  std::string problems;
  llvm::raw_string_ostream out(problems);
  if (llvm::verifyModule(module, &out)) {
    out.flush();
    return core::internal_error("the code generator wrote LLVM IR that does not hold: ", problems.substr(0, 2000));
  }
  optimize(module, machine);
  return write_code(module, machine, options.emit);
}

core::Result<std::string> write(std::span<const CodeUnit> code, std::span<const DataUnit> data, const CodegenOptions& options,
                                std::unique_ptr<Machine>& machine) {
  // All on the heap: if LLVM gives up in the middle, nothing of it can be destroyed.
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(code.empty() ? "weft" : code[0].plan->module->name, *context);
  auto result = std::make_unique<core::Result<std::string>>(std::string());
  bool finished = false;
  const core::Status status = guarded([&]() -> core::Status {
    *result = write(*context, *module, code, data, options, *machine);
    finished = true;
    return {};
  });
  if (finished) return std::move(*result);
  (void)result.release();
  (void)module.release();
  (void)context.release();
  (void)machine.release();
  return status;
}

core::Result<std::string> emit(std::span<const CodeUnit> code, std::span<const DataUnit> data, const CodegenOptions& options) {
  WEFT_ASSIGN(Machine made, make_machine(options));
  auto machine = std::make_unique<Machine>(std::move(made));
  return write(code, data, options, machine);
}

core::Result<std::unique_ptr<JitCode>> jit(const Plan& plan, const CodegenOptions& given) {
  CodegenOptions options = given;
  options.emit = CodegenOptions::Emit::kObject;
  WEFT_ASSIGN(Machine made, make_machine(options));
  auto machine = std::make_unique<Machine>(std::move(made));
  const CodeUnit unit{&plan, "weft_entry"};
  WEFT_ASSIGN(const std::string object, write(std::span(&unit, 1), {}, options, machine));
  return load_code(object, *machine, unit.symbol);
}

}  // namespace
}  // namespace weft_engine::compiler

extern "C" __attribute__((visibility("default"))) const weft_engine::compiler::CodegenApi* weft_codegen_api() {
  static const weft_engine::compiler::CodegenApi api{weft_engine::compiler::kCodegenLayout, weft_engine::compiler::emit, weft_engine::compiler::jit};
  return &api;
}

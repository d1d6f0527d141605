// The one symbol of libweft_jit.so.
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>

#include "compiler/llvm/code_emitter.h"
#include "compiler/llvm/gpu_emitter.h"
#include "compiler/llvm/no_destructors.h"
#include "compiler/llvm/target.h"
#include "core/disk_cache.h"

namespace weft_engine::compiler {
namespace {

// Remarks about loops that were not vectorised are no one's business.
struct Quiet : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return true; }
};

void begin(llvm::LLVMContext& context, llvm::Module& module, Machine& machine) {
  context.setDiagnosticHandler(std::make_unique<Quiet>());
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(machine.machine->getTargetTriple());
#else
  module.setTargetTriple(machine.machine->getTargetTriple().str());
#endif
  module.setDataLayout(machine.machine->createDataLayout());
}

// LLVM's passes, and the code that they leave.
core::Result<std::string> finish(llvm::Module& module, Machine& machine, CodegenOptions::Emit what, const std::atomic<bool>* cancel_flag = nullptr) {
  if (std::getenv("WEFT_JIT_DUMP")) module.print(llvm::errs(), nullptr);  // as written, before LLVM's passes
  std::string problems;
  llvm::raw_string_ostream out(problems);
  if (llvm::verifyModule(module, &out)) {
    out.flush();
    return core::internal_error("the code generator wrote LLVM IR that does not hold: ", problems.substr(0, 2000));
  }
  optimize(module, machine, cancel_flag);
  if (cancel_flag && cancel_flag->load()) return core::cancelled("the compiler was told to stop");
  return write_code(module, machine, what);
}

core::Result<std::string> write(llvm::Module& module, std::span<const CodeUnit> code, std::span<const DataUnit> data, const CodegenOptions& options,
                                Machine& machine) {
  // Equal constants become one in LLVM's passes.
  for (const DataUnit& d : data) {
    llvm::Constant* bytes = llvm::ConstantDataArray::getRaw(llvm::StringRef(static_cast<const char*>(d.bytes), d.size), d.size,
                                                            llvm::Type::getInt8Ty(module.getContext()));
    auto* g = new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::ExternalLinkage, bytes, d.symbol);
    g->setAlignment(llvm::Align(64));
  }
  for (const CodeUnit& c : code) {
    CodeEmitter emitter(module, *c.plan, machine.target, options, c.symbol);
    WEFT_RETURN_IF_ERROR(emitter.run());
  }
  return finish(module, machine, options.emit);
}

// All of LLVM's on the heap: if it gives up in the middle, nothing of it can be destroyed.
core::Result<std::string> guarded_module(const std::string& name, std::unique_ptr<Machine>& machine,
                                         const std::function<core::Result<std::string>(llvm::Module&, Machine&)>& work) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(name, *context);
  auto result = std::make_unique<core::Result<std::string>>(std::string());
  bool finished = false;
  const core::Status status = guarded([&]() -> core::Status {
    begin(*context, *module, *machine);
    *result = work(*module, *machine);
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

core::Result<std::string> write(std::span<const CodeUnit> code, std::span<const DataUnit> data, const CodegenOptions& options,
                                std::unique_ptr<Machine>& machine) {
  return guarded_module(code.empty() ? "weft" : code[0].plan->module->name, machine,
                        [&](llvm::Module& module, Machine& m) { return write(module, code, data, options, m); });
}

core::Result<std::string> emit(std::span<const CodeUnit> code, std::span<const DataUnit> data, const CodegenOptions& options) {
  WEFT_ASSIGN(Machine made, make_machine(options));
  auto machine = std::make_unique<Machine>(std::move(made));
  return write(code, data, options, machine);
}

// All that the code depends on, beside the build of weft: the module as it was written, LLVM and the processor.
std::string cache_key(llvm::Module& module, const Machine& machine, const char* what) {
  module.setSourceFileName("");
  module.setModuleIdentifier("");
  std::string key =
      core::cat(what, "\n", LLVM_VERSION_STRING, "\n", machine.machine->getTargetTriple().str(), "\n", machine.cpu, "\n", machine.features, "\n");
  llvm::raw_string_ostream out(key);
  llvm::WriteBitcodeToFile(module, out);
  out.flush();
  return key;
}

core::Result<std::unique_ptr<JitCode>> jit(const Plan& plan, const CodegenOptions& given) {
  CodegenOptions options = given;
  options.emit = CodegenOptions::Emit::kObject;
  const std::string symbol = "weft_entry";
  for (core::DiskCache* cache = core::DiskCache::of_process();; cache = nullptr) {
    WEFT_ASSIGN(Machine made, make_machine(options));
    auto machine = std::make_unique<Machine>(std::move(made));
    bool fails_late = false, found = false;
    WEFT_ASSIGN(const std::string object, guarded_module(
                                              "weft", machine,
                                              [&](llvm::Module& module, Machine& m) -> core::Result<std::string> {
                                                CodeEmitter emitter(module, plan, m.target, options, symbol);
                                                WEFT_RETURN_IF_ERROR(emitter.run());
                                                fails_late = emitter.fails_late();
                                                const std::string key = cache ? cache_key(module, m, "object") : "";
                                                if (auto kept = cache ? cache->find(key) : std::nullopt) {
                                                  found = true;
                                                  return *std::move(kept);
                                                }
                                                WEFT_ASSIGN(std::string code, finish(module, m, options.emit, options.cancel_flag));
                                                if (cache) cache->put(key, code);
                                                return code;
                                              }));
    auto loaded = load_code(object, *machine, symbol, fails_late);
    if (loaded.ok() || !found) return loaded;  // what was kept and cannot be loaded is made again
  }
}

// Kernels: PTX, which is kept on disk, or an object for this processor.
core::Result<std::string> write_kernels(const Plan& plan, std::unique_ptr<Machine>& machine, CodegenOptions::Emit what, GpuCode& code) {
  return guarded_module(plan.module->name, machine, [&](llvm::Module& module, Machine& m) -> core::Result<std::string> {
    GpuEmitter emitter(module, plan, m.target);
    WEFT_RETURN_IF_ERROR(emitter.run());
    code = std::move(emitter.code);
    core::DiskCache* const cache = what == CodegenOptions::Emit::kAssembly ? core::DiskCache::of_process() : nullptr;
    const std::string key = cache ? cache_key(module, m, "PTX") : "";
    if (auto kept = cache ? cache->find(key) : std::nullopt) return *std::move(kept);
    WEFT_ASSIGN(std::string text, finish(module, m, what));
    if (cache) cache->put(key, text);
    return text;
  });
}

core::Result<GpuCode> gpu(const Plan& plan, const GpuOptions& options) {
  WEFT_ASSIGN(Machine made, make_gpu_machine(options));
  auto machine = std::make_unique<Machine>(std::move(made));
  GpuCode code;
  WEFT_ASSIGN(code.ptx, write_kernels(plan, machine, CodegenOptions::Emit::kAssembly, code));
  return code;
}

core::Result<std::unique_ptr<GpuHostCode>> gpu_on_host(const Plan& plan) {
  WEFT_ASSIGN(Machine made, make_machine(CodegenOptions()));
  auto machine = std::make_unique<Machine>(std::move(made));
  machine->target.gpu = true;
  GpuCode code;
  WEFT_ASSIGN(const std::string object, write_kernels(plan, machine, CodegenOptions::Emit::kObject, code));
  return load_kernels(object, *machine, std::move(code));
}

}  // namespace
}  // namespace weft_engine::compiler

extern "C" __attribute__((visibility("default"))) const weft_engine::compiler::CodegenApi* weft_codegen_api() {
  using namespace weft_engine::compiler;
  static const CodegenApi api{kCodegenLayout, emit, jit, gpu, gpu_on_host, destroyed_at_exit()};
  return &api;
}

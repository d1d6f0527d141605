#include "compiler/llvm/target.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/ConstantMerge.h>
#include <llvm/Transforms/IPO/DeadArgumentElimination.h>
#include <llvm/Transforms/IPO/FunctionAttrs.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/MergeFunctions.h>
#include <llvm/Transforms/IPO/SCCP.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#if __has_include(<llvm/Transforms/Scalar/InferAlignment.h>)
#include <llvm/Transforms/Scalar/InferAlignment.h>
#endif
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#if __has_include(<llvm/TargetParser/Host.h>)
#include <llvm/TargetParser/Host.h>
#else
#include <llvm/Support/Host.h>
#endif

#include <csetjmp>
#include <mutex>

#include "core/call_depth.h"

namespace weft_engine::compiler {
namespace {

// LLVM ends the process when it finds that it cannot go on. Here the compilation ends instead: what it has allocated is lost.
thread_local std::jmp_buf* rescue = nullptr;
thread_local std::string* reason = nullptr;

void fatal(void*, const char* text, bool) {
  if (!rescue) return;  // not ours
  *reason = text;
  std::longjmp(*rescue, 1);
}

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
#ifdef WEFT_STATIC_LLVM  // those that are linked in: CMakeLists.txt
    LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target(), LLVMInitializeX86TargetMC(), LLVMInitializeX86AsmPrinter(),
        LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo(), LLVMInitializeAArch64Target(), LLVMInitializeAArch64TargetMC(), LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeNVPTXTargetInfo(), LLVMInitializeNVPTXTarget(), LLVMInitializeNVPTXTargetMC(), LLVMInitializeNVPTXAsmPrinter();
#else
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
#endif
    llvm::install_fatal_error_handler(fatal);
  });
}

bool has(const llvm::MCSubtargetInfo& s, const char* feature) { return s.checkFeatures(feature); }

std::string known_architectures() {
  std::string names;
  for (const llvm::Target& t : llvm::TargetRegistry::targets()) names += (names.empty() ? "" : ", ") + std::string(t.getName());
  return names;
}

// What loops over arrays need of -O2: it is half of that one's time. Steps that do the same are one function, before anything else is done to
// them.
llvm::ModulePassManager pipeline() {
  llvm::FunctionPassManager f;
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  f.addPass(llvm::LoopVectorizePass());
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2)));
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::ADCEPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::MergeFunctionsPass());
  all.addPass(llvm::IPSCCPPass());  // sizes that all callers agree on
  all.addPass(llvm::DeadArgumentEliminationPass());
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  all.addPass(llvm::GlobalDCEPass());
  all.addPass(llvm::ConstantMergePass());
  return all;
}

// Of kernels: no vectors, but short numbers where they are enough, and what the driver's compiler would not see: memory that is only read.
llvm::ModulePassManager gpu_pipeline() {
  llvm::FunctionPassManager f;
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::CorrelatedValuePropagationPass());
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  f.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2)));
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::ADCEPass());
#if LLVM_VERSION_MAJOR >= 18
  f.addPass(llvm::InferAlignmentPass());  // so that reads and writes side by side become one
#endif
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  all.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::PostOrderFunctionAttrsPass()));
  all.addPass(llvm::GlobalDCEPass());
  all.addPass(llvm::ConstantMergePass());
  return all;
}

}  // namespace

static core::Status guarded_here(const std::function<core::Status()>& work) {
  std::jmp_buf place;
  std::string text;
  std::jmp_buf* const outer = rescue;
  std::string* const outer_reason = reason;
  rescue = &place;
  reason = &text;
  core::Status status;
  if (setjmp(place) == 0) status = work();
  else status = core::internal_error("LLVM cannot compile this: ", text.substr(0, 500));
  rescue = outer;
  reason = outer_reason;
  return status;
}

core::Status guarded(const std::function<core::Status()>& work) {
  return core::with_large_stack([&] { return guarded_here(work); });
}

core::Result<Machine> make_machine(const CodegenOptions& options) {
  initialize();
  Machine m;
  const std::string host = llvm::sys::getDefaultTargetTriple();
  const std::string triple = llvm::Triple::normalize(options.triple.empty() ? host : options.triple);
  std::string error;
  const llvm::Target* t = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!t) {
    return core::invalid_argument("unknown target triple '", options.triple, "'; expected something like ", host,
                                  " or aarch64-linux-gnu, with one of these architectures: ", known_architectures());
  }
  const bool native = options.cpu == "native" || (options.cpu.empty() && options.triple.empty());
  if (native && llvm::Triple(triple).getArch() != llvm::Triple(host).getArch()) {
    return core::invalid_argument("cpu 'native' is of this machine (", host, "), not of target '", triple, "'");
  }
  if (native) {
    m.cpu = llvm::sys::getHostCPUName().str();
#if LLVM_VERSION_MAJOR >= 19
    const llvm::StringMap<bool> all = llvm::sys::getHostCPUFeatures();
#else
    llvm::StringMap<bool> all;
    llvm::sys::getHostCPUFeatures(all);
#endif
    for (const auto& f : all) m.features += (m.features.empty() ? "" : ",") + std::string(f.getValue() ? "+" : "-") + f.getKey().str();
  } else {
    m.cpu = !options.cpu.empty() ? options.cpu : llvm::Triple(triple).isX86() ? "x86-64-v3" : "generic";
  }
  // Gathers are no faster than loads one by one on most processors, and LLVM 19 cannot select some of them.
  if (llvm::Triple(triple).isX86()) m.features += std::string(m.features.empty() ? "" : ",") + "+prefer-no-gather,+prefer-no-scatter";
  if (!options.features.empty()) m.features += (m.features.empty() ? "" : ",") + options.features;

  // Unknown names would only be warned of on stderr.
  const std::unique_ptr<llvm::MCSubtargetInfo> plain(t->createMCSubtargetInfo(triple, "", ""));
  if (!plain) return core::invalid_argument("target '", triple, "' cannot be compiled for");
  if (!native && !plain->isCPUStringValid(m.cpu)) {
    std::string names;
    for (const auto& d : plain->getAllProcessorDescriptions()) {
      if (names.size() < 900) names += (names.empty() ? "" : ", ") + std::string(d.Key);
    }
    return core::invalid_argument("unknown cpu '", m.cpu, "' for ", triple, "; known: native, ", names, names.size() >= 900 ? ", ..." : "");
  }
  std::string given = options.features;
  for (size_t at = 0; at < given.size();) {
    const size_t end = std::min(given.find(',', at), given.size());
    const std::string f = given.substr(at, end - at);
    at = end + 1;
    const bool sign = !f.empty() && (f[0] == '+' || f[0] == '-');
    bool known = false;
    std::string names;
    for (const auto& d : plain->getAllProcessorFeatures()) {
      known = known || (sign && f.substr(1) == d.Key);
      if (names.size() < 900) names += (names.empty() ? "" : ", ") + std::string(d.Key);
    }
    if (!known)
      return core::invalid_argument("unknown feature '", f, "' for ", triple, "; features are written +name or -name, with names such as ", names,
                                    ", ...");
  }

  llvm::TargetOptions o;
  o.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // where the code allows it
#if LLVM_VERSION_MAJOR >= 18
  const auto level = llvm::CodeGenOptLevel::Default;
#else
  const auto level = llvm::CodeGenOpt::Default;
#endif
  m.machine.reset(t->createTargetMachine(triple, m.cpu, m.features, o, llvm::Reloc::PIC_, std::nullopt, level));
  if (!m.machine) return core::invalid_argument("target '", triple, "' cannot be compiled for");
  const llvm::MCSubtargetInfo& s = *m.machine->getMCSubtargetInfo();
  const llvm::Triple parsed(triple);
  if (parsed.isX86()) {
    const bool wide = has(s, "+avx512f,+avx512vl,+avx512bw,+avx512dq");
    m.target.vector_bytes = wide ? 64 : has(s, "+avx2") || has(s, "+avx") ? 32 : 16;
    m.target.vector_registers = wide ? 32 : 16;
    m.target.fma = has(s, "+fma");
  } else {
    m.target.vector_bytes = 16;
    m.target.vector_registers = 32;
    m.target.fma = parsed.isAArch64();
  }
  return m;
}

core::Result<Machine> make_gpu_machine(const GpuOptions& options) {
  initialize();
  Machine m;
  const std::string triple = "nvptx64-nvidia-cuda";
  std::string error;
  const llvm::Target* t = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!t) return core::failed_precondition("this LLVM has no NVPTX: no code for GPUs");
  m.cpu = core::cat("sm_", options.sm);
  m.features = core::cat("+ptx", options.ptx_version);
  const std::unique_ptr<llvm::MCSubtargetInfo> plain(t->createMCSubtargetInfo(triple, "", ""));
  if (!plain || !plain->isCPUStringValid(m.cpu)) return core::invalid_argument("LLVM does not know the GPU architecture '", m.cpu, "'");
  bool known = false;
  for (const auto& d : plain->getAllProcessorFeatures()) known = known || m.features.substr(1) == d.Key;
  if (!known) return core::invalid_argument("LLVM does not know PTX version ", options.ptx_version / 10, ".", options.ptx_version % 10);
  llvm::TargetOptions o;
  o.AllowFPOpFusion = llvm::FPOpFusion::Standard;
#if LLVM_VERSION_MAJOR >= 18
  const auto level = llvm::CodeGenOptLevel::Default;
#else
  const auto level = llvm::CodeGenOpt::Default;
#endif
  m.machine.reset(t->createTargetMachine(triple, m.cpu, m.features, o, std::nullopt, std::nullopt, level));
  if (!m.machine) return core::failed_precondition("this LLVM cannot compile for GPUs");
  m.target.vector_bytes = 16, m.target.vector_registers = 32, m.target.fma = true, m.target.gpu = true, m.target.ptx = true;
  return m;
}

void optimize(llvm::Module& m, Machine& machine, const std::atomic<bool>* cancel_flag) {
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", machine.cpu);
    if (!machine.features.empty()) f.addFnAttr("target-features", machine.features);
    f.addFnAttr("no-trapping-math", "true");
    if (machine.target.vector_bytes == 64 && !machine.target.gpu) {
      f.addFnAttr("prefer-vector-width", "512");
      f.addFnAttr("min-legal-vector-width", "512");
    }
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  if (cancel_flag) callbacks.registerShouldRunOptionalPassCallback([cancel_flag](llvm::StringRef, llvm::Any) { return !cancel_flag->load(); });
  llvm::PassBuilder builder(machine.machine.get(), llvm::PipelineTuningOptions(), {}, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  (machine.target.gpu ? gpu_pipeline() : pipeline()).run(m, modules);
}

core::Result<std::string> write_code(llvm::Module& m, Machine& machine, CodegenOptions::Emit what) {
  if (what == CodegenOptions::Emit::kLlvm) {
    std::string text;
    llvm::raw_string_ostream out(text);
    m.print(out, nullptr);
    return text;
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
#if LLVM_VERSION_MAJOR >= 18
  const auto kind = what == CodegenOptions::Emit::kObject ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
#else
  const auto kind = what == CodegenOptions::Emit::kObject ? llvm::CGFT_ObjectFile : llvm::CGFT_AssemblyFile;
#endif
  if (machine.machine->addPassesToEmitFile(passes, out, nullptr, kind))
    return core::invalid_argument("target ", m.getTargetTriple(), " has no such output");
  passes.run(m);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace weft_engine::compiler

// Compiled objects in this process.
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "compiler/llvm/target.h"

namespace weft_engine::compiler {
namespace {

class Loaded : public JitCode {
 public:
  Loaded(std::unique_ptr<llvm::orc::LLJIT> jit, Entry entry, size_t bytes, bool fails_late)
      : jit_(std::move(jit)), entry_(entry), bytes_(bytes), fails_late_(fails_late) {}
  Entry entry() const override { return entry_; }
  size_t bytes() const override { return bytes_; }
  bool fails_late() const override { return fails_late_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Entry entry_;
  size_t bytes_;
  bool fails_late_;
};

core::Status problem(llvm::Error error) { return core::internal_error("loading compiled code: ", llvm::toString(std::move(error))); }

// What generated code may call, by address: the process need not show libm to the loader.
struct Symbol {
  const char* name;
  void* address;
};
#define WEFT_MATH1(n) \
  {#n, reinterpret_cast<void*>(static_cast<double (*)(double)>(::n))}, { #n "f", reinterpret_cast<void*>(static_cast<float (*)(float)>(::n##f)) }
#define WEFT_MATH2(n)                                                             \
  {#n, reinterpret_cast<void*>(static_cast<double (*)(double, double)>(::n))}, {  \
    #n "f", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(::n##f)) \
  }
const Symbol kSymbols[] = {
    WEFT_MATH1(exp),
    WEFT_MATH1(exp2),
    WEFT_MATH1(expm1),
    WEFT_MATH1(log),
    WEFT_MATH1(log2),
    WEFT_MATH1(log10),
    WEFT_MATH1(log1p),
    WEFT_MATH1(sin),
    WEFT_MATH1(cos),
    WEFT_MATH1(tan),
    WEFT_MATH1(asin),
    WEFT_MATH1(acos),
    WEFT_MATH1(atan),
    WEFT_MATH1(sinh),
    WEFT_MATH1(cosh),
    WEFT_MATH1(tanh),
    WEFT_MATH1(asinh),
    WEFT_MATH1(acosh),
    WEFT_MATH1(atanh),
    WEFT_MATH1(erf),
    WEFT_MATH1(erfc),
    WEFT_MATH1(lgamma),
    WEFT_MATH1(floor),
    WEFT_MATH1(ceil),
    WEFT_MATH1(trunc),
    WEFT_MATH1(rint),
    WEFT_MATH1(round),
    WEFT_MATH1(sqrt),
    WEFT_MATH1(cbrt),
    WEFT_MATH2(pow),
    WEFT_MATH2(atan2),
    WEFT_MATH2(fmod),
    WEFT_MATH2(fmin),
    WEFT_MATH2(fmax),
    {"sincos", reinterpret_cast<void*>(::sincos)},
    {"sincosf", reinterpret_cast<void*>(::sincosf)},
    {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(::fma))},
    {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(::fmaf))},
    {"ldexp", reinterpret_cast<void*>(static_cast<double (*)(double, int)>(::ldexp))},
    {"ldexpf", reinterpret_cast<void*>(static_cast<float (*)(float, int)>(::ldexpf))},
    {"memcpy", reinterpret_cast<void*>(static_cast<void* (*)(void*, const void*, size_t)>(::memcpy))},
    {"memmove", reinterpret_cast<void*>(static_cast<void* (*)(void*, const void*, size_t)>(::memmove))},
    {"memset", reinterpret_cast<void*>(static_cast<void* (*)(void*, int, size_t)>(::memset))},
    {"memcmp", reinterpret_cast<void*>(static_cast<int (*)(const void*, const void*, size_t)>(::memcmp))},
};

class LoadedKernels : public GpuHostCode {
 public:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unordered_map<std::string, GpuHostKernel> kernels;
  GpuHostKernel kernel(const std::string& entry) const override {
    const auto it = kernels.find(entry);
    return it == kernels.end() ? nullptr : it->second;
  }
};

core::Result<std::unique_ptr<llvm::orc::LLJIT>> load(const std::string& object, Machine& machine, const std::string& name) {
  llvm::orc::JITTargetMachineBuilder builder(machine.machine->getTargetTriple());
  auto made = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!made) return problem(made.takeError());
  std::unique_ptr<llvm::orc::LLJIT> jit = std::move(*made);
  llvm::orc::SymbolMap known;
  for (const Symbol& s : kSymbols) {
#if LLVM_VERSION_MAJOR >= 17
    known[jit->mangleAndIntern(s.name)] = {llvm::orc::ExecutorAddr::fromPtr(s.address), llvm::JITSymbolFlags::Exported};
#else
    known[jit->mangleAndIntern(s.name)] = llvm::JITEvaluatedSymbol(llvm::pointerToJITTargetAddress(s.address), llvm::JITSymbolFlags::Exported);
#endif
  }
  llvm::orc::JITDylib& library = jit->getMainJITDylib();
  if (auto e = library.define(llvm::orc::absoluteSymbols(std::move(known)))) return problem(std::move(e));
  // Whatever else the code generator thought of (half conversions of old processors).
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix());
  if (!process) return problem(process.takeError());
  library.addGenerator(std::move(*process));
  if (auto e = jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, name))) return problem(std::move(e));
  return jit;
}

}  // namespace

core::Result<std::unique_ptr<JitCode>> load_code(const std::string& object, Machine& machine, const std::string& symbol, bool fails_late) {
  WEFT_ASSIGN(auto jit, load(object, machine, symbol));
  auto found = jit->lookup(symbol);
  if (!found) return problem(found.takeError());
  const Entry entry = found->toPtr<Entry>();
  return std::unique_ptr<JitCode>(std::make_unique<Loaded>(std::move(jit), entry, object.size(), fails_late));
}

core::Result<std::unique_ptr<GpuHostCode>> load_kernels(const std::string& object, Machine& machine, GpuCode code) {
  auto loaded = std::make_unique<LoadedKernels>();
  WEFT_ASSIGN(loaded->jit, load(object, machine, "kernels"));
  const std::function<core::Status(const std::vector<GpuLaunch>&)> all = [&](const std::vector<GpuLaunch>& launches) -> core::Status {
    for (const GpuLaunch& l : launches) {
      if (l.kind == GpuLaunch::Kind::kKernel) {
        auto found = loaded->jit->lookup(l.entry);
        if (!found) return problem(found.takeError());
        loaded->kernels[l.entry] = found->toPtr<GpuHostKernel>();
      }
      for (const auto& r : l.regions) WEFT_RETURN_IF_ERROR(all(r));
    }
    return {};
  };
  WEFT_RETURN_IF_ERROR(all(code.launches));
  loaded->code = std::move(code);
  return std::unique_ptr<GpuHostCode>(std::move(loaded));
}

}  // namespace weft_engine::compiler

// The one symbol of libweft_jit.so.
#include "compiler/codegen.h"

namespace weft::compiler {
namespace {

core::Result<std::string> emit(std::span<const CodeUnit>, std::span<const DataUnit>, const CodegenOptions&) { return core::unimplemented("code"); }
core::Result<std::unique_ptr<JitCode>> jit(const Plan&, const CodegenOptions&) { return core::unimplemented("code"); }

}  // namespace
}  // namespace weft::compiler

extern "C" __attribute__((visibility("default"))) const weft::compiler::CodegenApi* weft_codegen_api() {
  static const weft::compiler::CodegenApi api{weft::compiler::emit, weft::compiler::jit};
  return &api;
}

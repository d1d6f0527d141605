#include "compiler/codegen.h"

#include "core/companion.h"

namespace weft_engine::compiler {
namespace {

using Get = const CodegenApi* (*)();

core::Result<const CodegenApi*> load() {
  WEFT_ASSIGN(void* get,
              core::load_companion(
                  {"libweft_jit.so", "WEFT_JIT_LIBRARY", kCodegenSymbol, "the compiler", "LLVM", true}, reinterpret_cast<const void*>(&codegen),
                  [](void* symbol) -> std::string {
                    if (reinterpret_cast<Get>(symbol)()->layout == kCodegenLayout) return {};
                    return "it belongs to another build of weft";
                  }));
  return reinterpret_cast<Get>(get)();
}

}  // namespace

core::Result<const CodegenApi*> codegen() {
  static const auto& api = *new core::Result<const CodegenApi*>(load());
  return api;
}

}  // namespace weft_engine::compiler

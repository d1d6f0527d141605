#include "compiler/codegen.h"

#include <dlfcn.h>

#include <cstdlib>

namespace weft::compiler {
namespace {

// Beside the library or program that holds this function, then wherever the loader looks; WEFT_JIT_LIBRARY names another.
core::Result<const CodegenApi*> load() {
  constexpr char kName[] = "libweft_jit.so";
  std::vector<std::string> places;
  if (const char* given = std::getenv("WEFT_JIT_LIBRARY")) {
    places.push_back(given);
  } else {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&codegen), &info) && info.dli_fname) {
      const std::string self = info.dli_fname;
      const size_t slash = self.rfind('/');
      if (slash != std::string::npos) places.push_back(self.substr(0, slash + 1) + kName);
    }
    places.push_back(kName);
  }
  std::string errors;
  for (const std::string& place : places) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      errors += core::cat("\n  ", place, ": ", dlerror());
      continue;
    }
    using Get = const CodegenApi* (*)();
    const auto get = reinterpret_cast<Get>(dlsym(library, kCodegenSymbol));
    if (!get) {
      errors += core::cat("\n  ", place, ": it is not weft's code generator");
      continue;
    }
    if (get()->layout == kCodegenLayout) return get();
    errors += core::cat("\n  ", place, ": it belongs to another build of weft");
  }
  return core::not_found("the compiler needs libweft_jit.so, which could not be loaded (is it installed, and LLVM with it?). Tried:", errors);
}

}  // namespace

core::Result<const CodegenApi*> codegen() {
  static const core::Result<const CodegenApi*> api = load();
  return api;
}

}  // namespace weft::compiler

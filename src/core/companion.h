// Companion libraries: parts of weft with heavy dependencies (LLVM, gRPC) that are loaded when they are first needed.
#pragma once

#include "core/status.h"

namespace weft_engine::core {

struct CompanionLibrary {
  const char* name;      // "libweft_jit.so"
  const char* variable;  // of the environment: names another file
  const char* symbol;    // the function that gives its interface
  const char* purpose;   // "the compiler"
  const char* needs;     // "LLVM"
  bool own_symbols_first = false;  // where can_bind_deep()
};

// Whether a library can find symbols in itself and in what it needs before those of the process. Not so where the process has a malloc or operator new of its own:
// the library would free with libc's what the process allocated. Sanitizers are such.
bool can_bind_deep();

// The address of the symbol in the library beside the one that holds `self` (any function of the caller's), or where the loader looks.
// `accept` says what is wrong with the symbol, or nothing. NotFound lists what was tried.
Result<void*> load_companion(const CompanionLibrary& library, const void* self, std::string (*accept)(void* symbol));

}  // namespace weft_engine::core

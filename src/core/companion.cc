#include "core/companion.h"

#include <dlfcn.h>

#include <cstdlib>

namespace weft_engine::core {
namespace {

const void* library_of(const char* symbol) {
  Dl_info info;
  void* address = dlsym(RTLD_DEFAULT, symbol);
  return address && dladdr(address, &info) ? info.dli_fbase : nullptr;
}

}  // namespace

bool can_bind_deep() {
#if defined(RTLD_DEEPBIND)
  static const bool can = [] {
    const auto beside = [](const char* symbol, const char* other) { return library_of(symbol) == library_of(other); };
    return beside("malloc", "gnu_get_libc_version") && beside("free", "gnu_get_libc_version") && beside("_Znwm", "__cxa_throw") &&
           beside("_ZdlPv", "__cxa_throw");
  }();
  return can;
#else
  return false;
#endif
}

Result<void*> load_companion(const CompanionLibrary& library, const void* self, std::string (*accept)(void* symbol)) {
  std::vector<std::string> places;
  if (const char* given = std::getenv(library.variable)) {
    places.push_back(given);
  } else {
    Dl_info info;
    if (dladdr(self, &info) && info.dli_fname) {
      const std::string file = info.dli_fname;
      const size_t slash = file.rfind('/');
      if (slash != std::string::npos) places.push_back(file.substr(0, slash + 1) + library.name);
    }
    places.push_back(library.name);
  }
  std::string errors;
  int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_DEEPBIND)
  if (library.own_symbols_first && can_bind_deep()) flags |= RTLD_DEEPBIND;
#endif
  for (const std::string& place : places) {
    void* handle = dlopen(place.c_str(), flags);
    if (!handle) {
      errors += cat("\n  ", place, ": ", dlerror());
      continue;
    }
    void* symbol = dlsym(handle, library.symbol);
    const std::string wrong = symbol ? accept(symbol) : cat("it has no ", library.symbol);
    if (wrong.empty()) return symbol;
    errors += cat("\n  ", place, ": ", wrong);
  }
  return not_found(library.purpose, " needs ", library.name, ", which could not be loaded (is it installed, and ", library.needs,
                   " with it?). Tried:", errors);
}

}  // namespace weft_engine::core

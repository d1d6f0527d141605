#include "core/companion.h"

#include <dlfcn.h>

#include <cstdlib>

namespace weft_engine::core {

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
  for (const std::string& place : places) {
    void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
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

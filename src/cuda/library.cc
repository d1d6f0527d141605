#include "cuda/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::Result;
using core::Status;

// site-packages, if this code is part of a Python package there.
std::string package_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&open_library), &info) || !info.dli_fname) return {};
  std::string folder = info.dli_fname;
  for (int up = 0; up < 2; ++up) {  // the file, then the package
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return {};
    folder.resize(slash);
  }
  return folder;
}

}  // namespace

Result<void*> open_library(const NvidiaLibrary& library) {
  std::vector<std::string> places;
  const char* given = library.variable ? std::getenv(library.variable) : nullptr;
  if (given && *given) {
    places.emplace_back(given);
  } else {
    for (const char* file : library.files) places.emplace_back(file);
    const std::string packages = package_folder();
    for (const char* file : library.files) {
      for (const char* wheel : library.wheels) {
        if (!packages.empty()) places.push_back(cat(packages, "/nvidia/", wheel, "/lib/", file));
      }
      places.push_back(cat("/usr/local/cuda/lib64/", file));
    }
  }
  std::string errors;
  for (const std::string& place : places) {
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    errors += cat("\n  ", dlerror());
  }
  return core::not_found(library.what, " could not be loaded: install ", library.install, ". Tried:", errors);
}

Status find_functions(void* library, const char* what, const std::vector<Function>& functions) {
  for (const Function& f : functions) {
    *f.place = dlsym(library, f.name);
    if (!*f.place && !f.optional) return core::not_found(what, " has no function ", f.name, ": it is too old");
  }
  return {};
}

}  // namespace weft_engine::cuda

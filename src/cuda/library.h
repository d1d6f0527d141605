// NVIDIA's libraries, opened when first used. None is there when weft is built: the functions are declared here, name by name.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"

namespace weft_engine::cuda {

struct NvidiaLibrary {
  const char* what;                 // "cuBLASLt"
  std::vector<const char*> files;   // "libcublasLt.so.13", newest first
  const char* variable;             // of the environment: names another file
  std::vector<const char*> wheels;  // folders of the nvidia-* wheels: "cublas"
  const char* install;              // what brings it
};

// Where the loader looks (the system, LD_LIBRARY_PATH), then the folders of the nvidia-* wheels beside this library or extension, then CUDA's own folder. NotFound
// says what to install, and what was tried.
core::Result<void*> open_library(const NvidiaLibrary& library);

// Fills a table of functions: each has a name and a place. NotFound names the first that the library does not have.
struct Function {
  const char* name;
  void** place;
  bool optional = false;
};
core::Status find_functions(void* library, const char* what, const std::vector<Function>& functions);

}  // namespace weft_engine::cuda

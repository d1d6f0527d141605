#include "cuda/driver.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cuda/library.h"

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::Result;
using core::Status;

constexpr char kVariable[] = "WEFT_CUDA_DRIVER";

Result<const Driver*> open_driver() {
  WEFT_ASSIGN(void* library, open_library({"the CUDA driver",
                                           {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"},
                                           kVariable,
                                           {},
                                           "NVIDIA's driver"}));
  auto* d = new Driver();  // for as long as the process lives
  std::vector<Function> functions;
#define WEFT_CUDA_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&d->name)});
  WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
#define WEFT_CUDA_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&d->name), true});
  WEFT_CUDA_NEWER_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
  functions.push_back({"weftHostFunction", reinterpret_cast<void**>(&d->host_function), true});
  WEFT_RETURN_IF_ERROR(find_functions(library, "the CUDA driver", functions));
  WEFT_CUDA_RETURN(*d, init(0), "starting the driver");
  return d;
}

}  // namespace

Status Driver::status(Error error, const char* what) const {
  if (error == kSuccess) return {};
  const char *name = nullptr, *text = nullptr;
  if (error_name(error, &name) || !name) name = "CUDA_ERROR";
  if (error_text(error, &text) || !text) text = "unknown error";
  const std::string message = cat(what, " failed: ", name, " (", error, "): ", text);
  return error == kOutOfMemory ? core::resource_exhausted(message) : error == kNoDevice ? core::not_found(message) : core::internal_error(message);
}

bool driver_available() {
  if (const char* given = std::getenv(kVariable)) return *given != 0;
  for (const char* file : {"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg", "/dev/nvhost-ctrl-gpu"}) {
    if (access(file, F_OK) == 0) return true;
  }
  return false;
}

Result<const Driver*> driver() {
  static const auto& opened = *new Result<const Driver*>(open_driver());
  return opened;
}

}  // namespace weft_engine::cuda

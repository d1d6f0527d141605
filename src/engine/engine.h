// Engine: the composition root. One per process, made on first use; it owns the registry of ops.
#pragma once

#include "op/registry.h"

namespace weft_engine::engine {

class Engine {
 public:
  static Engine& get();
  op::Registry& registry() { return registry_; }

  // dlopens a library, which may register ops and kernels through the C API as it loads.
  // Returns the handle of the system and the serialized OpList of what it added.
  struct LoadedLibrary {
    void* handle = nullptr;
    std::string op_list;
  };
  core::Result<LoadedLibrary> load_library(const std::string& path);

  // Of the process: no more threads than that for one dataset; 0: as many as the machine makes useful.
  void limit_dataset_threads(int threads);
  // Of GPUs that are not in use yet: see cuda/device.h.
  core::Status limit_gpu_memory(double fraction);

 private:
  Engine();
  op::Registry registry_;
};

}  // namespace weft_engine::engine

// What the engine knows of ops and kernels, and libraries that add to it.
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "capi/internal.h"
#include "capi/pluggable_device.h"
#include "io/op_def.h"
#include "op/op_traits.h"
#include "op/summary.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/core/weft_abi.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::engine::Engine;

const char* TF_Version() { return "2.21.0"; }

TF_Buffer* TF_GetAllOpList() {
  return guard_pointer<TF_Buffer>([] {
    auto specs = Engine::get().registry().all();
    std::erase_if(specs, [](const auto* spec) { return spec->traits().python_only; });
    return new_buffer(weft_engine::io::encode_op_list(specs));
  });
}

TF_Buffer* weft_registry_text(int internal) {
  return guard_pointer<TF_Buffer>([&] {
    std::vector<std::pair<std::string_view, std::string>> lines;
    for (const auto* spec : Engine::get().registry().all()) {
      if (spec->traits().python_only || (!internal && spec->name.starts_with("_"))) continue;
      lines.emplace_back(spec->name, summarize_op(*spec));
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const auto& [name, line] : lines) text += line + "\n";
    return new_buffer(text);
  });
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    std::vector<std::string> defs;
    auto& registry = Engine::get().registry();
    for (const auto* spec : registry.all()) {
      for (const auto& k : registry.kernels(*spec)) defs.push_back(weft_engine::io::encode_kernel_def(spec->name, k));
    }
    out = new_buffer(weft_engine::io::encode_kernel_list(defs));
    return {};
  });
  return out;
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(name);
    std::vector<std::string> defs;
    auto& registry = Engine::get().registry();
    if (const auto* spec = registry.find(name)) {
      for (const auto& k : registry.kernels(*spec)) defs.push_back(weft_engine::io::encode_kernel_def(spec->name, k));
    }
    out = new_buffer(weft_engine::io::encode_kernel_list(defs));
    return {};
  });
  return out;
}

// ---- Libraries ----

struct TF_Library {
  Engine::LoadedLibrary library;
  TF_Buffer ops;
};

TF_Library* TF_LoadLibrary(const char* path, TF_Status* status) {
  TF_Library* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(path);
    WEFT_ASSIGN(Engine::LoadedLibrary loaded, Engine::get().load_library(path));
    out = new TF_Library{std::move(loaded), {}};
    out->ops = TF_Buffer{out->library.op_list.data(), out->library.op_list.size(), nullptr};
    return {};
  });
  return out;
}
TF_Buffer TF_GetOpList(TF_Library* library) { return library ? library->ops : TF_Buffer{nullptr, 0, nullptr}; }
// The library stays loaded: its ops and kernels may be in use.
void TF_DeleteLibraryHandle(TF_Library* library) { delete library; }

// A plug-in may bring devices, kernels, graph optimizers and a profiler, each behind a function of its own. A library with none of these loads, as
// in TensorFlow.
TF_Library* TF_LoadPluggableDeviceLibrary(const char* path, TF_Status* status) {
  TF_Library* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(path);
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // kept: what it registered may be in use
    if (!library) return not_found(dlerror());
    static std::mutex mutex;
    static auto& loaded = *new std::set<void*>;  // what they bring is registered once
    const std::lock_guard lock(mutex);
    auto made = std::make_unique<TF_Library>(TF_Library{{}, {}});
    if (!loaded.count(library)) {
      WEFT_RETURN_IF_ERROR(load_devices(library));
      WEFT_ASSIGN(made->library, Engine::get().load_library(path));
      made->ops = TF_Buffer{made->library.op_list.data(), made->library.op_list.size(), nullptr};
      WEFT_RETURN_IF_ERROR(load_graph_optimizer(library));
      WEFT_RETURN_IF_ERROR(load_profiler(library));
      loaded.insert(library);
    }
    out = made.release();
    return {};
  });
  return out;
}
void TF_DeletePluggableDeviceLibraryHandle(TF_Library* library) { delete library; }

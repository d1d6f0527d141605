// Libraries that the user loads: ops and kernels by TensorFlow's C API, file systems. The extension exports the functions of that API that
// such a library calls (exports.map).
#include <dlfcn.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>

#include "bridge.h"
#include "core/own_memory.h"
#include "core/profilers.h"
#include "cuda/device.h"
#include "cuda/matmul.h"
#include "engine/engine.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/tf_status.h"

namespace weft_engine::python {
namespace {

// Python loads extensions so that others do not see their symbols; a library that is loaded from here on does. Symbols that are visible to
// all come before those of libraries that it names, so that it finds this engine and no other.
void show_symbols() {
  static const bool shown = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(&TF_NewStatus), &info) && info.dli_fname && dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  }();
  if (!shown) raise(unimplemented("libraries of ops: this system does not show them the symbols of extensions"));
}

std::set<std::string> op_names() {
  std::set<std::string> names;
  for (const OpSpec* s : engine::Engine::get().registry().all()) names.emplace(s->name);
  return names;
}

nb::list load_library(const std::string& path) {
  show_symbols();
  const std::set<std::string> before = op_names();
  unwrap(engine::Engine::get().load_library(path));
  nb::list added;
  for (const std::string& name : op_names()) {
    if (!before.count(name)) added.append(nb::str(name.c_str()));
  }
  return added;
}

// Runs f, which reports by a TF_Status, as a library calls the API.
template <class F>
void with_status(F&& f) {
  show_symbols();
  TF_Status* status = TF_NewStatus();
  f(status);
  const core::Status result =
      TF_GetCode(status) == TF_OK ? core::Status() : core::Status(static_cast<core::Code>(TF_GetCode(status)), TF_Message(status));
  TF_DeleteStatus(status);
  check(result);
}

void register_filesystem_plugin(const std::string& path) {
  with_status([&](TF_Status* s) { TF_RegisterFilesystemPlugin(path.c_str(), s); });
}

void load_pluggable_device_library(const std::string& path) {
  with_status([&](TF_Status* s) { TF_DeletePluggableDeviceLibraryHandle(TF_LoadPluggableDeviceLibrary(path.c_str(), s)); });
}

// Those beside the CPU, without making the context. GPUs that the program hides from itself are among them.
nb::list physical_devices() {
  nb::list out;
  engine::Engine::get();  // tells of GPUs
  if (core::num_device_types() == 0) return out;
  const auto gpus = cuda::physical_gpus();
  for (size_t i = 0; i < gpus.size(); ++i) out.append(nb::make_tuple("GPU", i, gpus[i]->description()));
  const std::unique_ptr<core::DeviceSet> devices = core::process_devices(1);
  for (const auto& d : devices->all()) {
    if (d->type() == "CPU" || (d->type() == "GPU" && !gpus.empty())) continue;
    out.append(nb::make_tuple(d->type(), d->parsed_name().id.value_or(0), d->description()));
  }
  return out;
}

cuda::CudaDevice* gpu_named(const std::string& name) {
  return dynamic_cast<cuda::CudaDevice*>(unwrap(used_context().devices().resolve(name, false)));
}

// (bytes in use, most of them so far); None for other devices than GPUs.
nb::object memory_stats(const std::string& name) {
  const auto* d = gpu_named(name);
  if (!d) return nb::none();
  const core::AllocatorStats s = d->stats();
  return nb::make_tuple(s.bytes_in_use, s.peak_bytes_in_use);
}

void set_gpu_memory(int number, bool growth, int64_t limit) {
  const auto gpus = cuda::physical_gpus();
  if (number < 0 || size_t(number) >= gpus.size()) raise(invalid_argument("there is no GPU ", number));
  check(gpus[size_t(number)]->set_memory_options({limit, 0, growth}));
}

}  // namespace

void bind_library(nb::module_& m) {
  m.def("load_library", load_library, nb::arg("path"), "Loads it; the names of the ops that it added.");
  m.def("register_filesystem_plugin", register_filesystem_plugin, nb::arg("path"));
  m.def("load_pluggable_device_library", load_pluggable_device_library, nb::arg("path"));
  m.def("physical_devices", physical_devices, "(type, number, description) of the devices beside the CPU.");
  m.def("memory_stats", memory_stats, nb::arg("device"), "(bytes in use, peak), or None for other devices than GPUs.");
  m.def(
      "reset_memory_stats",
      [](const std::string& name) {
        if (auto* d = gpu_named(name)) d->reset_peak_stats();
      },
      nb::arg("device"));
  m.def("set_gpu_memory", set_gpu_memory, nb::arg("number"), nb::arg("growth"), nb::arg("limit"), "Before the GPU is first used.");
  m.def(
      "set_gpu_memory_fraction",
      [](double fraction) {
        engine::Engine::get();  // tells of GPUs
        check(cuda::set_memory_fraction(fraction));
      },
      nb::arg("fraction"), "Of every GPU that is not in use yet.");
  m.def("set_visible_gpus", cuda::set_visible_gpus, nb::arg("numbers").none(), "Those that are devices of contexts made from here on, in order.");
  m.def("set_logical_gpus", cuda::set_logical_gpus, nb::arg("number"), nb::arg("limits"),
        "As how many devices contexts made from here on have a GPU, with the bytes of each.");
  m.def("allow_tf32", cuda::allow_tf32, nb::arg("allow"));
  m.def("start_profilers", core::start_profilers, "The profilers of plug-ins.");
  m.def(
      "stop_profilers",
      [] {
        const std::string bytes = core::stop_profilers();
        return nb::bytes(bytes.data(), bytes.size());
      },
      "An XSpace with what they saw.");
}

}  // namespace weft_engine::python

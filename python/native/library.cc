// Libraries that the user loads: ops and kernels by TensorFlow's C API, file systems. The extension exports the functions of that API that
// such a library calls (exports.map).
#include <dlfcn.h>

#include <nanobind/stl/string.h>

#include <set>

#include "bridge.h"
#include "core/own_memory.h"
#include "core/profilers.h"
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

// Those beside the CPU, without making the context.
nb::list physical_devices() {
  nb::list out;
  if (core::num_device_types() == 0) return out;
  const std::unique_ptr<core::DeviceSet> devices = core::process_devices(1);
  for (const auto& d : devices->all()) {
    if (d->type() != "CPU") out.append(nb::make_tuple(d->type(), d->parsed_name().id.value_or(0)));
  }
  return out;
}

}  // namespace

void bind_library(nb::module_& m) {
  m.def("load_library", load_library, nb::arg("path"), "Loads it; the names of the ops that it added.");
  m.def("register_filesystem_plugin", register_filesystem_plugin, nb::arg("path"));
  m.def("load_pluggable_device_library", load_pluggable_device_library, nb::arg("path"));
  m.def("physical_devices", physical_devices, "(type, number) of the devices that plug-ins brought.");
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

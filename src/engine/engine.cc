#include "engine/engine.h"

#include <dlfcn.h>

#include <set>

#include "autodiff/function_gradient.h"
#include "core/threads.h"
#include "cuda/device.h"
#include "cuda/function.h"
#include "engine/clusters.h"
#include "engine/graph_messages.h"
#include "engine/registration.h"
#include "io/op_def.h"
#include "io/rewriter_config.h"
#include "jit/compiled_function.h"
#include "jit/hot_function.h"
#include "ops/all.h"
#include "ops/declared.h"
#include "ops/data/prefetch_buffer.h"
#include "ops/data/served_datasets.h"
#include "ops/quantized/quantize_layers.h"
#include "runtime/function_runtime.h"
#include "runtime/function_text.h"

namespace weft_engine::engine {

using namespace weft_engine::core;

Engine::Engine() {
  core::out_of_memory();
  ops::all(registry_);
  op::declare(registry_, ops::declared());
  runtime::set_config_reader(io::disabled_passes);
  runtime::set_gradient_maker(autodiff::symbolic_gradient);
  runtime::describe_functions();
  set_graph_messages();
  ops::data::serve_datasets();
  graph::layer_rules.store(&ops::quantize_layers());
  set_cluster_seams();
  runtime::set_function_compiler(jit::compile_function);
  runtime::set_hot_plan_maker(jit::make_hot_plan);
  runtime::set_device_compiler(cuda::compile_function);
  (void)cuda::add_gpus(registry_);  // the first of its type
}

Engine& Engine::get() {
  // Never destroyed: threads and handles of the user may outlive main.
  static Engine* engine = new Engine();
  return *engine;
}

void Engine::limit_dataset_threads(int threads) { ops::data::limit_parallel_calls(threads); }
Status Engine::limit_gpu_memory(double fraction) { return cuda::set_memory_fraction(fraction); }

Result<Engine::LoadedLibrary> Engine::load_library(const std::string& path) {
  std::set<std::string_view> before;
  for (const auto* spec : registry_.all()) before.insert(spec->name);
  const RegistrationErrors errors;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return not_found(dlerror());
  // TensorFlow's plugins of kernels export this; plain op libraries register from static constructors.
  if (auto init = reinterpret_cast<void (*)()>(dlsym(handle, "TF_InitKernel"))) init();
  WEFT_RETURN_IF_ERROR(errors.first());
  std::vector<const op::OpSpec*> added;
  for (const auto* spec : registry_.all()) {
    if (!before.count(spec->name)) added.push_back(spec);
  }
  return LoadedLibrary{handle, io::encode_op_list(added)};
}

}  // namespace weft_engine::engine

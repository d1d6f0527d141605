#include "trace/library_function.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

namespace weft_engine::trace {
namespace {

struct LiveFunctions {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<LibraryFunction>> by_name;
};
LiveFunctions& live_functions() {
  static auto* l = new LiveFunctions;  // functions may die with the program's static objects
  return *l;
}

}  // namespace

std::string LibraryFunction::unique_name(eager::Context& context, const std::string& base) {
  static std::atomic<int64_t> next{0};
  // A name that ends in a number looks like one that was made here; whose gradients are whose is told by names.
  const size_t digits = base.size() - std::min(base.size(), base.find_last_not_of("0123456789") + 1);
  const bool numbered = digits > 0 && digits < base.size() && base[base.size() - digits - 1] == '_';
  std::string name;
  do {
    name = cat(base, numbered ? "_f_" : "_", next.fetch_add(1, std::memory_order_relaxed));
  } while (context.functions().contains(name));
  return name;
}

std::shared_ptr<LibraryFunction> LibraryFunction::find(const std::string& name) {
  std::lock_guard lock(live_functions().mutex);
  auto it = live_functions().by_name.find(name);
  return it == live_functions().by_name.end() ? nullptr : it->second.lock();
}

Result<std::shared_ptr<LibraryFunction>> LibraryFunction::make(FuncGraph& g, std::string name, std::vector<Endpoint> inputs,
                                                               std::span<const Value> results) {
  std::shared_ptr<LibraryFunction> f(new LibraryFunction(g.context()));
  graph::FunctionOptions options;
  options.name = std::move(name);
  for (const Value& v : results) options.outputs.push_back(graph::GraphEmitter::unwrap(v));
  options.inputs = std::move(inputs);
  g.function_inputs.clear();
  for (const Endpoint& e : options.inputs) g.function_inputs.push_back(e.node);
  for (Node* n : g.effects()) options.control_outputs.push_back(n);
  WEFT_ASSIGN(graph::FunctionDef def, graph::to_function(g.graph(), options));
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    const auto& shapes = options.inputs[i].node->shapes;
    if (def.inputs[i].type != DType::kResource && !shapes.empty()) def.arg_attrs[int(i)]["_output_shapes"] = std::vector<PartialShape>{shapes[0]};
    const auto& handles = options.inputs[i].node->handles;
    if (!handles.empty() && handles[0]) {  // what a variable holds: it keeps its type and shape
      def.arg_attrs[int(i)]["_handle_dtypes"] = std::vector<DType>{handles[0]->dtype};
      def.arg_attrs[int(i)]["_handle_shapes"] = std::vector<PartialShape>{handles[0]->shape};
    }
    f->writes_.push_back(g.writes(options.inputs[i]));
  }
  if (g.must_compile) def.attrs["_XlaMustCompile"] = true;
  f->stateful_ = def.stateful;
  f->free_effects_ = g.free_effects();
  f->callees_ = g.callees();
  f->callees_.insert(f->callees_.end(), g.emitter().held().begin(), g.emitter().held().end());
  WEFT_RETURN_IF_ERROR(g.context().functions().add(std::move(def), f));
  f->name_ = std::move(options.name);
  std::lock_guard lock(live_functions().mutex);
  live_functions().by_name[f->name_] = f;
  return f;
}

LibraryFunction::~LibraryFunction() {
  if (name_.empty()) return;
  {
    std::lock_guard lock(live_functions().mutex);
    live_functions().by_name.erase(name_);
  }
  (void)context_.remove_function(name_, true);
  // A chain of functions, each held by the one that calls it, is freed one by one: a destructor inside another for each would need much stack.
  thread_local std::vector<std::shared_ptr<const void>>* pending_release = nullptr;
  if (pending_release) {
    std::move(callees_.begin(), callees_.end(), std::back_inserter(*pending_release));
    return;
  }
  std::vector<std::shared_ptr<const void>> all = std::move(callees_);
  pending_release = &all;
  while (!all.empty()) {
    const auto last = std::move(all.back());
    all.pop_back();
  }
  pending_release = nullptr;
}

Result<std::shared_ptr<LoadedFunctions>> LoadedFunctions::make(eager::Context& context, std::vector<graph::FunctionDef> functions,
                                                               std::span<const graph::GradientDef> gradients) {
  std::shared_ptr<LoadedFunctions> all(new LoadedFunctions(context));
  for (graph::FunctionDef& def : functions) {
    std::string name = def.name;
    if (context.functions().contains(name))
      return invalid_argument("Cannot add function '", name, "' because a function with the same name already exists.");
    WEFT_RETURN_IF_ERROR(context.functions().add(std::move(def), all));
    all->names_.push_back(std::move(name));
  }
  for (const graph::GradientDef& g : gradients) WEFT_RETURN_IF_ERROR(context.functions().add_gradient(g));
  return all;
}

LoadedFunctions::~LoadedFunctions() {
  for (const std::string& name : names_) (void)context_.remove_function(name, true);
}

}  // namespace weft_engine::trace

#include "engine/function_overlay.h"

#include <mutex>

#include "op/held.h"

namespace weft_engine::engine {

using namespace weft_engine::core;

Result<runtime::FunctionLibraryRuntime*> runtime_of(op::FunctionCaller& functions) {
  auto* r = dynamic_cast<runtime::FunctionLibraryRuntime*>(&functions);
  if (!r) return internal_error("functions are not run by the engine's runtime here");
  return r;
}

Status add_behind(graph::FunctionLibrary& library, const std::shared_ptr<graph::FunctionLibrary>& outer,
                  const std::set<std::string, std::less<>>& without) {
  for (const std::string& function : outer->names()) {
    if (without.contains(function)) continue;
    auto find = [outer, function]() -> Result<graph::FunctionDef> {
      WEFT_ASSIGN(auto found, outer->find(function));
      return *found;
    };
    WEFT_RETURN_IF_ERROR(library.add(function, std::move(find)));  // a name that is there stays as it is
  }
  for (const graph::GradientDef& gradient : outer->gradients()) {
    if (library.gradient_of(gradient.function).empty()) WEFT_RETURN_IF_ERROR(library.add_gradient(gradient));
  }
  return {};
}

// Those that nobody holds any more are destroyed with the next that comes.
void keep_while_held(std::unique_ptr<runtime::FunctionLibraryRuntime> runtime) {
  static std::mutex mutex;
  static auto* kept = new std::vector<std::unique_ptr<runtime::FunctionLibraryRuntime>>();
  std::vector<std::unique_ptr<runtime::FunctionLibraryRuntime>> unused;
  {
    std::lock_guard lock(mutex);
    for (auto& r : *kept) {
      if (!op::held(*r)) unused.push_back(std::move(r));
    }
    std::erase(*kept, nullptr);
    kept->push_back(std::move(runtime));
  }
  // Destroyed without the lock.
}

}  // namespace weft_engine::engine

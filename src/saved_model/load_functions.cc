#include "saved_model/load_functions.h"

#include <atomic>

#include "core/cat.h"
#include "trace/library_function.h"

namespace weft_engine::saved_model {
namespace {

using Names = std::map<std::string, std::string>;

// "f_12" becomes "f_l3".
std::string new_name(eager::Context& context, const std::string& name) {
  static std::atomic<int64_t> next{0};
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  const bool numbered = end > 0 && end < name.size() && name[end - 1] == '_';
  const std::string base = numbered ? name.substr(0, end - 1) : name;
  for (;;) {
    std::string out = cat(base, "_l", next.fetch_add(1, std::memory_order_relaxed) + 1);
    if (!context.functions().contains(out)) return out;
  }
}

std::string renamed(const std::string& name, const Names& names) {
  auto it = names.find(name);
  return it == names.end() ? name : it->second;
}

void rename(graph::NodeDef& node, const Names& names) {
  node.op = renamed(node.op, names);
  for (auto& [key, value] : node.attrs) {
    if (const auto* f = value.get<op::FunctionAttr>()) {
      value = op::FunctionAttr{renamed(f->name, names), f->attrs};
    } else if (const auto* list = value.get<std::vector<op::FunctionAttr>>()) {
      std::vector<op::FunctionAttr> out;
      for (const auto& f : *list) out.push_back({renamed(f.name, names), f.attrs});
      value = std::move(out);
    } else if (const auto* type = value.get<std::string>(); type && key == "_gradient_op_type") {
      // One of the program that saved it is not one of this program, whatever its name.
      value = renamed(type->starts_with("CustomGradient-") ? *type + "-saved" : *type, names);
    }
  }
}

}  // namespace

Result<LoadedLibrary> load_functions(eager::Context& context, const graph::GraphDef& graph, const ObjectGraph& objects,
                                     const RegisteredGradients& gradients) {
  FunctionMap functions;
  for (const auto& [name, lazy] : graph.functions) {
    WEFT_ASSIGN(graph::FunctionDef def, lazy());
    WEFT_RETURN_IF_ERROR(read_handle_data(def));
    functions.insert_or_assign(name, std::move(def));
  }
  attach_gradients(functions, gradients, objects, context.registry());
  LoadedLibrary out;
  for (const auto& [name, lazy] : graph.functions) out.names.emplace(name, new_name(context, name));
  std::vector<graph::FunctionDef> defs;
  for (auto& [name, def] : functions) {
    def.name = out.names.at(name);
    for (graph::NodeDef& n : def.nodes) rename(n, out.names);
    defs.push_back(std::move(def));
  }
  std::vector<graph::GradientDef> derivatives;
  for (const auto& g : graph.gradients) {
    if (out.names.count(g.function) && out.names.count(g.gradient)) derivatives.push_back({out.names.at(g.function), out.names.at(g.gradient)});
  }
  WEFT_ASSIGN(out.functions, trace::LoadedFunctions::make(context, std::move(defs), derivatives));
  return out;
}

}  // namespace weft_engine::saved_model

#include "saved_model/export_graph.h"

#include <deque>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/cat.h"
#include "graph/import.h"
#include "graph/node_traits.h"
#include "io/graph_def.h"

namespace weft_engine::saved_model {
namespace {

using graph::Endpoint;
using graph::Node;
using graph::NodeDef;
using op::op_of;
using op::Role;

// The node that an input text names: "n", "n:1", "^n", "n:out:0".
std::string_view node_of(std::string_view input) {
  if (input.starts_with("^")) input.remove_prefix(1);
  return input.substr(0, input.find(':'));
}

}  // namespace

std::string valid_node_name(std::string_view text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '/' || c == '-' || c == '>' ? c : '_';
  if (out.empty() || !(std::isalnum(static_cast<unsigned char>(out[0])) || out[0] == '.')) out.insert(0, "t");
  return out;
}

Result<ExportedGraph> export_body(const graph::FunctionBody& body, const std::vector<ExportPort>& args, const std::vector<ExportPort>& results) {
  if (args.size() != body.args.size() || results.size() > body.rets.size())
    return internal_error("a body with other arguments or results than its names");
  ExportedGraph out;
  out.versions = body.graph->versions;
  // The ports' names go first; a node of the body that has one of them gets another.
  std::set<std::string, std::less<>> taken;
  const auto reserve = [&](const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken.insert(name).second; ++i) name = cat(wanted, "_", i);
    return name;
  };
  std::unordered_map<const Node*, std::string> names;
  for (size_t i = 0; i < args.size(); ++i) {
    out.inputs.push_back(reserve(valid_node_name(args[i].name)));
    names[body.args[i]] = out.inputs.back();
  }
  std::unordered_set<const Node*> plain;  // results whose node has the wanted name already
  for (size_t i = 0; i < results.size(); ++i) {
    const Endpoint from = body.rets[i]->input(0);
    const std::string wanted = valid_node_name(results[i].name);
    const bool same = from.index == 0 && from.node->num_outputs() == 1 && from.node->name() == wanted && !is_arg(*from.node) && !taken.count(wanted);
    out.outputs.push_back(reserve(wanted));
    names[same ? from.node : body.rets[i]] = out.outputs.back();
    if (same) plain.insert(body.rets[i]);
  }
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  for (const Node* n : order) {
    if (!names.count(n)) names[n] = reserve(valid_node_name(n->name()));
  }
  for (const Node* n : order) {
    NodeDef d = io::to_node_def(*n);
    d.name = names[n];
    d.inputs.clear();
    for (const Endpoint& e : n->inputs()) {
      if (!e.node) return internal_error("node ", n->name(), " has an input that leads nowhere");
      d.inputs.push_back(e.index ? cat(names[e.node], ":", e.index) : names[e.node]);
    }
    for (const Node* c : n->control_inputs()) d.inputs.push_back(cat("^", names[c]));
    d.attrs.erase("_class");  // names nodes, which may have been removed or renamed
    if (is_arg(*n)) {
      const auto index = size_t(n->attr<int64_t>("index"));
      const DType type = base_type(n->attr<DType>("T"));
      d.op = op_of(Role::kPlaceholder);
      d.attrs = {};
      d.attrs["dtype"] = type;
      d.attrs["shape"] = index < args.size() ? args[index].shape : PartialShape::unknown();
    } else if (is_retval(*n)) {
      const auto index = size_t(n->attr<int64_t>("index"));
      if (index >= results.size() || plain.count(n)) continue;
      const DType type = n->attr<DType>("T");
      d.op = op_of(Role::kIdentity);
      d.attrs = {};
      d.attrs["T"] = type;
    }
    out.nodes.push_back(std::move(d));
  }
  for (const Node* n : body.control_rets) out.targets.push_back(names[n]);
  return out;
}

void prune_nodes(ExportedGraph& g) {
  std::unordered_map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < g.nodes.size(); ++i) by_name.emplace(g.nodes[i].name, i);
  std::vector<char> keep(g.nodes.size(), 0);
  std::vector<size_t> todo;
  const auto want = [&](std::string_view name) {
    auto it = by_name.find(name);
    if (it == by_name.end() || keep[it->second]) return;
    keep[it->second] = 1;
    todo.push_back(it->second);
  };
  for (const auto& name : g.inputs) want(name);
  for (const auto& name : g.outputs) want(name);
  for (const auto& name : g.targets) want(name);
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    for (const auto& input : g.nodes[at].inputs) want(node_of(input));
  }
  std::vector<NodeDef> kept;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    if (keep[i]) kept.push_back(std::move(g.nodes[i]));
  }
  g.nodes = std::move(kept);
}

std::vector<std::string> functions_of(const NodeDef& node, const graph::FunctionLibrary& library) {
  std::vector<std::string> out;
  if (library.contains(node.op)) out.push_back(node.op);
  for (const auto& [key, value] : node.attrs) {
    if (const auto* f = value.get<op::FunctionAttr>(); f && !f->name.empty()) out.push_back(f->name);
    if (const auto* list = value.get<std::vector<op::FunctionAttr>>()) {
      for (const auto& f : *list) out.push_back(f.name);
    }
    // A gradient function by name; functions are told apart from other texts by being there.
    if (const auto* s = value.get<std::string>(); s && key == "_gradient_op_type" && library.contains(*s)) out.push_back(*s);
  }
  return out;
}

Result<std::shared_ptr<graph::FunctionLibrary>> needed_functions(const std::vector<NodeDef>& nodes, const graph::FunctionLibrary& from) {
  auto library = std::make_shared<graph::FunctionLibrary>();
  std::deque<std::string> todo;
  std::unordered_set<std::string> seen;
  const auto scan = [&](const NodeDef& n) {
    for (std::string& f : functions_of(n, from)) {
      if (seen.insert(f).second) todo.push_back(std::move(f));
    }
  };
  for (const NodeDef& n : nodes) scan(n);
  while (!todo.empty()) {
    const std::string name = std::move(todo.front());
    todo.pop_front();
    if (!from.contains(name)) continue;  // an error when it is called, as in TensorFlow
    WEFT_ASSIGN(auto def, from.find(name));
    WEFT_RETURN_IF_ERROR(library->add(*def));
    for (const NodeDef& n : def->nodes) scan(n);
    if (std::string gradient = from.gradient_of(name); !gradient.empty()) {
      WEFT_RETURN_IF_ERROR(library->add_gradient({name, gradient}));
      if (seen.insert(gradient).second) todo.push_back(std::move(gradient));
    }
  }
  return library;
}

Result<std::unique_ptr<graph::Graph>> make_graph(ExportedGraph exported, std::shared_ptr<graph::FunctionLibrary> library,
                                                 const op::Registry& registry) {
  auto g = std::make_unique<graph::Graph>(registry, std::move(library));
  graph::GraphDef def;
  def.nodes = std::move(exported.nodes);
  def.versions = exported.versions;
  WEFT_RETURN_IF_ERROR(graph::import_graph_def(*g, std::move(def)).status());
  g->versions = exported.versions;
  return g;
}

}  // namespace weft_engine::saved_model

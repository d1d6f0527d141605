#include "remote/graph_codec.h"

#include <unordered_set>

#include "graph/function_library.h"
#include "graph/import.h"
#include "io/graph_def.h"
#include "wire/proto.h"

namespace weft_engine::remote {

using graph::FunctionLibrary;
using wire::ProtoWriter;

namespace {

Status write_node(ProtoWriter& w, const graph::NodeDef& node) {
  WEFT_ASSIGN(std::string bytes, io::encode_node_def(node));
  w.bytes(1, bytes);
  return {};
}

// The functions that are called from these on, each with those it calls.
std::vector<std::string> reached(const FunctionLibrary& library, std::vector<std::string> todo) {
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  while (!todo.empty()) {
    const std::string name = std::move(todo.back());
    todo.pop_back();
    if (!library.contains(name) || !seen.insert(name).second) continue;
    out.push_back(name);
    if (std::string gradient = library.gradient_of(name); !gradient.empty()) todo.push_back(std::move(gradient));
    auto def = library.find(name);
    if (!def.ok()) continue;
    for (const graph::NodeDef& n : (*def)->nodes) {
      todo.push_back(n.op);
      graph::for_functions(n.attrs, [&](const std::string& f) { todo.push_back(f); });
    }
  }
  return out;
}

Status write_functions(ProtoWriter& w, const FunctionLibrary& library, const std::vector<std::string>& names,
                       const std::function<bool(const graph::GradientDef&)>& wants) {
  ProtoWriter out;
  for (const std::string& name : names) {
    WEFT_ASSIGN(auto def, library.find(name));
    WEFT_ASSIGN(std::string bytes, io::encode_function_def(*def));
    out.bytes(1, bytes);
  }
  for (const graph::GradientDef& g : library.gradients()) {
    if (!wants(g)) continue;
    ProtoWriter m;
    m.bytes(1, g.function);
    m.bytes(2, g.gradient);
    out.message(2, m);
  }
  if (!out.str().empty()) w.message(2, out);
  return {};
}

}  // namespace

Result<std::string> encode_growth(const graph::Graph& graph, SentGraph& sent) {
  ProtoWriter w;
  SentGraph now = sent;
  for (int id = sent.nodes; id < graph.num_ids(); ++id) {
    if (const graph::Node* n = graph.node(id)) WEFT_RETURN_IF_ERROR(write_node(w, io::to_node_def(*n)));
  }
  now.nodes = graph.num_ids();
  std::vector<std::string> fresh;
  for (const std::string& name : graph.library()->names()) {
    if (now.functions.insert(name).second) fresh.push_back(name);
  }
  WEFT_RETURN_IF_ERROR(
      write_functions(w, *graph.library(), fresh, [&](const graph::GradientDef& g) { return now.gradients.insert(g.function).second; }));
  if (w.str().empty()) return std::string();
  w.bytes(4, io::encode_versions(graph.versions));
  sent = std::move(now);
  return w.take();
}

Result<std::string> encode_part(const graph::Graph& graph) {
  ProtoWriter w;
  std::vector<std::string> called;
  for (const graph::Node* n : graph.nodes()) {
    graph::NodeDef def = io::to_node_def(*n);
    if (!n->assigned_device.empty()) def.device = n->assigned_device;
    def.attrs.erase("_class");  // the nodes are placed, and those it names may be elsewhere
    called.push_back(def.op);
    graph::for_functions(def.attrs, [&](const std::string& f) { called.push_back(f); });
    WEFT_RETURN_IF_ERROR(write_node(w, def));
  }
  const std::vector<std::string> names = reached(*graph.library(), std::move(called));
  const std::set<std::string> sent(names.begin(), names.end());
  WEFT_RETURN_IF_ERROR(write_functions(w, *graph.library(), names, [&](const graph::GradientDef& g) { return sent.contains(g.function); }));
  w.bytes(4, io::encode_versions(graph.versions));
  return w.take();
}

Status grow(graph::Graph& graph, std::string graph_def) {
  WEFT_ASSIGN(graph::GraphDef def, io::decode_graph_def(std::make_shared<const std::string>(std::move(graph_def))));
  graph::ImportOptions options;
  for (graph::Node* n : graph.nodes()) {
    for (int i = 0; i < n->num_outputs(); ++i) options.input_map[{n->name(), i}] = {n, i};
    options.input_map[{n->name(), -1}] = {n, 0};
  }
  if (graph.num_nodes() == 0) graph.versions = def.versions;
  return graph::import_graph_def(graph, std::move(def), options).status();
}

}  // namespace weft_engine::remote

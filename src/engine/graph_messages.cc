#include "engine/graph_messages.h"

#include <algorithm>
#include <map>

#include "engine/function_overlay.h"
#include "graph/import.h"
#include "graph/node_traits.h"
#include "io/graph_def.h"
#include "op/graph_message.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "wire/proto.h"

namespace weft_engine::engine {

using namespace weft_engine::op;

namespace {

// Functions by name, and those that they call.
using Held = std::map<std::string, std::shared_ptr<const graph::FunctionDef>>;

class Reached {
 public:
  explicit Reached(const graph::FunctionLibrary& library) : library_(library) {}
  void add(const AttrValue& value) {
    if (const auto* f = value.get<FunctionAttr>()) add(f->name);
    if (const auto* list = value.get<std::vector<FunctionAttr>>()) {
      for (const FunctionAttr& f : *list) add(f.name);
    }
  }
  std::shared_ptr<const Held> all() {
    while (!open_.empty()) {
      const auto def = open_.back();
      open_.pop_back();
      for (const graph::NodeDef& n : def->nodes) {
        add(n.op);
        for (const auto& [name, value] : n.attrs) add(value);
      }
    }
    return found_.empty() ? nullptr : std::make_shared<const Held>(std::move(found_));
  }

 private:
  void add(const std::string& name) {
    if (found_.contains(name) || !library_.contains(name)) return;
    auto def = library_.find(name);
    if (!def.ok()) return;
    found_.emplace(name, *def);
    open_.push_back(*def);
  }
  const graph::FunctionLibrary& library_;
  Held found_;
  std::vector<std::shared_ptr<const graph::FunctionDef>> open_;
};

std::shared_ptr<const void> hold(FunctionCaller& functions, std::span<const AttrValue> attrs) {
  auto runtime = runtime_of(functions);
  if (!runtime.ok()) return nullptr;
  Reached reached(*(*runtime)->library());
  for (const AttrValue& value : attrs) reached.add(value);
  return reached.all();
}

Held joined(const HeldFunctions& held) {
  Held all;
  for (const auto& one : held) {
    if (one) all.insert(static_cast<const Held*>(one.get())->begin(), static_cast<const Held*>(one.get())->end());
  }
  return all;
}

Result<std::string> encode(const std::vector<MessageNode>& nodes, const HeldFunctions& held) {
  wire::ProtoWriter graph, library, versions;
  for (const MessageNode& n : nodes) {
    graph::NodeDef def;
    def.name = n.name;
    def.op = n.op;
    def.inputs = n.inputs;
    def.attrs = n.attrs;
    WEFT_ASSIGN(std::string bytes, io::encode_node_def(def));
    graph.bytes(1, bytes);
  }
  for (const auto& [name, def] : joined(held)) {
    WEFT_ASSIGN(std::string bytes, io::encode_function_def(*def));
    library.bytes(1, bytes);
  }
  graph.bytes(2, library.take());
  versions.int64(1, graph::kGraphDefVersion);
  graph.bytes(4, versions.take());
  return graph.take();
}

std::string stateful_op(FunctionCaller& functions, const HeldFunctions& held) {
  auto runtime = runtime_of(functions);
  if (!runtime.ok()) return {};
  const Held all = joined(held);
  for (const auto& [name, def] : all) {
    for (const graph::NodeDef& n : def->nodes) {
      if (all.contains(n.op)) continue;
      const OpSpec* spec = (*runtime)->options().registry->find(n.op);
      if (!spec || !spec->stateful || spec->makes_dataset()) continue;
      // Calls, branches and loops are as stateful as their functions.
      const op::Role role = spec->traits().role;
      if (role < op::Role::kCall || role > op::Role::kWhile) return n.op;
    }
  }
  return {};
}

Result<Tensor> run(FunctionCaller& functions, const KernelEnv& env, std::string_view bytes) {
  WEFT_ASSIGN(auto* runtime, runtime_of(functions));
  auto def = io::decode_graph_def(std::make_shared<const std::string>(bytes));
  if (!def.ok()) return invalid_argument("Could not parse GraphDef");
  std::string fetch;
  for (const graph::NodeDef& n : def->nodes) {
    if (n.op == op_of(op::Role::kRetval) && !n.inputs.empty()) fetch = n.inputs[0];
  }
  std::erase_if(def->nodes, [](const graph::NodeDef& n) { return n.op == op_of(op::Role::kRetval); });
  const size_t colon = fetch.rfind(':');
  const std::string name = fetch.substr(0, colon);
  if (fetch.empty() || std::none_of(def->nodes.begin(), def->nodes.end(), [&](const graph::NodeDef& n) { return n.name == name; }))
    return not_found("FetchOutputs node ", fetch, ": not found");
  int index = 0;
  if (colon != std::string::npos) {
    for (char ch : fetch.substr(colon + 1)) {
      if (ch < '0' || ch > '9' || index > 1 << 20) return not_found("FetchOutputs node ", fetch, ": not found");
      index = index * 10 + (ch - '0');
    }
  }
  // A runtime of its own: the graph's functions come before those of the program that have the same names, and do not stay among them.
  auto library = std::make_shared<graph::FunctionLibrary>();
  for (const auto& [function, lazy] : def->functions) WEFT_RETURN_IF_ERROR(library->add(function, lazy));
  def->functions.clear();
  WEFT_RETURN_IF_ERROR(add_behind(*library, runtime->library()));
  auto own = std::make_unique<runtime::FunctionLibraryRuntime>(runtime->options(), library);
  graph::FunctionBody body;
  body.name = "graph_message";
  body.graph = std::make_unique<graph::Graph>(*runtime->options().registry, library);
  graph::ImportOptions options;
  options.return_outputs.emplace_back(name, index);
  WEFT_ASSIGN(graph::ImportResults imported, graph::import_graph_def(*body.graph, std::move(def).value(), options));
  const graph::Endpoint from = imported.return_outputs[0];
  const DType type = base_type(from.node->output_type(from.index));
  WEFT_ASSIGN(graph::Node* ret, add_retval(*body.graph, "graph_message_retval", from, type, 0));
  body.rets = {ret};
  body.ret_types = {type};
  Tensor result;
  KernelEnv inside = env;
  inside.functions = own.get();
  WEFT_RETURN_IF_ERROR(own->instantiate(std::move(body))->run(inside, {}, {&result, 1}));
  keep_while_held(std::move(own));
  return result;
}

}  // namespace

void set_graph_messages() {
  static constexpr GraphMessages kMessages{hold, encode, stateful_op, run};
  graph_messages.store(&kMessages);
}

}  // namespace weft_engine::engine

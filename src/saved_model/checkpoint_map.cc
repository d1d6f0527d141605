#include "saved_model/checkpoint_map.h"

#include <functional>

#include "graph/function_body.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"

namespace weft_engine::saved_model {
namespace {

using graph::Endpoint;
using graph::Node;
using op::Role;

bool is_assign(const Node& n) { return role_of(n) == Role::kAssignVariable; }

// The names that a RestoreV2 asks for, where they are a constant.
const Tensor* names_of(const Node& restore) {
  if (restore.num_inputs() < 2 || !restore.input(1).node || !is_const(*restore.input(1).node)) return nullptr;
  const Tensor& t = restore.input(1).node->attr<Tensor>("value");
  return t.dtype() == DType::kString ? &t : nullptr;
}

void scan(const graph::Graph& g, const std::function<Endpoint(Endpoint)>& outside, std::map<std::string, Endpoint>& out) {
  for (const Node* n : g.nodes()) {
    if (role_of(*n) != Role::kRestore) continue;
    const Tensor* names = names_of(*n);
    if (!names) continue;
    for (const graph::Use& u : n->uses()) {
      if (u.output >= names->num_elements()) continue;
      const Node* reader = u.node;
      for (int i = 0; i < 8 && role_of(*reader) == Role::kIdentity && reader->uses().size() == 1; ++i) reader = reader->uses()[0].node;
      if (!is_assign(*reader)) continue;
      const Endpoint target = outside(reader->input(0));
      if (target.node) out.emplace(names->data<tstring>()[u.output].str(), target);
    }
  }
}

}  // namespace

Result<std::map<std::string, Endpoint>> restored_variables(const graph::Graph& graph, const MetaGraph& meta) {
  std::map<std::string, Endpoint> out;
  if (meta.restore_op.empty()) return out;
  scan(graph, [](Endpoint e) { return e; }, out);
  // Version 2: the restore op calls a function, and passes it the handles.
  const Node* call = graph.find(meta.restore_op.substr(0, meta.restore_op.rfind(':')));
  const op::AttrValue* f = call ? call->find_attr("f") : nullptr;
  const auto* function = f ? f->get<op::FunctionAttr>() : nullptr;
  if (!function) return out;
  WEFT_ASSIGN(auto def, graph.library()->find(function->name));
  WEFT_ASSIGN(graph::FunctionBody body, graph::instantiate_function(*def, {}, graph.registry(), graph.library()));
  const auto argument = [&](Endpoint e) -> Endpoint {
    while (e.node && role_of(*e.node) == Role::kIdentity) e = e.node->input(0);
    if (!e.node || !is_arg(*e.node)) return {};
    const int64_t i = e.node->attr<int64_t>("index");
    return i < call->num_inputs() ? call->input(int(i)) : Endpoint{};
  };
  scan(*body.graph, argument, out);
  return out;
}

}  // namespace weft_engine::saved_model

#include "saved_model/optimize.h"

#include "graph/passes/passes.h"
#include "op/op_traits.h"
#include "saved_model/export_graph.h"

namespace weft_engine::saved_model {
namespace {

// Passes may dissolve a NoOp that others wait for; its name is what tools fetch. So a node with an effect waits for it
// while they run, and what that waits for afterwards is put together under the old name.
struct Guard {
  std::string target, name;
};
Result<std::vector<Guard>> guard_targets(graph::FunctionBody& body) {
  std::vector<Guard> guards;
  for (Node* t : body.control_rets) {
    Guard g{t->name(), body.graph->unique_name(cat(t->name(), "/guard"))};
    WEFT_ASSIGN(Node* text, body.graph->add_const(body.graph->unique_name(cat(t->name(), "/text")), Tensor::scalar("")));
    WEFT_RETURN_IF_ERROR(body.graph->add(g.name, "PrintV2", {}, {{text, 0}}, {&t, 1}).status());
    guards.push_back(std::move(g));
  }
  body.control_rets.clear();
  return guards;
}

Status restore_targets(graph::FunctionBody& body, const std::vector<Guard>& guards) {
  graph::Graph& g = *body.graph;
  for (const Guard& guard : guards) {
    Node* node = g.find(guard.name);
    if (!node) return internal_error("a pass removed a node with an effect");
    Node* text = node->input(0).node;
    const std::vector<Node*> waits = node->control_inputs();
    g.remove(node);
    if (text && text->uses().empty() && text->control_outputs().empty()) g.remove(text);
    Node* target = g.find(guard.target);
    if (!target) {
      WEFT_ASSIGN(target, g.add(guard.target, op::op_of(op::Role::kNoOp), {}, {}, waits));
    }
    body.control_rets.push_back(target);
  }
  return {};
}

}  // namespace

Result<OptimizedGraph> optimize_graph(const graph::Graph& source, const std::vector<std::string>& disabled,
                                      std::function<void(std::string_view, int, int)> report) {
  std::mutex mutex;
  std::unique_ptr<graph::Graph> copy = source.clone();
  runtime::Session session(*copy, mutex, {});  // for the folding of constants
  const BoundSignature s = signature_of_graph(*copy);
  std::vector<Node*> targets;
  for (Node* n : copy->nodes()) {
    if (n->num_outputs() == 0 && n->control_outputs().empty()) targets.push_back(n);
  }
  if (s.fetches.empty() && targets.empty()) return invalid_argument("the graph has no node that others do not read, so there is nothing to keep");
  WEFT_ASSIGN(graph::FunctionBody body, session.body(s.feeds, s.fetches, targets));
  graph::PassContext c;
  c.env = session.runtime().env();
  c.disabled = disabled;
  c.report = std::move(report);
  WEFT_ASSIGN(std::vector<Guard> guards, guard_targets(body));
  WEFT_RETURN_IF_ERROR(graph::optimize(body, c));
  WEFT_RETURN_IF_ERROR(restore_targets(body, guards));
  std::vector<ExportPort> in, out;
  for (const auto& p : s.inputs) in.push_back({p.tensor.node->name(), p.shape});
  for (const auto& p : s.outputs) out.push_back({p.name, p.shape});
  WEFT_ASSIGN(ExportedGraph g, export_body(body, in, out));
  OptimizedGraph result;
  result.inputs = g.inputs;
  result.outputs = g.outputs;
  WEFT_ASSIGN(auto library, needed_functions(g.nodes, *source.library()));
  WEFT_ASSIGN(result.graph, make_graph(std::move(g), std::move(library), source.registry()));
  return result;
}

}  // namespace weft_engine::saved_model

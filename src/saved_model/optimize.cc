#include "saved_model/optimize.h"

#include "graph/passes/passes.h"
#include "saved_model/export_graph.h"

namespace weft::saved_model {

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
  if (s.fetches.empty() && targets.empty())
    return invalid_argument("the graph has no node that others do not read, so there is nothing to keep");
  WEFT_ASSIGN(graph::FunctionBody body, session.body(s.feeds, s.fetches, targets));
  graph::PassContext c;
  c.env = session.runtime().env();
  c.disabled = disabled;
  c.report = std::move(report);
  std::vector<std::string> kept;
  for (const Node* t : body.control_rets) kept.push_back(t->name());
  WEFT_RETURN_IF_ERROR(graph::optimize(body, c));
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

}  // namespace weft::saved_model

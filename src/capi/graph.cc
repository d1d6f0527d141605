// TF_Graph: its life, its nodes by name and number, its shapes and its messages.
#include "capi/graph_internal.h"

using namespace weft::capi;  // NOLINT
using weft::engine::Engine;

TF_Graph::TF_Graph() : graph(Engine::get().registry()) { graph.versions.producer = weft::graph::kGraphDefVersion; }

namespace weft::capi {

Status check_output(const TF_Graph& g, TF_Output output) {
  const graph::Node* n = unwrap(output.oper);
  if (!holds(g, n)) return invalid_argument("Node ", n ? n->name() : "(null)", " was not found in the graph");
  if (output.index < 0 || output.index >= n->num_outputs())
    return invalid_argument("output_idx ", output.index, " out of range for node ", n->name(), ", which has ", n->num_outputs(), " outputs");
  return {};
}

void attach_session(TF_Graph* graph, TF_Session* session) {
  std::lock_guard lock(graph->mutex);
  graph->sessions.insert(session);
}

void detach_session(TF_Graph* graph, TF_Session* session) {
  bool last;
  {
    std::lock_guard lock(graph->mutex);
    graph->sessions.erase(session);
    last = graph->delete_requested && graph->sessions.empty();
  }
  if (last) delete graph;
}

Result<graph::ImportResults> import_locked(TF_Graph& g, graph::GraphDef def, const graph::ImportOptions& options) {
  return graph::import_graph_def(g.graph, std::move(def), options);
}

}  // namespace weft::capi

TF_Graph* TF_NewGraph() {
  return guard_pointer<TF_Graph>([] { return new TF_Graph; });
}

void TF_DeleteGraph(TF_Graph* graph) {
  if (!graph) return;
  bool unused;
  {
    std::lock_guard lock(graph->mutex);
    graph->delete_requested = true;
    unused = graph->sessions.empty();
  }
  if (unused) delete graph;
}

#include "graph/passes/passes.h"

namespace weft_engine::graph {

// Keeps what results, control results, arguments and nodes with an effect need.
Status pass_prune(FunctionBody& body, PassContext&) {
  Graph& g = *body.graph;
  std::vector<char> keep(size_t(g.num_ids()), 0);
  std::vector<Node*> todo;
  auto want = [&](Node* n) {
    if (n && !keep[size_t(n->id())]) {
      keep[size_t(n->id())] = 1;
      todo.push_back(n);
    }
  };
  for (Node* n : body.args) want(n);
  for (Node* n : body.rets) want(n);
  for (Node* n : body.control_rets) want(n);
  for (Node* n : g.nodes()) {
    if (n->spec().has_side_effect()) want(n);
  }
  while (!todo.empty()) {
    Node* n = todo.back();
    todo.pop_back();
    for (const Endpoint& e : n->inputs()) want(e.node);
    for (Node* c : n->control_inputs()) want(c);
  }
  std::vector<Node*> all = g.nodes();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (!keep[size_t((*it)->id())]) g.remove(*it);
  }
  return {};
}

}  // namespace weft_engine::graph

#include "runtime/frames.h"

#include <string>
#include <unordered_map>

namespace weft::runtime {

using graph::Node;

std::vector<int> outermost_loops(const graph::Graph& graph) {
  std::vector<int> loops(size_t(graph.num_ids()), -1);
  bool any = false;
  for (const Node* n : graph.nodes()) any |= n->op() == "Enter" || n->op() == "RefEnter";
  if (!any) return loops;
  auto order = graph.topological_order();
  if (!order.ok()) return loops;

  // How deep a node stands, and in which of the outermost loops.
  std::vector<int> depth(loops.size(), 0);
  std::unordered_map<std::string, int> numbers;
  for (const Node* n : *order) {
    const size_t id = size_t(n->id());
    int d = 0;
    auto from = [&](const Node* p) {
      if (!p || p->op() == "NextIteration" || p->op() == "RefNextIteration") return;
      const size_t pid = size_t(p->id());
      const bool enter = p->op() == "Enter" || p->op() == "RefEnter", exit = p->op() == "Exit" || p->op() == "RefExit";
      const int behind = depth[pid] + (enter ? 1 : 0) - (exit ? 1 : 0);
      if (behind <= d) return;
      d = behind;
      loops[id] = loops[pid];
    };
    for (const auto& e : n->inputs()) from(e.node);
    for (const Node* c : n->control_inputs()) from(c);
    depth[id] = d;
    if (d == 0 && (n->op() == "Enter" || n->op() == "RefEnter"))
      loops[id] = numbers.try_emplace(n->attr<std::string>("frame_name"), int(numbers.size())).first->second;
  }
  return loops;
}

}  // namespace weft::runtime

#include "runtime/frames.h"

#include <string>
#include <unordered_map>

#include "graph/node_traits.h"

namespace weft_engine::runtime {

using graph::Node;

std::vector<int> outermost_loops(const graph::Graph& graph) {
  std::vector<int> loops(size_t(graph.num_ids()), -1);
  bool any = false;
  for (const Node* n : graph.nodes()) any |= is_enter(*n);
  if (!any) return loops;
  auto order = graph.topological_order();
  if (!order.ok()) return loops;

  // How deep a node is, and in which of the outermost loops.
  std::vector<int> depth(loops.size(), 0);
  std::unordered_map<std::string, int> numbers;
  for (const Node* n : *order) {
    const size_t id = size_t(n->id());
    int d = 0;
    auto from = [&](const Node* p) {
      if (!p || is_next_iteration(*p)) return;
      const size_t pid = size_t(p->id());
      const int behind = depth[pid] + (is_enter(*p) ? 1 : 0) - (is_exit(*p) ? 1 : 0);
      if (behind <= d) return;
      d = behind;
      loops[id] = loops[pid];
    };
    for (const auto& e : n->inputs()) from(e.node);
    for (const Node* c : n->control_inputs()) from(c);
    depth[id] = d;
    if (d == 0 && is_enter(*n)) loops[id] = numbers.try_emplace(n->attr<std::string>("frame_name"), int(numbers.size())).first->second;
  }
  return loops;
}

}  // namespace weft_engine::runtime

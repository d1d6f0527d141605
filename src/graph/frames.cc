#include "graph/frames.h"

#include "graph/node_traits.h"

namespace weft_engine::graph {

Frames::Frames(const Graph& graph, const std::vector<Node*>& order) : of_(size_t(graph.num_ids()), 0) {
  for (const Node* n : order) {
    int frame = 0;
    const auto see = [&](const Node* from) {
      const int f = of(from);
      if (all_[size_t(f)].depth > all_[size_t(frame)].depth) frame = f;
    };
    for (const Endpoint& e : n->inputs()) {
      if (e.node) see(e.node);
    }
    for (const Node* c : n->control_inputs()) see(c);
    if (is_enter(*n)) frame = child(frame, n->attr<std::string>("frame_name"));
    else if (is_exit(*n)) frame = all_[size_t(frame)].parent;
    of_[size_t(n->id())] = frame;
  }
}

int Frames::outermost(const Node* n) const {
  int f = of(n);
  while (all_[size_t(f)].depth > 1) f = all_[size_t(f)].parent;
  return f;
}

int Frames::child(int parent, const std::string& name) {
  for (size_t i = 1; i < all_.size(); ++i) {
    if (all_[i].parent == parent && all_[i].name == name) return int(i);
  }
  all_.push_back({name, parent, all_[size_t(parent)].depth + 1});
  return int(all_.size()) - 1;
}

}  // namespace weft_engine::graph

// The frames of version 1 loops: in which one the outputs of each node are. An Enter begins a frame, an Exit ends it.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

class Frames {
 public:
  // `order`: the graph's nodes in topological order. Nodes that are added later are in no frame.
  Frames(const Graph& graph, const std::vector<Node*>& order);

  // 0 is the graph itself.
  int of(const Node* n) const { return size_t(n->id()) < of_.size() ? of_[size_t(n->id())] : 0; }
  int depth(const Node* n) const { return all_[size_t(of(n))].depth; }
  // The outermost frame around a node, or 0.
  int outermost(const Node* n) const;
  const std::string& name(int frame) const { return all_[size_t(frame)].name; }
  int parent(int frame) const { return all_[size_t(frame)].parent; }

 private:
  struct Frame {
    std::string name;
    int parent = 0, depth = 0;
  };
  int child(int parent, const std::string& name);

  std::vector<int> of_;  // by node id
  std::vector<Frame> all_{1};
};

}  // namespace weft_engine::graph

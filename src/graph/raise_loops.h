// Version 1 control flow as functional ops: the nodes of a frame (Enter, Merge, Switch, NextIteration, Exit) become the functions of a
// While, a Merge and what is between it and its Switches those of an If. The deepest part first, so that a function holds functional ops
// alone. What puts the new nodes into the graph, and what becomes of the old ones, is the caller's: the compiler removes them, the
// backward pass keeps them.
#pragma once

#include <string>
#include <vector>

#include "graph/frames.h"
#include "graph/graph.h"

namespace weft_engine::graph {

class LoopRaiser {
 public:
  explicit LoopRaiser(Graph& graph) : graph_(graph) {}
  virtual ~LoopRaiser() = default;

  // Unimplemented names a node that is not where a plain loop or branch has one.
  Status run();

 protected:
  // Is this part raised? Its node is a LoopCond, or a Merge that is no part of a loop.
  virtual bool wanted(const Node* part, const Frames& frames) = 0;
  // Do nodes with effects, of which no result depends, become part of a loop's body?
  virtual bool keeps_effects() const = 0;
  virtual Result<Node*> add(const std::string& name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs,
                            const std::vector<Node*>& controls) = 0;
  // From now on the outputs of an Exit or of a branch's Merge are these values, of `by`.
  virtual Status replace(Node* node, const std::vector<Endpoint>& values, Node* by) = 0;
  // All of a part is replaced; `nodes` are its own. May be in it twice.
  virtual Status finish(const std::vector<Node*>& nodes, Node* by) = 0;

  Graph& graph() { return graph_; }

 private:
  class Loop;
  class Branch;
  Graph& graph_;
};

// Unimplemented: `n` is not where a plain loop or branch has one.
Status not_plain_control_flow(const Node& n, std::string_view what);

}  // namespace weft_engine::graph

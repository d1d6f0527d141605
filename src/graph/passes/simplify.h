// Rules that make one node simpler: what an op's rule (OpTraits::simplify, in <family>_simplify.cc beside the op) works with. The arithmetic
// pass asks them of every pure node with one output. Results stay what they are, infinities, NaNs and errors included; the last bits of
// floating numbers may differ where Grappler lets them differ, too.
#pragma once

#include "graph/passes/util.h"

namespace weft_engine::graph {

class SimplifyContext {
 public:
  SimplifyContext(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}
  Graph& graph() { return g_; }

  // The node's readers read `value` instead, and the node is removed. False, and nothing done, where the user asked for another device.
  bool replace(Node* n, Endpoint value);
  // ... its input, if that has the type of the output.
  bool same(Node* n, int input);
  // Another op in its place, with the shapes that follow.
  Status rewrite(Node* n, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs);
  // A Reshape of x in its place, to the shape of its output, which must be known.
  Status make_reshape(Node* n, Endpoint x) { return become_reshape(g_, n, x); }
  // A reshape of a reshape becomes one of the first tensor, where shapes are known. True when the node was removed.
  Result<bool> reshape_of_reshape(Node* n);
  Result<Endpoint> constant(Node* near, std::string_view suffix, Tensor value) { return add_const_near(g_, near, suffix, std::move(value)); }
  // Would an operation of x with the constant give the shape of x?
  static bool keeps_shape(const Endpoint& x, const Endpoint& constant);

 protected:
  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
};

}  // namespace weft_engine::graph

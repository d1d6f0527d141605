// What rules that fuse work with (<family>_fuse.cc beside the op that a pattern becomes, registered by Registry::fuse). A pattern is replaced only
// when nobody else reads its inner values.
#pragma once

#include "graph/passes/util.h"

namespace weft_engine::graph {

// An op that this build has, with a kernel.
bool has_kernel(const Graph& g, std::string_view op);
// Whether one node is reachable from another, asked often of a graph that changes little: a search that knows where nodes stand
// in a topological order.
class Reachability {
 public:
  Reachability() = default;
  static Result<Reachability> make(const Graph& g);
  // Is there a way from `from` to `n`?
  bool depends(const Node* n, const Node* from) const;
  bool any_depends(std::initializer_list<Endpoint> inputs, const std::vector<Node*>& from) const;
  int place(const Node* n) const { return size_t(n->id()) < place_.size() ? place_[size_t(n->id())] : -1; }  // -1: a new node
  void set_place(const Node* n, int place);

 private:
  std::vector<int> place_;
};
// A tensor of one long dimension as a vector.
Result<Endpoint> as_vector(Graph& g, Node* near, const Endpoint& v);
// Is `v` a vector of n elements, perhaps with dimensions of one in front?
bool is_row(const Endpoint& v, int64_t n);
// The readers of `from` read `to` instead, and whoever waits for its node waits for that of `to`; then the
// node goes, and with it what only it needed.
void replace_root(FunctionBody& body, Endpoint from, Endpoint to);
// Removes a pure node that nobody reads or waits for, and then its inputs likewise.
void drop_unused(FunctionBody& body, Node* n);

}  // namespace weft_engine::graph

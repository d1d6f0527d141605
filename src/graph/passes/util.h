// What the passes share: questions about nodes, and edits that keep effects in their order.
//
// The words. A node is *pure* when its outputs depend on its inputs and attributes alone and nothing else
// can tell whether it ran. All others are *ordered*: control edges between them are what keeps reads and
// writes apart, so an edit may drop a control edge only where a path of edges still says the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/function_body.h"
#include "graph/node_traits.h"
#include "graph/passes/passes.h"

namespace weft_engine::graph {

// ---- questions about a node, beside those of graph/node_traits.h ---------------------------------------------------------------------------
bool is_pure(const Node& n);
bool has_refs(const Node& n);
bool has_function(const Node& n);        // names a function in an attribute, or is a call of one
bool has_type(const Node& n, DType t);   // among inputs and outputs

// The value of a Const; null if the endpoint is something else.
const Tensor* const_value(const Endpoint& e);
// All elements of a constant number as a double; nullopt if they differ or it is no such constant.
std::optional<double> const_splat(const Endpoint& e);
std::optional<std::vector<int64_t>> const_ints(const Endpoint& e);
std::optional<int64_t> const_int(const Endpoint& e);  // one element

const PartialShape& shape_of(const Endpoint& e);  // unknown where nothing was inferred
DType type_of(const Endpoint& e);
int num_uses(const Endpoint& e);
// The one reader of this output, if it has one and nobody waits for its node; null otherwise.
Node* only_reader(const FunctionBody& body, const Endpoint& e);
bool is_control_ret(const FunctionBody& body, const Node* n);
void add_control_ret(FunctionBody& body, Node* n);  // it must run, too
bool same_device(const Node& a, const Node& b);

// Nodes behind version 1 control flow, by id: they may be dead, or live in a loop's frame, and a control
// edge then carries that fact. Empty when there is no such control flow.
class Region {
 public:
  explicit Region(const Graph& g);
  bool contains(const Node* n) const { return size_t(n->id()) < inside_.size() && inside_[size_t(n->id())]; }
  bool any() const { return !inside_.empty(); }

 private:
  std::vector<char> inside_;
};

// ---- edits --------------------------------------------------------------------------------------------
// A new constant, on the device of a node.
Result<Endpoint> add_const_near(Graph& g, Node* near, std::string_view suffix, Tensor value);
// A new node likewise, with its shapes.
Result<Node*> add_near(Graph& g, Node* near, std::string_view suffix, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs);
// A Reshape of x, to these sizes.
Result<Node*> add_reshape_near(Graph& g, Node* near, std::string_view suffix, Endpoint x, const std::vector<int64_t>& dims);
// The node becomes a Reshape of x to the shape of its output, which must be known.
Status become_reshape(Graph& g, Node* n, Endpoint x);
// The readers of output i of the node read `values[i]` instead (an empty Endpoint leaves that output
// alone); if nobody reads it afterwards it goes. What waited for the node waits for what it waited for.
// False, and nothing done, where that would cost more edges than it saves or the node must stay.
bool bypass(FunctionBody& body, const Region& region, Node* n, const std::vector<Endpoint>& values);
inline bool bypass(FunctionBody& body, const Region& region, Node* n, Endpoint value) {
  return bypass(body, region, n, std::vector<Endpoint>{value});
}
// Constants outside regions wait for nothing, and nobody waits for them: their control inputs move on to
// those who read them or wait for them.
void free_constants(FunctionBody& body, const Region& region);
// Copies the "_"-attributes that a replacement should keep (colocation).
void keep_extra_attrs(const Node& from, AttrMap& to);

// ---- steps that several passes take -------------------------------------------------------------------
// Runs the node's kernel now if all of its inputs are constants, and puts the result in its place.
// Returns whether it did.
Result<bool> fold_node(FunctionBody& body, const Region& region, Node* n);
// Shapes of all nodes.
Status infer_body(FunctionBody& body, const PassContext& c);
// Shapes of the outputs of a node that is new or has other inputs now.
void refresh_shapes(Node* n);

}  // namespace weft_engine::graph

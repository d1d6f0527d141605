// Gradients of outputs of a graph with respect to others, added to the graph as nodes. The rules stand
// beside the ops (OpSpec::grad); this walks back from the outputs and sums what meets.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/function_body.h"
#include "graph/graph.h"
#include "graph/shape_inference.h"
#include "op/gradient.h"

namespace weft_engine::autodiff {

using namespace weft_engine::graph;

struct GradientOptions {
  std::string scope = "gradients";
  // An x that no y depends on: an error in TensorFlow's words, or an empty endpoint, as for one to which nothing flows back.
  bool unreachable_is_error = true;
  // Nothing flows back through these nodes.
  std::vector<Node*> stops;
  // Rules of the program's for nodes of this graph, asked before all others: null where it has none. A rule gets what flows out of each output and
  // adds nodes that give what flows into each input; null stands for nothing.
  using NodeRule = std::function<Result<std::vector<Endpoint>>(const std::vector<Endpoint>& dys)>;
  std::function<NodeRule(Node*)> rule_of;
};

// For each of `xs` the gradient of the sum of `ys`; `dys` are the gradients of the ys (ones where it is empty or
// an endpoint is null). NotFound names an op on the way that has no gradient.
// A gradient may stay one of some rows: `indices` and `dense_shape` are null where it is dense.
struct GradientEnds {
  Endpoint values, indices, dense_shape;
};
Result<std::vector<GradientEnds>> add_sparse_gradients(Graph& graph, ShapeInference& shapes, const std::vector<Endpoint>& ys,
                                                       const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys,
                                                       const GradientOptions& options = {});
Result<std::vector<Endpoint>> add_gradients(Graph& graph, ShapeInference& shapes, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                            const std::vector<Endpoint>& dys, const GradientOptions& options = {});

// The rule of one op, applied. Also what tapes use.
Result<Grads> op_gradient(Emitter& emitter, const NodeInfo& node, std::span<const Value> inputs, std::span<const Value> outputs,
                          std::span<const Value> output_grads);
// A rule that a user gives for an op, before those of the ops themselves. AlreadyExists for a second one.
Status register_gradient(const std::string& op, std::function<Grads(const GradContext&)> rule);
// For one that goes with what it belongs to.
void unregister_gradient(const std::string& op);
// The gradient of an op as a function of its inputs and of what flows out of its outputs, made for each node; it serves where there is no other.
// Without a graph: nothing flows back. AlreadyExists for a second one.
using GradientFunction = std::function<Result<graph::FunctionBody>(const NodeInfo&)>;
Status register_gradient_function(const std::string& op, GradientFunction make);
// Null where none is registered.
GradientFunction gradient_function(std::string_view op);
Result<Grads> apply_gradient_function(const GradientFunction& make, const GradContext& context);
// Can a gradient flow through a value of this type?
bool differentiable(DType t);

}  // namespace weft_engine::autodiff

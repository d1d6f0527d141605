// Shapes of the values in a graph, by the rules of the ops. Two ways: node by node while a graph is built,
// as TensorFlow's C API does (a rule that fails is the builder's error), and over a whole finished graph,
// for passes and planners (a rule that fails leaves its outputs unknown: the step, if it gets there at all,
// will report it).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

using HandleData = ShapeContext::HandleData;

// What is known of the arguments (_Arg nodes) of a function body, by index; may be shorter than the list.
struct ArgShapes {
  std::vector<PartialShape> shapes;
  std::vector<std::optional<HandleData>> handles;
};

// For graphs that grow: keeps the constants and function bodies that it has met. Not thread-safe.
class ShapeInference {
 public:
  explicit ShapeInference(Graph& graph);
  ~ShapeInference();
  ShapeInference(ShapeInference&&) noexcept;
  ShapeInference& operator=(ShapeInference&&) noexcept;

  // Fills node->shapes and node->handles from those of the nodes that it reads. Calls (PartitionedCall and
  // functions by name) go through the body. On an error, worded as TensorFlow does ("... for '{{node x}} =
  // Op[...](a, b)' with input shapes: [2], [3]."), the node is as before.
  Status node(Node* node);
  // The value, if it depends on constants and known shapes alone.
  std::optional<Tensor> value(Endpoint e);
  // After a change to nodes that were there.
  void forget();

  // Every node; loops of Enter, Merge and NextIteration to their fixed point, and If, Case and While through
  // their bodies. InvalidArgument only for a graph that cannot be ordered. What it says holds in every step:
  // attributes that merely promise a shape ("output_shapes" of While) are not taken where a body tells more.
  Status all(const ArgShapes& args = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// For one node, or one whole graph.
Status infer_node(Graph& graph, Node* node);
Status infer_all(Graph& graph, const ArgShapes& args = {});

// The most that holds for both.
PartialShape common_shape(const PartialShape& a, const PartialShape& b);

// "{{node x}} = MatMul[T=DT_FLOAT, ...](a, b:1, ^c)", as TensorFlow shows nodes in its messages.
std::string summarize_node(const Node& node);

}  // namespace weft_engine::graph

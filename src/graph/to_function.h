// A function made of nodes of a graph: what TF_GraphToFunction does, and what tracing ends with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

struct FunctionOptions {
  std::string name, description;
  bool append_hash = false;
  std::vector<Endpoint> inputs, outputs;
  std::vector<std::string> output_names;  // empty: made from the nodes' names
  std::vector<const Node*> control_outputs;
  std::vector<std::string> control_output_names;  // empty: the nodes' names
  // The nodes of the body; without a list, all of the graph but those that are inputs.
  std::optional<std::vector<const Node*>> body;
  bool drops_outer_controls = false;  // control edges from nodes that are not in the body are left out, not an error
};

// InvalidArgument or OutOfRange with TensorFlow's texts.
Result<FunctionDef> to_function(const Graph& graph, const FunctionOptions& options);

// Nodes of a graph as a function that the engine makes for itself: its results are "result_0", ..., its arguments know their shapes.
struct Interface {
  std::vector<Endpoint> inputs, outputs;
  std::vector<Node*> control_outputs;
  std::vector<const Node*> body;
  bool drops_outer_controls = false;
};
Result<FunctionDef> make_function(const Graph& graph, std::string name, bool append_hash, const Interface& io);
// Adds it under a name made of what it computes, or finds it there; `of` is the function that it is made of, empty where there is none.
Result<FunctionAttr> define_function(Graph& graph, std::string name, const Interface& io, std::string_view of = {});

}  // namespace weft_engine::graph

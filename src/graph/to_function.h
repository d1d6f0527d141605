// A function made of nodes of a graph: what TF_GraphToFunction does, and what tracing ends with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace weft::graph {

struct FunctionOptions {
  std::string name, description;
  bool append_hash = false;
  std::vector<Endpoint> inputs, outputs;
  std::vector<std::string> output_names;  // empty: made from the nodes' names
  std::vector<const Node*> control_outputs;
  std::vector<std::string> control_output_names;  // empty: the nodes' names
  // The nodes of the body; without a list, all of the graph but those that are inputs.
  std::optional<std::vector<const Node*>> body;
};

// InvalidArgument or OutOfRange with TensorFlow's texts.
Result<FunctionDef> to_function(const Graph& graph, const FunctionOptions& options);

}  // namespace weft::graph

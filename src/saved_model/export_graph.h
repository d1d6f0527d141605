// A function body as a GraphDef: arguments become placeholders, results identities under names of the caller's choice.
// The way out of freezing, optimising and drawing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/function_body.h"
#include "graph/function_library.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

struct ExportPort {
  std::string name;
  PartialShape shape;  // of a placeholder; unknown: not told
};

struct ExportedGraph {
  std::vector<graph::NodeDef> nodes;
  std::vector<std::string> inputs, outputs;  // the nodes' names: the ports', made valid and unique
  std::vector<std::string> targets;          // the body's control results
  graph::Versions versions;
};

// `results` may be shorter than the body's results: the others are left out with what only they need.
Result<ExportedGraph> export_body(const graph::FunctionBody& body, const std::vector<ExportPort>& args, const std::vector<ExportPort>& results);

// Drops nodes that the outputs do not need, through data or control edges.
void prune_nodes(ExportedGraph& g);

// The functions that nodes call, directly or through others, and their gradients.
Result<std::shared_ptr<graph::FunctionLibrary>> needed_functions(const std::vector<graph::NodeDef>& nodes, const graph::FunctionLibrary& from);
// The functions that a node names, in its attributes or as its op.
std::vector<std::string> functions_of(const graph::NodeDef& node, const graph::FunctionLibrary& library);

// A graph with these nodes and functions, checked.
Result<std::unique_ptr<graph::Graph>> make_graph(ExportedGraph exported, std::shared_ptr<graph::FunctionLibrary> library,
                                                 const op::Registry& registry);

// A name that a node may have, made from any text.
std::string valid_node_name(std::string_view text);

}  // namespace weft_engine::saved_model

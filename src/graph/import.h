// Adding the nodes of a GraphDef to a graph, as TensorFlow's import_graph_def and its C API do.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

// A tensor of the GraphDef being imported, by name; index -1 stands for control.
using TensorName = std::pair<std::string, int>;

struct ImportOptions {
  std::string prefix;                         // of every name, without the slash
  bool uniquify_names = false, uniquify_prefix = false;
  std::map<TensorName, Endpoint> input_map;   // what to read instead of these; index -1: the node for control edges
  std::vector<Node*> control_dependencies;    // for every imported node that reads no other imported one
  std::vector<TensorName> return_outputs;
  std::vector<std::string> return_nodes;
  std::string default_device;                 // for nodes that name none
  bool skip_mapped_nodes = false;
};

struct ImportResults {
  std::vector<Endpoint> return_outputs;
  std::vector<Node*> return_nodes;
  std::vector<TensorName> missing_unused_input_map_keys;
  std::vector<Node*> added;  // in the order of the GraphDef
};

// On an error nothing has been added (functions may have been). Nodes may stand in any order.
Result<ImportResults> import_graph_def(Graph& graph, GraphDef def, const ImportOptions& options = {});

// Shapes of the nodes that were added, by their rules and by the attribute _output_shapes, which must agree and is removed.
class ShapeInference;
Status infer_imported(Graph& graph, ShapeInference& shapes, const std::vector<Node*>& added);
// After an error of that.
void remove_imported(Graph& graph, const std::vector<Node*>& added);

// What producer and consumer versions say about each other, in TensorFlow's words.
Status check_versions(const Versions& v);
inline constexpr int kGraphDefVersion = 2474;            // TensorFlow 2.21's
inline constexpr int kGraphDefVersionMinProducer = 0;

}  // namespace weft_engine::graph

// SPDX-License-Identifier: Apache-2.0
//
// Graphs from messages.
#ifndef TENSORFLOW_CORE_GRAPH_GRAPH_CONSTRUCTOR_H_
#define TENSORFLOW_CORE_GRAPH_GRAPH_CONSTRUCTOR_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/tensor_id.h"

namespace tensorflow {

class ShapeRefiner;

inline Status ConvertGraphDefToGraph(const GraphConstructorOptions&, const GraphDef& def, Graph* graph) { return graph->Import(def); }

struct ImportGraphDefOptions {
  std::string prefix;
  bool uniquify_names = false, uniquify_prefix = false;
  // An input that the GraphDef names, and what is read in its place: an output of the graph (Graph::kControlSlot on both sides: a node).
  std::map<SafeTensorId, SafeTensorId> input_map;
  bool skip_mapped_nodes = false;
  std::vector<std::string> control_dependencies;  // nodes of the graph that run before those of the GraphDef
  std::vector<SafeTensorId> return_tensors;
  std::vector<std::string> return_nodes;
  bool validate_colocation_constraints = true;
  bool validate_shape = true;
  std::string default_device;
  bool propagate_device_spec = false;
};

struct ImportGraphDefResults {
  using Index = int;
  std::vector<std::pair<Node*, Index>> return_tensors;
  std::vector<Node*> return_nodes;
  std::vector<SafeTensorId> missing_unused_input_map_keys;
};

namespace internal {
inline Status NodeOf(Graph* graph, const std::string& name, const char* what, TF_Operation** node) {
  *node = TF_GraphOperationByName(graph->c(), name.c_str());
  return *node ? OkStatus() : errors::InvalidArgument("node '", name, "' in ", what, " does not exist in graph");
}
inline Status COptions(const ImportGraphDefOptions& o, Graph* graph, TF_ImportGraphDefOptions* c) {
  if (o.skip_mapped_nodes) return errors::Unimplemented("ImportGraphDefOptions::skip_mapped_nodes is not supported");
  if (o.propagate_device_spec) return errors::Unimplemented("ImportGraphDefOptions::propagate_device_spec is not supported");
  if (!o.validate_shape) return errors::Unimplemented("ImportGraphDefOptions::validate_shape = false is not supported");
  if (!o.prefix.empty()) TF_ImportGraphDefOptionsSetPrefix(c, o.prefix.c_str());
  if (!o.default_device.empty()) TF_ImportGraphDefOptionsSetDefaultDevice(c, o.default_device.c_str());
  TF_ImportGraphDefOptionsSetUniquifyNames(c, o.uniquify_names);
  TF_ImportGraphDefOptionsSetUniquifyPrefix(c, o.uniquify_prefix);
  TF_Operation* node = nullptr;
  for (const auto& [from, to] : o.input_map) {
    TF_RETURN_IF_ERROR(NodeOf(graph, to.node(), "input_map", &node));
    if ((from.index() == Graph::kControlSlot) != (to.index() == Graph::kControlSlot))
      return errors::InvalidArgument("input_map entry ", from.ToString(), "->", to.ToString(), " between control edge and non-control edge");
    if (from.index() == Graph::kControlSlot) TF_ImportGraphDefOptionsRemapControlDependency(c, from.node().c_str(), node);
    else TF_ImportGraphDefOptionsAddInputMapping(c, from.node().c_str(), from.index(), {node, to.index()});
  }
  for (const std::string& name : o.control_dependencies) {
    TF_RETURN_IF_ERROR(NodeOf(graph, name, "control_dependencies", &node));
    TF_ImportGraphDefOptionsAddControlDependency(c, node);
  }
  for (const SafeTensorId& id : o.return_tensors) TF_ImportGraphDefOptionsAddReturnOutput(c, id.node().c_str(), id.index());
  for (const std::string& name : o.return_nodes) TF_ImportGraphDefOptionsAddReturnOperation(c, name.c_str());
  return OkStatus();
}
}  // namespace internal

// Adds the nodes and functions of a GraphDef. Shapes are always inferred: a ShapeRefiner of the caller's has to be null.
inline Status ImportGraphDef(const ImportGraphDefOptions& options, const GraphDef& def, Graph* graph, ShapeRefiner* refiner,
                             ImportGraphDefResults* results = nullptr) {
  if (refiner) return errors::Unimplemented("ImportGraphDef with a ShapeRefiner is not supported");
  if (results && (!results->return_tensors.empty() || !results->return_nodes.empty() || !results->missing_unused_input_map_keys.empty()))
    return errors::InvalidArgument("All fields in results argument to ImportGraphDef() must be empty.");
  if (!results && !options.return_tensors.empty())
    return errors::InvalidArgument("results argument to ImportGraphDef() must be non-null if opts.return_tensors is non-empty");
  if (!results && !options.return_nodes.empty())
    return errors::InvalidArgument("results argument to ImportGraphDef() must be non-null if opts.return_nodes is non-empty");
  const internal::Owned<TF_ImportGraphDefOptions> c_options(TF_NewImportGraphDefOptions());
  TF_RETURN_IF_ERROR(internal::COptions(options, graph, c_options.get()));
  const auto bytes = internal::Bytes(def);
  const internal::CStatus s;
  const internal::Owned<TF_ImportGraphDefResults> told(TF_GraphImportGraphDefWithResults(graph->c(), bytes.get(), c_options.get(), s));
  TF_RETURN_IF_ERROR(s.status());
  if (!results) return OkStatus();
  int n = 0;
  TF_Output* outputs = nullptr;
  TF_Operation** nodes = nullptr;
  const char** names = nullptr;
  int* indices = nullptr;
  TF_ImportGraphDefResultsReturnOutputs(told.get(), &n, &outputs);
  for (int i = 0; i < n; ++i) results->return_tensors.emplace_back(Node::Of(outputs[i].oper), outputs[i].index);
  TF_ImportGraphDefResultsReturnOperations(told.get(), &n, &nodes);
  for (int i = 0; i < n; ++i) results->return_nodes.push_back(Node::Of(nodes[i]));
  TF_ImportGraphDefResultsMissingUnusedInputMappings(told.get(), &n, &names, &indices);
  for (int i = 0; i < n; ++i) results->missing_unused_input_map_keys.emplace_back(names[i], indices[i]);
  return OkStatus();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_GRAPH_CONSTRUCTOR_H_

// Graphs, nodes and functions in TensorFlow's GraphDef, NodeDef and FunctionDef messages.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/defs.h"
#include "graph/function_library.h"
#include "graph/graph.h"

namespace weft_engine::io {

// Functions are decoded when they are first asked for; `bytes` is kept alive until then.
core::Result<graph::GraphDef> decode_graph_def(std::shared_ptr<const std::string> bytes);
// As above for a GraphDef inside a larger message; `part` must lie in `owner`.
core::Result<graph::GraphDef> decode_graph_def(std::shared_ptr<const void> owner, std::string_view part);
core::Result<graph::NodeDef> decode_node_def(std::string_view bytes);
core::Result<graph::FunctionDef> decode_function_def(std::string_view bytes);

core::Result<std::string> encode_node_def(const graph::NodeDef& node);
core::Result<std::string> encode_function_def(const graph::FunctionDef& def);
// A node of a graph, with all its attributes and its inputs by name.
graph::NodeDef to_node_def(const graph::Node& node);
// The graph with its versions and, unless told otherwise, its library.
core::Result<std::string> encode_graph_def(const graph::Graph& graph, bool with_library = true);
core::Result<std::string> encode_function_library(const graph::FunctionLibrary& library);
std::string encode_versions(const graph::Versions& v);

}  // namespace weft_engine::io

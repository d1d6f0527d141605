// Graphs on their way between client, master and workers, as GraphDefs.
#pragma once

#include <set>

#include "graph/graph.h"
#include "remote/transport.h"

namespace weft_engine::remote {

// How much of a growing graph the other side has.
struct SentGraph {
  int nodes = 0;  // ids below
  std::set<std::string> functions, gradients;
};

// A GraphDef of what is new in the graph since `sent`, which then says what was. Empty: nothing.
Result<std::string> encode_growth(const graph::Graph& graph, SentGraph& sent);
// A GraphDef of the whole with each node on its assigned device, and of the library the functions that are called.
Result<std::string> encode_part(const graph::Graph& graph);
// Adds a GraphDef whose nodes may read those that are there.
Status grow(graph::Graph& graph, std::string graph_def);

}  // namespace weft_engine::remote

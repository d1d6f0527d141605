// holds: whether a node is one of a graph. Clients may bring nodes of other graphs; ids alone do not tell them apart.
#pragma once

#include "graph/graph.h"

namespace weft_engine::graph {

inline bool holds(const Graph& g, const Node* n) { return n && n->id() < g.num_ids() && g.node(n->id()) == n; }

}  // namespace weft_engine::graph

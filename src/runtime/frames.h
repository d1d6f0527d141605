// The loops of version 1 that a body holds: which of its nodes stand in which frame.
#pragma once

#include <vector>

#include "graph/function_body.h"

namespace weft_engine::runtime {

// By node id: the outermost loop a node belongs to (Enter and Exit included), or -1. All -1 for a body
// that has none, or that is not right (planning says what is wrong).
std::vector<int> outermost_loops(const graph::Graph& graph);

}  // namespace weft_engine::runtime

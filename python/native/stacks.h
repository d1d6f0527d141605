// Where the program made each node of a graph.
#pragma once

#include "bridge.h"

namespace weft_engine::python {

// Keeps the frames of the user's that are running now as those that make the node; for as long as the graph lives.
void note_stack(trace::FuncGraph& graph, const std::string& node);
// [(file, line, function)] from the outside in; empty where nothing is known.
nb::list stack_of(trace::FuncGraph& graph, const std::string& node);
}  // namespace weft_engine::python

// If, Case and While as version 1 control flow around calls of their functions: then what is in these can be on several devices, as each node asks.
// The reverse of raise_loops.h.
#pragma once

#include "graph/function_body.h"

namespace weft_engine::graph {

// Whether lower_control_flow() takes the node: a branch or a loop whose choice is a bool (Case: an int32).
bool can_lower(const Node& node);
// Puts version 1 nodes in its place, on its device. Calls in them are opened by pass_inline.
Status lower_control_flow(FunctionBody& body, Node* node);

}  // namespace weft_engine::graph

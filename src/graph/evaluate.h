// Running one node on known inputs, for constant folding and shape inference: on the calling thread, on the
// CPU, with the same kernels that a step would use.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

// Whether running the node at any time gives what a step would get: it has no state, calls no function, steers
// no control flow, cannot be fed, and carries plain tensors.
bool can_evaluate(const Node& node);

// The node's outputs. An error of the kernel is the error that a step would report; exceptions become a status.
Result<std::vector<Tensor>> evaluate_node(const Registry& registry, const NodeInfo& node, std::span<const Tensor* const> inputs);

}  // namespace weft_engine::graph

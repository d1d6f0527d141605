// Clusters: of a body that cannot be compiled as a whole, the parts that can become calls of functions that are compiled, around the nodes
// that stay the engine's.
#pragma once

#include "graph/function_body.h"

namespace weft_engine::jit {

// A call whose function is compiled if it can be, and run by the engine otherwise.
inline constexpr char kMayCompile[] = "_WeftMayCompile";

// Changes the body; gives the number of clusters.
core::Result<int> cluster(graph::FunctionBody& body);

}  // namespace weft_engine::jit

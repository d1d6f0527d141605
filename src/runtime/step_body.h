// The part of a graph that a step of a session runs, as a function body.
#pragma once

#include <span>

#include "graph/function_body.h"

namespace weft_engine::runtime {

// Who reads `to` gets the value of `from` (CallableOptions.tensor_connection).
struct Connection {
  graph::Endpoint from, to;
};

// What the fetches and targets need, cut off at the feeds: an argument for each feed, a result for each fetch. `done` ran before in the same step
// (PartialRun): control edges from them are no reason to run them. Nodes keep their devices, those that were assigned too.
core::Result<graph::FunctionBody> step_body(const graph::Graph& graph, std::span<const graph::Endpoint> feeds,
                                            std::span<const graph::Endpoint> fetches, std::span<graph::Node* const> targets,
                                            std::span<graph::Node* const> done = {}, std::span<const Connection> connections = {});

}  // namespace weft_engine::runtime

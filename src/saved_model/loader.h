// Loading a SavedModel into a graph and a session: import, restore the variables, run the initialiser.
#pragma once

#include <memory>
#include <mutex>

#include "runtime/session.h"
#include "saved_model/meta_graph.h"

namespace weft_engine::saved_model {

// The tensor that a name stands for: "node:0" or "node".
Result<graph::Endpoint> find_tensor(const graph::Graph& graph, std::string_view name);

// The graph must be empty or hold no node of the model's names; the session is made over it.
Result<std::unique_ptr<runtime::Session>> load(graph::Graph& graph, std::mutex& mutex, const MetaGraph& meta, const std::string& dir,
                                               const runtime::SessionOptions& options);

}  // namespace weft_engine::saved_model

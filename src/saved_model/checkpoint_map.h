// Which variable of the graph each key of the checkpoint is restored into, read off the model's own restore op.
#pragma once

#include <map>
#include <string>

#include "graph/graph.h"
#include "saved_model/meta_graph.h"

namespace weft_engine::saved_model {

// Checkpoint key -> the handle (or ref) that is assigned. Empty where the model restores nothing.
Result<std::map<std::string, graph::Endpoint>> restored_variables(const graph::Graph& graph, const MetaGraph& meta);

}  // namespace weft_engine::saved_model

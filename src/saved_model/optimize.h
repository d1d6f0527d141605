// The engine's passes over a whole GraphDef, for tools. Programs get theirs when they are planned.
#pragma once

#include <functional>

#include "saved_model/model.h"

namespace weft_engine::saved_model {

struct OptimizedGraph {
  std::unique_ptr<graph::Graph> graph;
  std::vector<std::string> inputs, outputs;
};

// Placeholders, what no other node reads, and nodes with effects stay, under their names.
Result<OptimizedGraph> optimize_graph(const graph::Graph& graph, const std::vector<std::string>& disabled,
                                      std::function<void(std::string_view pass, int before, int after)> report);

}  // namespace weft_engine::saved_model

// What a weft::Graph holds. As with unwrap.h, this comes before any header of include/weft.
#pragma once

#include "graph/graph.h"

#include "api/unwrap.h"
#include "weft/graph.h"

namespace weft {

struct Graph::Impl {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<std::string> inputs, outputs;
};

}  // namespace weft

// A loop of version 1 control flow (Enter, Merge, Switch, NextIteration, Exit) around two given graphs.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

// One part of the loop: a graph whose placeholders stand for the loop's variables.
struct LoopPart {
  const Graph* graph = nullptr;
  std::vector<Endpoint> inputs;
  std::vector<Endpoint> outputs;
};

struct WhileLoop {
  std::string name;              // of the frame, and the prefix of every node
  std::vector<Endpoint> inputs;  // in the graph that gets the loop
  LoopPart cond, body;
};

struct WhileLoopResult {
  std::vector<Endpoint> outputs;
  std::vector<Node*> added;
};

// On an error nothing has been added.
Result<WhileLoopResult> build_while_loop(Graph& graph, const WhileLoop& loop);

}  // namespace weft_engine::graph

// What the passes over While share: the functions of a loop as graphs, and a loop made anew from them.
#pragma once

#include "graph/passes/util.h"

namespace weft_engine::graph {

struct Loop {
  Node* node = nullptr;
  FunctionBody cond, body;

  // False where a function is missing or does not fit; the loop reports it when it runs.
  static bool open(const Graph& g, Node* node, Loop& loop);
  // Is variable i handed on unchanged?
  bool invariant(int i) const;
};

// The endpoint behind nodes that only hand it on.
Endpoint source(Endpoint e);

// A value from in front of the loop that its body reads as a new variable, which never changes.
struct LoopInput {
  Endpoint value;
  Node* arg = nullptr;  // in the body's graph, made by add_loop_input
};
Result<LoopInput> add_loop_input(Loop& loop, Endpoint value, std::string_view name);

// Puts a new loop in the place of the old one: with the bodies as they are now, of the old variables those
// in `kept`, and the added ones behind them. Results of variables that go must have no readers. Gives the
// new node; the functions go to the library, under names made of what they compute.
Result<Node*> rebuild_loop(FunctionBody& outer, Loop& loop, const std::vector<int>& kept, const std::vector<LoopInput>& added);

}  // namespace weft_engine::graph

// Loops and branches of version 1 (Enter, Merge, Switch, NextIteration, Exit) become While and If before the walk.
#include "compiler/lower_internal.h"
#include "graph/passes/util.h"

namespace weft::compiler {

core::Status raise_frames(graph::FunctionBody& body) {
  for (const graph::Node* n : body.graph->nodes()) {
    if (graph::is_v1_control_flow(*n)) return core::unimplemented("control flow of version 1: ", n->op(), " '", n->name(), "'");
  }
  return {};
}

}  // namespace weft::compiler

// Nodes that the engine adds by itself while the program runs in a device scope: gradients, branches, loops.
#pragma once

#include <string>

#include "trace/func_graph.h"

namespace weft_engine::python {

// While it lives, nodes of the graph that is traced get the device of the program's scope.
class ScopedNodes {
 public:
  ScopedNodes();
  ~ScopedNodes();

 private:
  trace::FuncGraph* before_;
  std::string before_name_;
  trace::FuncGraph* graph_;
};

}  // namespace weft_engine::python

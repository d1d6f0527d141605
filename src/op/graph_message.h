// Graphs as messages GraphDef, for kernels that hand one out or take one. Declared here, implemented by engine/.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op/attr_value.h"

namespace weft_engine::op {

class FunctionCaller;
struct KernelEnv;

struct MessageNode {
  std::string name, op;
  std::vector<std::string> inputs;
  AttrMap attrs;
};

using HeldFunctions = std::vector<std::shared_ptr<const void>>;  // what hold() gave

struct GraphMessages {
  // The functions that the attributes name, and those that these call, kept as they are now: names may leave the library. Null if there are none.
  std::shared_ptr<const void> (*hold)(FunctionCaller& functions, std::span<const AttrValue> attrs);
  // A GraphDef of these nodes with the functions that they call, from what was held.
  Result<std::string> (*encode)(const std::vector<MessageNode>& nodes, const HeldFunctions& held);
  // The first stateful op in functions; empty if there is none. Dataset ops do not count.
  std::string (*stateful_op)(FunctionCaller& functions, const HeldFunctions& held);
  // What the node behind the (last) _Retval of a GraphDef gives when it runs. Its functions live as long as a value holds who runs them (op/held.h).
  Result<Tensor> (*run)(FunctionCaller& functions, const KernelEnv& env, std::string_view graph);
};
inline std::atomic<const GraphMessages*> graph_messages{nullptr};  // set when the engine is made

}  // namespace weft_engine::op

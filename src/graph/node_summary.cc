// Nodes as TensorFlow shows them in messages.
#include "graph/shape_inference.h"
#include "op/summary.h"

namespace weft_engine::graph {

std::string summarize_node(const Node& node) {
  std::string out = cat("{{node ", node.name(), "}} = ", node.op(), "[");
  bool first = true;
  for (const auto& [name, value] : attrs_of(node)) {
    out += cat(first ? "" : ", ", name, "=", summarize_attr(value));
    first = false;
  }
  if (!node.device.empty()) out += cat(first ? "" : ", ", "_device=\"", node.device, "\"");
  out += "](";
  first = true;
  for (const Endpoint& in : node.inputs()) {
    if (!first) out += ", ";
    first = false;
    if (!in.node) continue;
    out += in.node->name();
    if (in.index) out += cat(":", in.index);
  }
  for (const Node* c : node.control_inputs()) {
    out += cat(first ? "^" : ", ^", c->name());
    first = false;
  }
  return out + ")";
}

}  // namespace weft_engine::graph

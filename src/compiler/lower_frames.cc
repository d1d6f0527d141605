// Loops and branches of version 1 become While and If before the walk; what they were is removed from the graph.
#include <algorithm>

#include "compiler/lower_internal.h"
#include "graph/node_traits.h"
#include "graph/passes/util.h"
#include "graph/raise_loops.h"

namespace weft_engine::compiler {

using core::Status;
using graph::Endpoint;
using graph::FunctionBody;
using graph::Node;

namespace {

class ReplacingRaiser final : public graph::LoopRaiser {
 public:
  explicit ReplacingRaiser(FunctionBody& body) : LoopRaiser(*body.graph), body_(body) {}

 private:
  bool wanted(const Node*, const graph::Frames&) override { return true; }
  bool keeps_effects() const override { return true; }

  core::Result<Node*> add(const std::string& name, std::string_view op, op::AttrMap attrs, std::vector<Endpoint> inputs,
                          const std::vector<Node*>& controls) override {
    return graph().add(graph().unique_name(core::cat(name, "/raised")), op, std::move(attrs), std::move(inputs), controls);
  }

  Status replace(Node* node, const std::vector<Endpoint>& values, Node* by) override {
    for (size_t i = 0; i < values.size(); ++i) graph().replace_uses({node, int(i)}, values[i]);
    graph().replace_controls(node, by);
    return {};
  }

  // Removes nodes that only read each other.
  Status finish(const std::vector<Node*>& part, Node* by) override {
    std::vector<Node*> nodes = part;
    std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    auto& rets = body_.control_rets;
    for (Node* n : nodes) {
      if (std::erase(rets, n) && std::find(rets.begin(), rets.end(), by) == rets.end()) rets.push_back(by);
    }
    // The edges that close loops.
    for (Node* n : nodes) {
      for (int i = 0; i < n->num_inputs() && n->num_inputs() > 1; ++i) {
        const Node* from = n->input(i).node;
        if (from && graph::is_next_iteration(*from)) graph().set_input(n, i, n->input(i == 0 ? 1 : 0));
      }
    }
    for (bool any = true; any;) {
      any = false;
      for (Node*& n : nodes) {
        if (!n || !n->uses().empty()) continue;
        graph().remove(n);
        n = nullptr;
        any = true;
      }
    }
    return {};
  }

  FunctionBody& body_;
};

}  // namespace

Status raise_frames(FunctionBody& body) {
  const auto left = [&] {
    const std::vector<Node*> nodes = body.graph->nodes();
    const auto at =
        std::find_if(nodes.begin(), nodes.end(), [](const Node* n) { return graph::is_enter(*n) || graph::is_switch(*n) || graph::is_merge(*n); });
    return at == nodes.end() ? nullptr : *at;
  };
  if (!left()) return {};
  WEFT_RETURN_IF_ERROR(ReplacingRaiser(body).run());
  // Switches whose branches nothing reads any more.
  graph::PassContext c;
  WEFT_RETURN_IF_ERROR(graph::pass_prune(body, c));
  if (const Node* n = left()) return graph::not_plain_control_flow(*n, "belongs to nothing");
  return {};
}

}  // namespace weft_engine::compiler

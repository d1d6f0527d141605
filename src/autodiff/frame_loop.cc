// Version 1 loops become While ops before the backward pass, so that one gradient of loops serves both. The nodes of the loop stay as
// they were; its Exits read the While instead, and what nobody reads is not run. Branches inside become If ops: what a loop keeps for the
// backward pass must not be dead.
#include <unordered_set>

#include "autodiff/backward.h"
#include "core/error_notes.h"
#include "graph/node_traits.h"
#include "graph/raise_loops.h"

namespace weft_engine::autodiff {
namespace {

class InPlaceRaiser final : public LoopRaiser {
 public:
  // `loops`: the names of the outermost frames to raise, with all that is inside.
  InPlaceRaiser(Backward& b, const std::unordered_set<std::string>& loops) : LoopRaiser(b.graph()), b_(b), loops_(loops) {}

 private:
  bool wanted(const Node* part, const Frames& frames) override { return frames.of(part) && loops_.contains(frames.name(frames.outermost(part))); }
  // They stay in the graph, where they run as before.
  bool keeps_effects() const override { return false; }

  Result<Node*> add(const std::string&, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs,
                    const std::vector<Node*>& controls) override {
    GraphEmitter& e = b_.emitter();
    std::vector<Value> values;
    for (const Endpoint& x : inputs) values.push_back(e.wrap(x));
    const auto out = e.apply(op, values, std::move(attrs));
    WEFT_RETURN_IF_ERROR(e.take_status());
    Node* node = GraphEmitter::unwrap(out[0]).node;
    for (Node* c : controls) graph().add_control(c, node);
    return node;
  }

  Status replace(Node* node, const std::vector<Endpoint>& values, Node*) override {
    if (values.size() == 1) return b_.extend(node, op_of(Role::kIdentity), {{"T", node->output_type(0)}}, values, {});
    std::vector<DType> types;
    for (int i = 0; i < node->num_outputs(); ++i) types.push_back(node->output_type(i));
    return b_.extend(node, op_of(Role::kIdentityN), {{"T", types}}, values, {});
  }

  Status finish(const std::vector<Node*>&, Node*) override { return {}; }

  Backward& b_;
  const std::unordered_set<std::string>& loops_;
};

}  // namespace

Status Backward::raise_loops(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs) {
  std::vector<Node*> exits;
  for (Node* n : graph_.nodes()) {
    if (size_t(n->id()) < between_.size() && between_[size_t(n->id())] && is_exit(*n) && n->input(0).node && !is_ref_type(n->input_type(0)))
      exits.push_back(n);
  }
  if (exits.empty()) return {};
  WEFT_ASSIGN(std::vector<Node*> order, graph_.topological_order());
  const Frames frames(graph_, order);
  for (const auto* ends : {&ys, &xs}) {
    for (const Endpoint& e : *ends) {
      if (const int f = frames.of(e.node))
        return core::names_node(unimplemented("the gradient of or by {{node ", e.node->name(), "}}, which is inside loop '", frames.name(f), "'"),
                                e.node->name());
    }
  }
  std::unordered_set<std::string> loops;
  for (Node* exit : exits) loops.insert(frames.name(frames.outermost(exit->input(0).node)));
  WEFT_RETURN_IF_ERROR(InPlaceRaiser(*this, loops).run());
  mark(ys, xs);
  return {};
}

}  // namespace weft_engine::autodiff

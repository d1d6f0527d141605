#include "graph/while_loop.h"

#include <unordered_map>

#include "graph/node_traits.h"

namespace weft_engine::graph {
namespace {

class Builder {
 public:
  Builder(Graph& graph, const WhileLoop& loop) : graph_(graph), loop_(loop), prefix_(unique_prefix()) {}

  Result<WhileLoopResult> run() {
    Status s = build();
    if (!s.ok()) {
      for (auto it = result_.added.rbegin(); it != result_.added.rend(); ++it) graph_.remove(*it);
      return s;
    }
    return std::move(result_);
  }

 private:
  std::string unique_prefix() const {
    std::string p = loop_.name;
    for (int i = 1; graph_.find(p) || graph_.find(cat(p, "/", op_of(Role::kEnter))); ++i) p = cat(loop_.name, "_", i);
    return p;
  }

  Result<Node*> add(Role role, size_t number, AttrMap attrs, std::vector<Endpoint> inputs, std::span<const DType> pending = {}) {
    const std::string_view op = op_of(role);
    std::string name = cat(prefix_, "/", op);
    if (number > 0) name += cat("_", number);
    WEFT_ASSIGN(Node* n, graph_.add(std::move(name), op, std::move(attrs), std::move(inputs), {}, pending));
    result_.added.push_back(n);
    return n;
  }

  Status build() {
    const size_t n = loop_.inputs.size();
    std::vector<Node*> enters, merges, switches;
    for (size_t i = 0; i < n; ++i) {
      WEFT_ASSIGN(Node* enter,
                  add(Role::kEnter, i, {{"frame_name", prefix_}, {"is_constant", false}, {"parallel_iterations", 10}}, {loop_.inputs[i]}));
      enters.push_back(enter);
    }
    for (size_t i = 0; i < n; ++i) {
      const DType type = base_type(enters[i]->output_type(0));
      const DType pending[] = {type, type};
      WEFT_ASSIGN(Node* merge, add(Role::kMerge, i, {{"N", 2}, {"T", type}}, {{enters[i], 0}, {}}, pending));
      merges.push_back(merge);
    }
    std::vector<Endpoint> rounds, in, next;
    for (Node* m : merges) rounds.push_back({m, 0});
    WEFT_RETURN_IF_ERROR(copy(loop_.cond, "cond", rounds, merges[0], next));
    const DType cond = next[0].node->output_type(next[0].index);
    if (base_type(cond) != DType::kBool)
      return invalid_argument("BuildWhileLoop: 'cond' argument must return a boolean output, got ", dtype_name(cond));
    WEFT_ASSIGN(Node* loop_cond, add(Role::kLoopCond, 0, {}, {next[0]}));
    for (size_t i = 0; i < n; ++i) {
      WEFT_ASSIGN(Node* s, add(Role::kSwitch, i, {}, {{merges[i], 0}, {loop_cond, 0}}));
      switches.push_back(s);
      in.push_back({s, 1});
    }
    WEFT_RETURN_IF_ERROR(copy(loop_.body, "body", in, switches[0], next));
    for (size_t i = 0; i < n; ++i) {
      const DType type = next[i].node->output_type(next[i].index);
      if (base_type(type) != merges[i]->input_type(1))
        return invalid_argument("BuildWhileLoop: output ", i, " of 'body' is ", dtype_name(type), ", but the loop variable is ",
                                dtype_name(merges[i]->input_type(1)));
      WEFT_ASSIGN(Node* back, add(Role::kNextIteration, i, {}, {next[i]}));
      graph_.set_input(merges[i], 1, {back, 0});
    }
    for (size_t i = 0; i < n; ++i) {
      WEFT_ASSIGN(Node* exit, add(Role::kExit, i, {}, {{switches[i], 0}}));
      result_.outputs.push_back({exit, 0});
    }
    return {};
  }

  // Copies the part's nodes, its inputs replaced; nodes that read none of the others wait for `first`, so that
  // they run once a round.
  Status copy(const LoopPart& part, std::string_view name, const std::vector<Endpoint>& inputs, Node* first, std::vector<Endpoint>& outputs) {
    std::unordered_map<const Node*, Node*> made;
    std::unordered_map<const Node*, Endpoint> given;
    for (size_t i = 0; i < part.inputs.size(); ++i) given[part.inputs[i].node] = inputs[i];
    WEFT_ASSIGN(std::vector<Node*> order, part.graph->topological_order());
    struct Back {
      Node* node;
      int input;
      Endpoint from;
    };
    std::vector<Back> backs;  // of loops inside
    for (Node* n : order) {
      if (given.count(n)) continue;
      std::vector<Endpoint> in;
      std::vector<Node*> controls;
      std::vector<DType> pending;
      bool reads_copied = false;
      for (int i = 0; i < n->num_inputs(); ++i) {
        const Endpoint& e = n->input(i);
        pending.push_back(n->input_type(i));
        if (auto g = given.find(e.node); g != given.end()) {
          in.push_back(g->second);
        } else if (auto m = made.find(e.node); m != made.end()) {
          in.push_back({m->second, e.index});
          reads_copied = true;
        } else {
          in.push_back({});
          reads_copied = true;
        }
      }
      for (Node* c : n->control_inputs()) {
        if (auto g = given.find(c); g != given.end()) {
          controls.push_back(g->second.node);
        } else if (auto m = made.find(c); m != made.end()) {
          controls.push_back(m->second);
          reads_copied = true;
        }
      }
      if (!reads_copied) controls.push_back(first);
      WEFT_ASSIGN(Node* c, graph_.add(cat(prefix_, "/", name, "/", n->name()), n->op(), attrs_of(*n), std::move(in), controls, pending));
      c->device = n->device;
      c->debug_info = n->debug_info;
      c->full_type = n->full_type;
      made[n] = c;
      result_.added.push_back(c);
      for (int i = 0; i < n->num_inputs(); ++i) {
        if (!c->input(i).node) backs.push_back({c, i, n->input(i)});
      }
    }
    for (const Back& b : backs) {
      auto m = made.find(b.from.node);
      if (m == made.end()) return invalid_argument("Node '", b.node->name(), "' has an input that is not connected");
      graph_.set_input(b.node, b.input, {m->second, b.from.index});
    }
    outputs.clear();
    for (const Endpoint& e : part.outputs) {
      if (auto g = given.find(e.node); g != given.end()) {
        outputs.push_back(g->second);
        continue;
      }
      auto m = made.find(e.node);
      if (m == made.end()) return invalid_argument("Requested return tensor '", e.node->name(), ":", e.index, "' not found in graph def");
      if (e.index < 0 || e.index >= e.node->num_outputs())
        return invalid_argument("Invalid return output ", e.index, " of node '", e.node->name(), "', which has ", e.node->num_outputs(),
                                " output(s)");
      outputs.push_back({m->second, e.index});
    }
    return {};
  }

  Graph& graph_;
  const WhileLoop& loop_;
  std::string prefix_;
  WhileLoopResult result_;
};

}  // namespace

Result<WhileLoopResult> build_while_loop(Graph& graph, const WhileLoop& loop) {
  if (loop.inputs.empty()) return invalid_argument("a loop needs at least one variable");
  return Builder(graph, loop).run();
}

}  // namespace weft_engine::graph

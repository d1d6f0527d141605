// Loops of version 1 (Enter, Merge, Switch, NextIteration, Exit) become While ops before the walk back, so that one gradient of
// loops serves both. The nodes of the loop stay as they were; its Exits read the While instead, and what nobody reads is not run.
#include <algorithm>
#include <unordered_set>

#include "autodiff/backward.h"

namespace weft::autodiff {
namespace {

// In which frame a node's outputs are; 0 is the graph itself.
class Frames {
 public:
  explicit Frames(Graph& graph, const std::vector<Node*>& order) : of_(size_t(graph.num_ids()), 0) {
    for (Node* n : order) {
      int frame = 0;
      auto see = [&](const Node* from) {
        const int f = of_[size_t(from->id())];
        if (all_[size_t(f)].depth > all_[size_t(frame)].depth) frame = f;
      };
      for (const Endpoint& e : n->inputs()) {
        if (e.node) see(e.node);
      }
      for (const Node* c : n->control_inputs()) see(c);
      if (n->op() == "Enter" || n->op() == "RefEnter") frame = child(frame, n->attr<std::string>("frame_name"));
      else if (n->op() == "Exit" || n->op() == "RefExit") frame = all_[size_t(frame)].parent;
      of_[size_t(n->id())] = frame;
    }
  }

  int of(const Node* n) const { return of_[size_t(n->id())]; }
  const std::string& name(int frame) const { return all_[size_t(frame)].name; }
  int depth(const Node* n) const { return all_[size_t(of(n))].depth; }
  // The outermost loop around a node.
  int top(const Node* n) const {
    int f = of(n);
    while (all_[size_t(f)].depth > 1) f = all_[size_t(f)].parent;
    return f;
  }

 private:
  struct Frame {
    std::string name;
    int parent = 0, depth = 0;
  };

  int child(int parent, const std::string& name) {
    for (size_t i = 1; i < all_.size(); ++i) {
      if (all_[i].parent == parent && all_[i].name == name) return int(i);
    }
    all_.push_back({name, parent, all_[size_t(parent)].depth + 1});
    return int(all_.size()) - 1;
  }

  std::vector<int> of_;
  std::vector<Frame> all_{1};
};

struct Variable {
  Node *enter = nullptr, *merge = nullptr, *split = nullptr, *next = nullptr;
};

class Raiser {
 public:
  Raiser(Backward& b, Node* loop_cond, std::string frame) : b_(b), loop_cond_(loop_cond), frame_(std::move(frame)) {}

  Status run() {
    if (!loop_cond_->input(0).node) return strange(loop_cond_);
    WEFT_RETURN_IF_ERROR(find_variables());
    Interface cond, body;
    if (variables_.empty()) return {};  // is named where the walk gets there
    for (const Variable& v : variables_) {
      cond.inputs.push_back({v.merge, 0});
      body.inputs.push_back({v.split, 1});
      body.outputs.push_back(v.next->input(0));
      stops_.insert(v.merge);
      stops_.insert(v.split);
    }
    cond.outputs.push_back(loop_cond_->input(0));
    WEFT_RETURN_IF_ERROR(collect(cond));
    WEFT_RETURN_IF_ERROR(collect(body));
    for (Node* c : constants_) {
      cond.inputs.push_back({c, 0});
      body.inputs.push_back({c, 0});
      body.outputs.push_back({c, 0});
    }
    std::string name = frame_;
    std::replace(name.begin(), name.end(), '/', '_');
    WEFT_ASSIGN(FunctionAttr cond_f, define_function(b_.graph(), cat(name, "_cond"), cond));
    WEFT_ASSIGN(FunctionAttr body_f, define_function(b_.graph(), cat(name, "_body"), body));
    return replace(cond_f, body_f);
  }

 private:
  Status strange(const Node* n) const {
    return unimplemented("the gradient of loop '", frame_, "': {{node ", n->name(), "}} (", n->op(), ") is not where a while loop has one");
  }

  Status find_variables() {
    std::vector<Node*> splits;
    for (const Use& u : loop_cond_->uses()) {
      if (u.node->op() == "RefSwitch") return strange(u.node);
      if (u.node->op() == "Switch" && u.input == 1) splits.push_back(u.node);
    }
    std::sort(splits.begin(), splits.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    for (Node* s : splits) {
      Variable v;
      v.split = s;
      v.merge = s->input(0).node;
      if (!v.merge) return strange(s);
      if (v.merge->op() != "Merge" || v.merge->num_inputs() != 2) return strange(v.merge);
      for (const Endpoint& e : v.merge->inputs()) {
        if (e.node && e.node->op() == "Enter") v.enter = e.node;
        if (e.node && e.node->op() == "NextIteration") v.next = e.node;
      }
      if (!v.enter || !v.next || !v.enter->input(0).node || !v.next->input(0).node) return strange(v.merge);
      variables_.push_back(v);
    }
    return {};
  }

  // The nodes that the outputs need, up to the loop's variables and to what is handed in from outside.
  Status collect(Interface& io) {
    std::unordered_set<Node*> seen;
    std::vector<Node*> todo;
    auto visit = [&](Node* n) -> Status {
      if (!n || stops_.contains(n) || !seen.insert(n).second) return {};
      if (n->op() == "Enter" && n->attr<std::string>("frame_name") == frame_) {
        if (!n->attr<bool>("is_constant")) return strange(n);
        if (std::find(constants_.begin(), constants_.end(), n) == constants_.end()) constants_.push_back(n);
        return {};
      }
      todo.push_back(n);
      return {};
    };
    for (const Endpoint& e : io.outputs) WEFT_RETURN_IF_ERROR(visit(e.node));
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      io.body.push_back(n);
      // What is saved for the way back would be dead on the side that is not taken.
      if (n->op() == "Switch")
        return unimplemented("the gradient of loop '", frame_, "', which has branches (Switch) inside, {{node ", n->name(), "}}");
      for (const Endpoint& e : n->inputs()) WEFT_RETURN_IF_ERROR(visit(e.node));
      for (Node* c : n->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c));
    }
    std::sort(io.body.begin(), io.body.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    return {};
  }

  Status replace(const FunctionAttr& cond, const FunctionAttr& body) {
    GraphEmitter& e = b_.emitter();
    std::vector<Value> inputs;
    std::vector<PartialShape> shapes;
    bool stateful = false;
    for (const Variable& v : variables_) {
      inputs.push_back(e.wrap(v.enter->input(0)));
      shapes.push_back(v.merge->shapes.empty() ? PartialShape() : v.merge->shapes[0]);
    }
    for (Node* c : constants_) {
      inputs.push_back(e.wrap(c->input(0)));
      shapes.push_back(c->shapes.empty() ? PartialShape() : c->shapes[0]);
    }
    for (const FunctionAttr* f : {&cond, &body}) {
      WEFT_ASSIGN(auto def, b_.graph().library()->find(f->name));
      stateful |= def->stateful;
    }
    auto out = e.apply(stateful ? "While" : "StatelessWhile", inputs,
                       {{"cond", cond}, {"body", body}, {"output_shapes", shapes}, {"parallel_iterations", variables_[0].enter->attr<int64_t>("parallel_iterations")}});
    WEFT_RETURN_IF_ERROR(e.take_status());
    for (size_t i = 0; i < variables_.size(); ++i) {
      for (const Use& u : std::vector<Use>(variables_[i].split->uses())) {
        if (u.output != 0 || u.node->op() != "Exit") continue;
        WEFT_RETURN_IF_ERROR(b_.extend(u.node, "Identity", {{"T", u.node->output_type(0)}}, {GraphEmitter::unwrap(out[i])}, {}));
      }
    }
    return {};
  }

  Backward& b_;
  Node* loop_cond_;
  const std::string frame_;
  std::vector<Variable> variables_;
  std::vector<Node*> constants_;
  std::unordered_set<Node*> stops_;
};

}  // namespace

Status Backward::raise_loops(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs) {
  std::vector<Node*> exits;
  for (Node* n : graph_.nodes()) {
    if (size_t(n->id()) < between_.size() && between_[size_t(n->id())] && n->op() == "Exit" && n->input(0).node) exits.push_back(n);
  }
  if (exits.empty()) return {};
  WEFT_ASSIGN(std::vector<Node*> order, graph_.topological_order());
  const Frames frames(graph_, order);
  for (const auto* ends : {&ys, &xs}) {
    for (const Endpoint& e : *ends) {
      if (const int f = frames.of(e.node)) return unimplemented("the gradient of or by {{node ", e.node->name(), "}}, which is inside loop '", frames.name(f), "'");
    }
  }
  // With a loop go those inside it, and before it.
  std::unordered_set<int> tops;
  for (Node* exit : exits) tops.insert(frames.top(exit->input(0).node));
  std::vector<std::pair<int, Node*>> loops;  // how deep, what the iterations hang on
  for (Node* n : graph_.nodes()) {
    if (n->op() != "LoopCond" || !tops.contains(frames.top(n))) continue;
    loops.emplace_back(frames.depth(n), n);
  }
  std::stable_sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [depth, cond] : loops) WEFT_RETURN_IF_ERROR(Raiser(*this, cond, frames.name(frames.of(cond))).run());
  mark(ys, xs);
  return {};
}

}  // namespace weft::autodiff

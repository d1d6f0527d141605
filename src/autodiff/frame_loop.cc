// Loops of version 1 (Enter, Merge, Switch, NextIteration, Exit) become While ops before the walk back, so that one gradient of
// loops serves both. The nodes of the loop stay as they were; its Exits read the While instead, and what nobody reads is not run.
// Branches inside (Switch, Merge) become If ops.
#include <algorithm>
#include <unordered_set>

#include "autodiff/backward.h"
#include "op/emit.h"

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

bool has_effects(const Node* n) { return n->spec().stateful && !n->spec().effect_free; }

// A branch inside a loop (Switches of one predicate, and a Merge where the sides meet again) becomes an If: what the loop keeps for
// the way back must not be dead.
class BranchRaiser {
 public:
  BranchRaiser(Backward& b, Node* merge, std::string frame) : b_(b), merge_(merge), frame_(std::move(frame)) {}

  Status run() {
    if (merge_->num_inputs() != 2) return strange(merge_);
    Interface sides[2];
    for (int i = 0; i < 2; ++i) WEFT_RETURN_IF_ERROR(collect(i, sides[i]));
    if (!predicate_.node) return strange(merge_);
    std::sort(splits_.begin(), splits_.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    GraphEmitter& e = b_.emitter();
    std::vector<Value> inputs{e.wrap(predicate_)};
    for (Node* s : splits_) inputs.push_back(e.wrap(s->input(0)));
    FunctionAttr functions[2];
    std::string name = merge_->name();
    std::replace(name.begin(), name.end(), '/', '_');
    for (int i = 0; i < 2; ++i) {
      for (Node* s : splits_) sides[i].inputs.push_back({s, i});
      sides[i].outputs.push_back(merge_->input(i));
      WEFT_ASSIGN(functions[i], define_function(b_.graph(), cat(name, i ? "_true" : "_false"), sides[i]));
    }
    const DType type = merge_->output_type(0);
    const PartialShape shape = merge_->shapes.empty() ? PartialShape() : merge_->shapes[0];
    auto out = e.apply(stateful_ ? "If" : "StatelessIf", inputs, {{"then_branch", functions[1]}, {"else_branch", functions[0]}, {"Tout", std::vector<DType>{type}},
                                                                  {"output_shapes", std::vector<PartialShape>{shape}}});
    const Value index = cast(e.wrap(predicate_), DType::kInt32);
    WEFT_RETURN_IF_ERROR(e.take_status());
    return b_.extend(merge_, "IdentityN", {{"T", std::vector<DType>{type, DType::kInt32}}}, {GraphEmitter::unwrap(out[0]), GraphEmitter::unwrap(index)}, {});
  }

 private:
  Status strange(const Node* n) const {
    return unimplemented("the gradient of loop '", frame_, "', which has branches inside: {{node ", n->name(), "}} (", n->op(), ") is not where a branch has one");
  }

  // The nodes of one side, back to the Switches.
  Status collect(int side, Interface& io) {
    std::unordered_set<Node*> seen;
    std::vector<Node*> todo;
    bool effects = false;
    auto visit = [&](Node* n, int output) -> Status {
      if (!n) return {};
      if (n->op() == "Switch") {
        const Endpoint p = same_value(n->input(1));
        if (!predicate_.node) predicate_ = p;
        if (!(p == predicate_) || (output >= 0 && output != side)) return strange(n);
        if (std::find(splits_.begin(), splits_.end(), n) == splits_.end()) splits_.push_back(n);
        return {};
      }
      if (n->op() == "Enter" || n->op() == "Merge" || n->op() == "NextIteration" || n->op().starts_with("Ref")) return strange(n);
      if (seen.insert(n).second) todo.push_back(n);
      return {};
    };
    WEFT_RETURN_IF_ERROR(visit(merge_->input(side).node, merge_->input(side).index));
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      io.body.push_back(n);
      effects |= has_effects(n);
      stateful_ |= n->spec().stateful;
      for (const Endpoint& e : n->inputs()) WEFT_RETURN_IF_ERROR(visit(e.node, e.index));
      for (Node* c : n->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c, -1));
    }
    // Each Merge makes an If of its own, which would have the effect again.
    if (effects) {
      for (const Node* n : io.body) {
        for (const Use& u : n->uses()) {
          if (u.node->op() == "Merge" && u.node != merge_) return strange(u.node);
        }
      }
    }
    std::sort(io.body.begin(), io.body.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    return {};
  }

  Backward& b_;
  Node* merge_;
  const std::string frame_;
  Endpoint predicate_;
  std::vector<Node*> splits_;
  bool stateful_ = false;
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
      if (n->op() == "Switch" || n->op() == "Merge") return strange(n);
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
  // With a loop go those inside it, before it, and the branches inside those.
  std::unordered_set<int> tops;
  for (Node* exit : exits) tops.insert(frames.top(exit->input(0).node));
  std::vector<Node*> parts;
  for (Node* n : order) {
    if (!frames.of(n) || !tops.contains(frames.top(n))) continue;
    const bool turns = std::any_of(n->inputs().begin(), n->inputs().end(), [](const Endpoint& e) { return e.node && e.node->op() == "NextIteration"; });
    if (n->op() == "LoopCond" || (n->op() == "Merge" && !turns)) parts.push_back(n);
  }
  std::stable_sort(parts.begin(), parts.end(), [&](const Node* a, const Node* b) {
    if (frames.depth(a) != frames.depth(b)) return frames.depth(a) > frames.depth(b);
    return a->op() == "Merge" && b->op() != "Merge";
  });
  for (Node* n : parts) {
    const std::string& frame = frames.name(frames.of(n));
    WEFT_RETURN_IF_ERROR(n->op() == "Merge" ? BranchRaiser(*this, n, frame).run() : Raiser(*this, n, frame).run());
  }
  mark(ys, xs);
  return {};
}

}  // namespace weft::autodiff

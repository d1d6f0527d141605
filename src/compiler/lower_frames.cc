// Loops of version 1 (Enter, Merge, Switch, NextIteration, Exit) become While, and branches (Switch, Merge) become If, before the walk.
// Innermost first; what was the loop goes from the graph.
#include <algorithm>
#include <unordered_set>

#include "compiler/lower_internal.h"
#include "graph/function_library.h"
#include "graph/passes/util.h"
#include "graph/to_function.h"

namespace weft::compiler {

using core::Status;
using graph::Endpoint;
using graph::FunctionBody;
using graph::Graph;
using graph::Node;
using graph::Use;
using op::FunctionAttr;

namespace {

constexpr int kMostRounds = 10000;

Status strange(const Node* n, std::string_view what) {
  return core::unimplemented("control flow of version 1 that is no plain loop or branch: ", n->op(), " '", n->name(), "' ", what);
}

bool is_any(const Node* n, std::initializer_list<std::string_view> ops) { return std::find(ops.begin(), ops.end(), n->op()) != ops.end(); }
bool has_effects(const Node* n) { return n->spec().stateful && !n->spec().effect_free && !is_any(n, {"Enter", "Exit"}); }

// In which frame a node's outputs are; 0 is the graph itself.
struct Frames {
  struct Frame {
    std::string name;
    int parent = 0, depth = 0;
  };
  std::vector<int> of;
  std::vector<Frame> all{1};

  Frames(const Graph& graph, const std::vector<Node*>& order) : of(size_t(graph.num_ids()), 0) {
    for (Node* n : order) {
      int frame = 0;
      const auto see = [&](const Node* from) {
        const int f = of[size_t(from->id())];
        if (all[size_t(f)].depth > all[size_t(frame)].depth) frame = f;
      };
      for (const Endpoint& e : n->inputs()) {
        if (e.node) see(e.node);
      }
      for (const Node* c : n->control_inputs()) see(c);
      if (is_any(n, {"Enter", "RefEnter"})) frame = child(frame, n->attr<std::string>("frame_name"));
      else if (is_any(n, {"Exit", "RefExit"})) frame = all[size_t(frame)].parent;
      of[size_t(n->id())] = frame;
    }
  }
  int child(int parent, const std::string& name) {
    for (size_t i = 1; i < all.size(); ++i) {
      if (all[i].parent == parent && all[i].name == name) return int(i);
    }
    all.push_back({name, parent, all[size_t(parent)].depth + 1});
    return int(all.size()) - 1;
  }
};

Endpoint behind(Endpoint e) {
  while (e.node && is_any(e.node, {"Identity", "IdentityN"})) e = e.node->input(e.index);
  return e;
}

// A function of the library; control edges from outside its body are dropped: the call comes after them.
struct Part {
  std::vector<Endpoint> inputs, outputs;
  std::vector<Node*> body;
};
core::Result<FunctionAttr> define(Graph& g, std::string name, const Part& p) {
  std::unordered_set<const Node*> inside(p.body.begin(), p.body.end());
  graph::FunctionOptions o;
  std::replace(name.begin(), name.end(), '/', '_');
  o.name = std::move(name);
  o.append_hash = true;
  o.inputs = p.inputs;
  o.outputs = p.outputs;
  o.body.emplace();
  for (Node* n : p.body) {
    for (Node* c : std::vector<Node*>(n->control_inputs())) {
      if (!inside.contains(c)) g.remove_control(c, n);
    }
    o.body->push_back(n);
    if (has_effects(n)) o.control_outputs.push_back(n);
  }
  WEFT_ASSIGN(graph::FunctionDef def, graph::to_function(g, o));
  FunctionAttr f{def.name, nullptr};
  if (!g.library()) return core::internal_error("the graph of '", def.name, "' has no function library");
  WEFT_RETURN_IF_ERROR(g.library()->add(std::move(def)));
  return f;
}

// Removes nodes that only read each other.
void remove_all(FunctionBody& body, std::vector<Node*> nodes, Node* instead) {
  Graph& g = *body.graph;
  // Once each: both sides of a branch may have read one.
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (Node* n : nodes) {
    if (std::find(body.control_rets.begin(), body.control_rets.end(), n) == body.control_rets.end()) continue;
    std::erase(body.control_rets, n);
    if (std::find(body.control_rets.begin(), body.control_rets.end(), instead) == body.control_rets.end()) body.control_rets.push_back(instead);
  }
  // The way back of loops.
  for (Node* n : nodes) {
    for (int i = 0; i < n->num_inputs(); ++i) {
      if (!is_any(n, {"Merge", "RefMerge"}) || !n->input(i).node || !is_any(n->input(i).node, {"NextIteration", "RefNextIteration"})) continue;
      g.set_input(n, i, n->input(i == 0 ? 1 : 0));
    }
  }
  for (bool any = true; any;) {
    any = false;
    for (Node*& n : nodes) {
      if (!n || !n->uses().empty()) continue;
      g.remove(n);
      n = nullptr;
      any = true;
    }
  }
}

// ---- loops -----------------------------------------------------------------------------------------------

class LoopRaiser {
 public:
  LoopRaiser(FunctionBody& body, Node* loop_cond, const Frames& frames, const std::vector<Node*>& order)
      : body_(body), g_(*body.graph), cond_(loop_cond), frame_(frames.of[size_t(loop_cond->id())]), name_(frames.all[size_t(frame_)].name) {
    for (Node* n : order) {
      if (frames.of[size_t(n->id())] == frame_) nodes_.push_back(n);
    }
    inside_.insert(nodes_.begin(), nodes_.end());
  }

  Status run() {
    WEFT_RETURN_IF_ERROR(find_variables());
    Part cond, body;
    for (const Variable& v : variables_) {
      cond.inputs.push_back({v.merge, 0});
      body.inputs.push_back({v.split, 1});
      body.outputs.push_back(v.next->input(0));
    }
    cond.outputs.push_back(cond_->input(0));
    WEFT_RETURN_IF_ERROR(collect(cond, false));
    WEFT_RETURN_IF_ERROR(collect(body, true));
    std::vector<Endpoint> inputs;
    std::vector<core::DType> types;
    for (const Variable& v : variables_) inputs.push_back(v.enter->input(0));
    for (Node* c : constants_) {
      cond.inputs.push_back({c, 0});
      body.inputs.push_back({c, 0});
      body.outputs.push_back({c, 0});
      inputs.push_back(c->input(0));
    }
    for (const Endpoint& e : inputs) types.push_back(core::base_type(e.node->output_type(e.index)));
    // What the loop's nodes wait for outside, the loop waits for; before edges are dropped.
    std::vector<Node*> controls;
    for (Node* n : nodes_) {
      for (Node* c : n->control_inputs()) {
        if (!inside_.contains(c) && std::find(controls.begin(), controls.end(), c) == controls.end()) controls.push_back(c);
      }
    }
    WEFT_ASSIGN(FunctionAttr cond_f, define(g_, name_ + "_cond", cond));
    WEFT_ASSIGN(FunctionAttr body_f, define(g_, name_ + "_body", body));
    WEFT_ASSIGN(Node * loop, g_.add(g_.unique_name(name_ + "/raised"), "While", {{"T", types}, {"cond", cond_f}, {"body", body_f}}, inputs, controls));
    return replace(loop);
  }

 private:
  struct Variable {
    Node *enter = nullptr, *merge = nullptr, *split = nullptr, *next = nullptr;
  };

  Status find_variables() {
    if (!cond_->input(0).node) return strange(cond_, "has no input");
    std::vector<Node*> splits;
    for (const Use& u : cond_->uses()) {
      if (u.node->op() == "Switch" && u.input == 1) splits.push_back(u.node);
      else if (u.node->op() == "RefSwitch") return strange(u.node, "switches a reference");
    }
    std::sort(splits.begin(), splits.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    for (Node* s : splits) {
      Variable v;
      v.split = s;
      v.merge = s->input(0).node;
      if (!v.merge || v.merge->op() != "Merge" || v.merge->num_inputs() != 2) return strange(s, "reads no Merge");
      for (const Endpoint& e : v.merge->inputs()) {
        if (e.node && e.node->op() == "Enter") v.enter = e.node;
        if (e.node && e.node->op() == "NextIteration") v.next = e.node;
      }
      if (!v.enter || !v.next || !v.enter->input(0).node || !v.next->input(0).node) return strange(v.merge, "has not an Enter and a NextIteration");
      variables_.push_back(v);
      stops_.insert(v.merge);
      stops_.insert(v.split);
    }
    return {};
  }

  // The nodes that the outputs need, and for the body those with effects, up to the variables and to what comes in from outside.
  Status collect(Part& p, bool is_body) {
    std::unordered_set<Node*> seen;
    std::vector<Node*> todo;
    const auto visit = [&](Node* n, bool data) -> Status {
      if (!n || seen.contains(n)) return {};
      if (stops_.contains(n) || n == cond_) {
        if (data && (n->op() == "Merge") == is_body) return strange(n, "is read on the wrong side of its loop's condition");
        return {};
      }
      if (n->op() == "Enter" && inside_.contains(n)) {
        if (!data) return {};
        if (!n->attr<bool>("is_constant")) return strange(n, "is read without a Merge");
        if (!n->input(0).node) return strange(n, "has no input");
        if (std::find(constants_.begin(), constants_.end(), n) == constants_.end()) constants_.push_back(n);
        return {};
      }
      if (!inside_.contains(n)) return data ? strange(n, "is read inside a loop without an Enter") : Status();
      if (is_any(n, {"Switch", "Merge", "NextIteration", "Exit", "RefEnter", "RefSwitch", "RefMerge"})) return data ? strange(n, "stands in the middle of a loop") : Status();
      seen.insert(n);
      todo.push_back(n);
      return {};
    };
    for (const Endpoint& e : p.outputs) WEFT_RETURN_IF_ERROR(visit(e.node, !stops_.contains(e.node)));
    if (is_body) {
      for (const Variable& v : variables_) {
        for (Node* c : v.next->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c, false));
      }
      for (Node* n : nodes_) {
        if (has_effects(n)) WEFT_RETURN_IF_ERROR(visit(n, false));
      }
    }
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      p.body.push_back(n);
      for (const Endpoint& e : n->inputs()) {
        if (stops_.contains(e.node) && e.node->op() == "Switch" && e.index == 0 && is_body) return strange(n, "reads what leaves the loop");
        WEFT_RETURN_IF_ERROR(visit(e.node, true));
      }
      for (Node* c : n->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c, false));
    }
    std::sort(p.body.begin(), p.body.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    return {};
  }

  Status replace(Node* loop) {
    std::vector<Node*> gone = nodes_;
    for (Node* n : nodes_) {
      for (const Use& u : std::vector<Use>(n->uses())) {
        if (inside_.contains(u.node) || u.node == loop) continue;
        if (u.node->op() != "Exit") return strange(u.node, "reads a value inside a loop");
        const Endpoint e = behind(u.node->input(0));
        int at = -1;
        for (size_t i = 0; i < variables_.size(); ++i) {
          if (e.node == variables_[i].split && e.index == 0) at = int(i);
        }
        if (at < 0) return strange(u.node, "is not the end of a loop's variable");
        g_.replace_uses({u.node, 0}, {loop, at});
        g_.replace_controls(u.node, loop);
        gone.push_back(u.node);
      }
    }
    remove_all(body_, gone, loop);
    return {};
  }

  FunctionBody& body_;
  Graph& g_;
  Node* cond_;
  const int frame_;
  const std::string name_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> inside_;
  std::vector<Variable> variables_;
  std::vector<Node*> constants_;
  std::unordered_set<Node*> stops_;
};

// ---- branches --------------------------------------------------------------------------------------------

// Switches of one predicate, and a Merge where the sides meet.
class BranchRaiser {
 public:
  BranchRaiser(FunctionBody& body, Node* merge) : body_(body), g_(*body.graph), merge_(merge) {}

  Status run() {
    if (merge_->num_inputs() != 2) return strange(merge_, "has not two inputs");
    Part sides[2];
    // Which input is the true side: that of the Switch it comes from.
    WEFT_ASSIGN(int first, side_of(merge_->input(0)));
    for (int i = 0; i < 2; ++i) WEFT_RETURN_IF_ERROR(collect(i == 0 ? first : 1 - first, merge_->input(i), sides[i == 0 ? first : 1 - first]));
    if (!predicate_.node) return strange(merge_, "has no Switch behind it");
    std::sort(splits_.begin(), splits_.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    std::vector<Endpoint> inputs{predicate_};
    std::vector<core::DType> types;
    for (Node* s : splits_) {
      inputs.push_back(s->input(0));
      types.push_back(core::base_type(s->output_type(0)));
    }
    FunctionAttr functions[2];
    for (int side = 0; side < 2; ++side) {
      for (Node* s : splits_) sides[side].inputs.push_back({s, side});
      sides[side].outputs.push_back(merge_->input(side == first ? 0 : 1));
      for (Node* n : sides[side].body) {
        if (!has_effects(n)) continue;
        for (const Use& u : n->uses()) {
          if (u.node->op() == "Merge" && u.node != merge_) return strange(n, "has an effect, and its branch has several results");
        }
      }
      WEFT_ASSIGN(functions[side], define(g_, merge_->name() + (side ? "_true" : "_false"), sides[side]));
    }
    const core::DType type = core::base_type(merge_->output_type(0));
    WEFT_ASSIGN(Node * branch, g_.add(g_.unique_name(merge_->name() + "/raised"), "If",
                                      {{"Tcond", core::DType::kBool}, {"Tin", types}, {"Tout", std::vector<core::DType>{type}}, {"then_branch", functions[1]}, {"else_branch", functions[0]}},
                                      inputs, merge_->control_inputs()));
    g_.replace_uses({merge_, 0}, {branch, 0});
    if (std::any_of(merge_->uses().begin(), merge_->uses().end(), [](const Use& u) { return u.output == 1; })) {
      WEFT_ASSIGN(Node * index, g_.add(g_.unique_name(merge_->name() + "/index"), "Cast", {{"SrcT", core::DType::kBool}, {"DstT", core::DType::kInt32}}, {predicate_}));
      if (first == 1) return strange(merge_, "tells which side came, the true one first");
      g_.replace_uses({merge_, 1}, {index, 0});
    }
    g_.replace_controls(merge_, branch);
    std::vector<Node*> gone{merge_};
    for (const Part& p : sides) gone.insert(gone.end(), p.body.begin(), p.body.end());
    gone.insert(gone.end(), splits_.begin(), splits_.end());
    remove_all(body_, gone, branch);
    return {};
  }

 private:
  // 1: what comes is there when the predicate holds. By the first Switch on the way back, edges of control included.
  core::Result<int> side_of(Endpoint from) {
    std::unordered_set<Node*> seen;
    std::vector<Endpoint> todo{from};
    while (!todo.empty()) {
      const Endpoint e = todo.back();
      todo.pop_back();
      if (e.node->op() == "Switch" && e.index >= 0) return e.index;
      if (!seen.insert(e.node).second) continue;
      for (const Endpoint& in : e.node->inputs()) todo.push_back(in);
      for (Node* c : e.node->control_inputs()) todo.push_back({c, -1});
    }
    return strange(merge_, "has no Switch behind it");
  }

  Status collect(int side, Endpoint from, Part& p) {
    std::unordered_set<Node*> seen;
    std::vector<Node*> todo;
    const auto visit = [&](Node* n, int output) -> Status {
      if (!n) return {};
      if (n->op() == "Switch") {
        const Endpoint pred = behind(n->input(1));
        if (!predicate_.node) predicate_ = pred;
        if (!(pred == predicate_) || (output >= 0 && output != side)) return strange(n, "has another predicate than its branch");
        if (output >= 0 && std::find(splits_.begin(), splits_.end(), n) == splits_.end()) splits_.push_back(n);
        return {};
      }
      if (graph::is_v1_control_flow(*n)) return strange(n, "stands in the middle of a branch");
      if (n->op() == "_Arg") return output < 0 ? Status() : strange(n, "is read inside a branch without a Switch");
      if (seen.insert(n).second) todo.push_back(n);
      return {};
    };
    WEFT_RETURN_IF_ERROR(visit(from.node, from.index));
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      p.body.push_back(n);
      for (const Endpoint& e : n->inputs()) WEFT_RETURN_IF_ERROR(visit(e.node, e.index));
      for (Node* c : n->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c, -1));
    }
    std::sort(p.body.begin(), p.body.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    return {};
  }

  FunctionBody& body_;
  Graph& g_;
  Node* merge_;
  Endpoint predicate_;
  std::vector<Node*> splits_;
};

}  // namespace

Status raise_frames(FunctionBody& body) {
  for (int round = 0; round < kMostRounds; ++round) {
    WEFT_ASSIGN(const std::vector<Node*> order, body.graph->topological_order());
    if (std::none_of(order.begin(), order.end(), [](const Node* n) { return is_any(n, {"Enter", "Switch", "Merge", "RefSwitch", "RefEnter", "RefMerge"}); })) return {};
    const Frames frames(*body.graph, order);
    // The deepest frame first, and in it branches before the loop; of those the first, which has no other inside.
    Node* next = nullptr;
    int depth = -1;
    for (Node* n : order) {
      const bool turns = std::any_of(n->inputs().begin(), n->inputs().end(), [](const Endpoint& e) { return e.node && is_any(e.node, {"NextIteration", "RefNextIteration"}); });
      if (n->op() != "LoopCond" && !(n->op() == "Merge" && !turns)) continue;
      const int d = frames.all[size_t(frames.of[size_t(n->id())])].depth;
      if (d < depth || (d == depth && !(next->op() == "LoopCond" && n->op() == "Merge"))) continue;
      next = n;
      depth = d;
    }
    if (!next) {
      // Switches whose branches nothing reads any more.
      graph::PassContext c;
      const int before = body.graph->num_nodes();
      WEFT_RETURN_IF_ERROR(graph::pass_prune(body, c));
      if (body.graph->num_nodes() < before) continue;
      for (const Node* n : order) {
        if (is_any(n, {"Enter", "Switch", "Merge", "RefSwitch", "RefEnter", "RefMerge"})) return strange(n, "belongs to nothing");
      }
      return {};
    }
    WEFT_RETURN_IF_ERROR(next->op() == "LoopCond" ? LoopRaiser(body, next, frames, order).run() : BranchRaiser(body, next).run());
  }
  return core::unimplemented("too much control flow of version 1 in '", body.name, "'");
}

}  // namespace weft::compiler

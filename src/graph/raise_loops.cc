#include "graph/raise_loops.h"

#include <algorithm>
#include <unordered_set>

#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "graph/to_function.h"

namespace weft_engine::graph {
namespace {

bool has_effects(const Node* n) { return n->spec().has_side_effect() && !is_v1_control_flow(*n); }
bool has_ref(const Node* n) { return n->num_inputs() > 0 && is_ref_type(n->input_type(0)); }

void sort_by_id(std::vector<Node*>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
}

PartialShape shape_at(const Node* n, int output) { return size_t(output) < n->shapes.size() ? n->shapes[size_t(output)] : PartialShape(); }

// The value behind nodes that only hand it on.
Endpoint behind(Endpoint e) {
  while (e.node && forwards_inputs(*e.node) && !is_ref_type(e.node->input_type(e.index))) e = e.node->input(e.index);
  return e;
}

// A function of the graph's library. Control edges from outside its nodes are left out: the call comes after them.
Result<FunctionAttr> define(Graph& g, std::string name, const std::vector<Node*>& nodes, Interface io) {
  if (!g.library()) return internal_error("the graph of '", name, "' has no function library");
  std::replace(name.begin(), name.end(), '/', '_');
  io.body.assign(nodes.begin(), nodes.end());
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(io.control_outputs), has_effects);
  io.drops_outer_controls = true;
  return define_function(g, std::move(name), io);
}

}  // namespace

Status not_plain_control_flow(const Node& n, std::string_view what) {
  return unimplemented("control flow of version 1 that is not a plain loop or branch: ", n.op(), " '", n.name(), "' ", what);
}

// ---- loops ---------------------------------------------------------------------------------------------

class LoopRaiser::Loop {
 public:
  Loop(LoopRaiser& raiser, Node* loop_cond, const Frames& frames, const std::vector<Node*>& order)
      : raiser_(raiser), g_(raiser.graph_), cond_(loop_cond), name_(frames.name(frames.of(loop_cond))) {
    for (Node* n : order) {
      if (frames.of(n) == frames.of(loop_cond)) nodes_.push_back(n);
    }
    inside_.insert(nodes_.begin(), nodes_.end());
  }

  Status run() {
    WEFT_RETURN_IF_ERROR(find_variables());
    Interface cond, body;
    for (const Variable& v : variables_) {
      cond.inputs.push_back({v.merge, 0});
      body.inputs.push_back({v.split, 1});
      body.outputs.push_back(v.next->input(0));
    }
    cond.outputs.push_back(cond_->input(0));
    std::vector<Node*> cond_nodes, body_nodes;
    WEFT_RETURN_IF_ERROR(collect(cond, false, cond_nodes));
    WEFT_RETURN_IF_ERROR(collect(body, true, body_nodes));
    std::vector<Endpoint> inputs;
    std::vector<PartialShape> shapes;
    for (const Variable& v : variables_) {
      inputs.push_back(v.enter->input(0));
      shapes.push_back(shape_at(v.merge, 0));
    }
    for (Node* c : constants_) {
      cond.inputs.push_back({c, 0});
      body.inputs.push_back({c, 0});
      body.outputs.push_back({c, 0});
      inputs.push_back(c->input(0));
      shapes.push_back(shape_at(c, 0));
    }
    std::vector<DType> types;
    for (const Endpoint& e : inputs) types.push_back(base_type(e.node->output_type(e.index)));
    // What the loop's nodes wait for outside, the loop waits for.
    std::vector<Node*> controls;
    for (const Node* n : nodes_) {
      for (Node* c : n->control_inputs()) {
        if (!inside_.contains(c) && std::find(controls.begin(), controls.end(), c) == controls.end()) controls.push_back(c);
      }
    }
    WEFT_ASSIGN(FunctionAttr cond_f, define(g_, name_ + "_cond", cond_nodes, std::move(cond)));
    WEFT_ASSIGN(FunctionAttr body_f, define(g_, name_ + "_body", body_nodes, std::move(body)));
    bool stateful = false;
    for (const FunctionAttr* f : {&cond_f, &body_f}) {
      WEFT_ASSIGN(auto def, g_.library()->find(f->name));
      stateful |= def->stateful;
    }
    AttrMap attrs{{"T", types},
                  {"cond", cond_f},
                  {"body", body_f},
                  {"output_shapes", shapes},
                  {"parallel_iterations", variables_[0].enter->attr<int64_t>("parallel_iterations")}};
    WEFT_ASSIGN(Node* loop, raiser_.add(name_, op_of(Role::kWhile, stateful), std::move(attrs), std::move(inputs), controls));
    for (Node* n : std::vector<Node*>(nodes_)) {
      for (const Use& u : std::vector<Use>(n->uses())) {
        if (!is_exit(*u.node)) continue;
        const Endpoint e = behind(u.node->input(0));
        const auto v = std::find_if(variables_.begin(), variables_.end(), [&](const Variable& x) { return e == Endpoint{x.split, 0}; });
        if (v == variables_.end()) return not_plain_control_flow(*u.node, "is not the end of a loop's variable");
        WEFT_RETURN_IF_ERROR(raiser_.replace(u.node, {{loop, int(v - variables_.begin())}}, loop));
        nodes_.push_back(u.node);
      }
    }
    return raiser_.finish(nodes_, loop);
  }

 private:
  struct Variable {
    Node *enter = nullptr, *merge = nullptr, *split = nullptr, *next = nullptr;
  };

  Status find_variables() {
    if (!cond_->input(0).node) return not_plain_control_flow(*cond_, "has no input");
    std::vector<Node*> splits;
    for (const Use& u : cond_->uses()) {
      if (!is_switch(*u.node) || u.input != 1) continue;
      if (has_ref(u.node)) return not_plain_control_flow(*u.node, "switches a reference");
      splits.push_back(u.node);
    }
    sort_by_id(splits);
    for (Node* s : splits) {
      Variable v;
      v.split = s;
      v.merge = s->input(0).node;
      if (!v.merge || !is_merge(*v.merge) || has_ref(v.merge) || v.merge->num_inputs() != 2) return not_plain_control_flow(*s, "reads no Merge");
      for (const Endpoint& e : v.merge->inputs()) {
        if (e.node && is_enter(*e.node)) v.enter = e.node;
        if (e.node && is_next_iteration(*e.node)) v.next = e.node;
      }
      if (!v.enter || !v.next || !v.enter->input(0).node || !v.next->input(0).node)
        return not_plain_control_flow(*v.merge, "has not an Enter and a NextIteration");
      variables_.push_back(v);
      stops_.insert(v.merge);
      stops_.insert(v.split);
    }
    return variables_.empty() ? not_plain_control_flow(*cond_, "has no variables") : Status();
  }

  // The nodes that the outputs need, and for the body those with effects, up to the variables and to what comes in from outside.
  Status collect(const Interface& io, bool is_body, std::vector<Node*>& nodes) {
    std::unordered_set<Node*> seen;
    std::vector<Node*> todo;
    const auto visit = [&](Node* n, bool data) -> Status {
      if (!n || seen.contains(n)) return {};
      if (stops_.contains(n) || n == cond_) {
        if (data && is_merge(*n) == is_body) return not_plain_control_flow(*n, "is read on the wrong side of its loop's condition");
        return {};
      }
      if (is_enter(*n) && !has_ref(n) && inside_.contains(n)) {
        if (!data) return {};
        if (!n->attr<bool>("is_constant")) return not_plain_control_flow(*n, "is read without a Merge");
        if (!n->input(0).node) return not_plain_control_flow(*n, "has no input");
        if (std::find(constants_.begin(), constants_.end(), n) == constants_.end()) constants_.push_back(n);
        return {};
      }
      if (!inside_.contains(n)) return data ? not_plain_control_flow(*n, "is read inside a loop without an Enter") : Status();
      if (is_switch(*n) || is_merge(*n) || is_enter(*n) || is_exit(*n) || is_next_iteration(*n))
        return data ? not_plain_control_flow(*n, "is in the middle of a loop") : Status();
      seen.insert(n);
      todo.push_back(n);
      return {};
    };
    for (const Endpoint& e : io.outputs) WEFT_RETURN_IF_ERROR(visit(e.node, !stops_.contains(e.node)));
    if (is_body && raiser_.keeps_effects()) {
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
      nodes.push_back(n);
      for (const Endpoint& e : n->inputs()) {
        if (stops_.contains(e.node) && is_switch(*e.node) && e.index == 0 && is_body) return not_plain_control_flow(*n, "reads what leaves the loop");
        WEFT_RETURN_IF_ERROR(visit(e.node, true));
      }
      for (Node* c : n->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c, false));
    }
    sort_by_id(nodes);
    return {};
  }

  LoopRaiser& raiser_;
  Graph& g_;
  Node* cond_;
  const std::string name_;
  std::vector<Node*> nodes_;  // in the loop's frame
  std::unordered_set<const Node*> inside_, stops_;
  std::vector<Variable> variables_;
  std::vector<Node*> constants_;
};

// ---- branches ------------------------------------------------------------------------------------------

class LoopRaiser::Branch {
 public:
  Branch(LoopRaiser& raiser, Node* merge) : raiser_(raiser), g_(raiser.graph_), merge_(merge) {}

  Status run() {
    if (merge_->num_inputs() != 2) return not_plain_control_flow(*merge_, "has not two inputs");
    // Which side input 0 is: that of the Switch it comes from.
    WEFT_ASSIGN(const int first, side_of(merge_->input(0)));
    std::vector<Node*> nodes[2];
    for (int i = 0; i < 2; ++i) {
      const int side = i == 0 ? first : 1 - first;
      WEFT_RETURN_IF_ERROR(collect(side, merge_->input(i), nodes[side]));
    }
    if (!predicate_.node) return not_plain_control_flow(*merge_, "has no Switch behind it");
    sort_by_id(splits_);
    std::vector<Endpoint> inputs{predicate_};
    std::vector<DType> types;
    for (Node* s : splits_) {
      inputs.push_back(s->input(0));
      types.push_back(base_type(s->output_type(0)));
    }
    FunctionAttr functions[2];
    bool stateful = false;
    for (int side = 0; side < 2; ++side) {
      Interface io;
      for (Node* s : splits_) io.inputs.push_back({s, side});
      io.outputs.push_back(merge_->input(side == first ? 0 : 1));
      WEFT_ASSIGN(functions[side], define(g_, merge_->name() + (side ? "_true" : "_false"), nodes[side], std::move(io)));
      for (const Node* n : nodes[side]) stateful |= n->spec().stateful;
    }
    AttrMap attrs{{"Tcond", DType::kBool},
                  {"Tin", types},
                  {"Tout", std::vector<DType>{base_type(merge_->output_type(0))}},
                  {"then_branch", functions[1]},
                  {"else_branch", functions[0]},
                  {"output_shapes", std::vector<PartialShape>{shape_at(merge_, 0)}}};
    WEFT_ASSIGN(Node* branch, raiser_.add(merge_->name(), op_of(Role::kIf, stateful), std::move(attrs), std::move(inputs), merge_->control_inputs()));
    // Which input of the Merge arrived.
    Endpoint second = predicate_;
    if (first == 1) {
      WEFT_ASSIGN(second.node, raiser_.add(merge_->name(), op_of(op::Symbol::kNot), {}, {predicate_}, {}));
      second.index = 0;
    }
    WEFT_ASSIGN(Node* index, raiser_.add(merge_->name(), "Cast", {{"SrcT", DType::kBool}, {"DstT", DType::kInt32}}, {second}, {}));
    WEFT_RETURN_IF_ERROR(raiser_.replace(merge_, {{branch, 0}, {index, 0}}, branch));
    std::vector<Node*> all{merge_};
    for (const auto& side : nodes) all.insert(all.end(), side.begin(), side.end());
    all.insert(all.end(), splits_.begin(), splits_.end());
    return raiser_.finish(all, branch);
  }

 private:
  // 1: what comes is there when the predicate holds. By the first Switch on the way back, edges of control included.
  Result<int> side_of(Endpoint from) {
    std::unordered_set<Node*> seen;
    std::vector<Endpoint> todo{from};
    while (!todo.empty()) {
      const Endpoint e = todo.back();
      todo.pop_back();
      if (!e.node) continue;
      if (is_switch(*e.node) && e.index >= 0) return e.index;
      if (!seen.insert(e.node).second) continue;
      for (const Endpoint& in : e.node->inputs()) todo.push_back(in);
      for (Node* c : e.node->control_inputs()) todo.push_back({c, -1});
    }
    return not_plain_control_flow(*merge_, "has no Switch behind it");
  }

  Status collect(int side, Endpoint from, std::vector<Node*>& nodes) {
    std::unordered_set<Node*> seen;
    std::vector<Node*> todo;
    const auto visit = [&](Node* n, int output) -> Status {
      if (!n) return {};
      if (is_switch(*n) && !has_ref(n)) {
        const Endpoint p = behind(n->input(1));
        if (!predicate_.node) predicate_ = p;
        if (!(p == predicate_) || (output >= 0 && output != side)) return not_plain_control_flow(*n, "has another predicate than its branch");
        if (output >= 0 && std::find(splits_.begin(), splits_.end(), n) == splits_.end()) splits_.push_back(n);
        return {};
      }
      if (is_v1_control_flow(*n)) return not_plain_control_flow(*n, "is in the middle of a branch");
      if (is_arg(*n)) return output < 0 ? Status() : not_plain_control_flow(*n, "is read inside a branch without a Switch");
      if (seen.insert(n).second) todo.push_back(n);
      return {};
    };
    WEFT_RETURN_IF_ERROR(visit(from.node, from.index));
    bool effects = false;
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      nodes.push_back(n);
      effects |= has_effects(n);
      for (const Endpoint& e : n->inputs()) WEFT_RETURN_IF_ERROR(visit(e.node, e.index));
      for (Node* c : n->control_inputs()) WEFT_RETURN_IF_ERROR(visit(c, -1));
    }
    sort_by_id(nodes);
    if (!effects) return {};
    // Each Merge makes an If of its own, which would have the effect again.
    for (const Node* n : nodes) {
      for (const Use& u : n->uses()) {
        if (is_merge(*u.node) && u.node != merge_) return not_plain_control_flow(*n, "is in a branch with effects and several results");
      }
    }
    return {};
  }

  LoopRaiser& raiser_;
  Graph& g_;
  Node* merge_;
  Endpoint predicate_;
  std::vector<Node*> splits_;
};

Status LoopRaiser::run() {
  std::unordered_set<int> done;  // by id: what stays in the graph
  for (;;) {
    WEFT_ASSIGN(const std::vector<Node*> order, graph_.topological_order());
    const Frames frames(graph_, order);
    // The deepest frame first, and in it branches before the loop; of those the first, which has no other inside.
    Node* next = nullptr;
    for (Node* n : order) {
      const bool turns = std::any_of(n->inputs().begin(), n->inputs().end(), [](const Endpoint& e) { return e.node && is_next_iteration(*e.node); });
      if (!is_loop_cond(*n) && (!is_merge(*n) || has_ref(n) || turns)) continue;
      if (done.contains(n->id()) || !wanted(n, frames)) continue;
      if (next && (frames.depth(n) < frames.depth(next) || (frames.depth(n) == frames.depth(next) && !(is_loop_cond(*next) && is_merge(*n)))))
        continue;
      next = n;
    }
    if (!next) return {};
    done.insert(next->id());
    WEFT_RETURN_IF_ERROR(is_loop_cond(*next) ? Loop(*this, next, frames, order).run() : Branch(*this, next).run());
  }
}

}  // namespace weft_engine::graph

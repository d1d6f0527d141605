// Loops: what is the same in every iteration is computed once, in front; variables that never change are
// read from in front, too, and those that nobody needs go.
#include <algorithm>

#include "graph/function_library.h"
#include "graph/passes/util.h"
#include "graph/to_function.h"

namespace weft::graph {
namespace {

constexpr int kMaxMoved = 64;  // values; each is one more variable of the loop

class Loop {
 public:
  Loop(FunctionBody& outer, Node* node) : outer_(outer), g_(*outer.graph), node_(node) {}

  Status run() {
    auto cond = instantiate("cond", cond_), body = instantiate("body", body_);
    // A function that is missing or wrong is reported when the loop runs.
    if (!cond.ok() || !body.ok()) return {};
    const size_t n = size_t(node_->num_inputs());
    if (cond_.args.size() != n || cond_.rets.size() != 1 || body_.args.size() != n || body_.rets.size() != n) return {};
    find_invariants();
    WEFT_RETURN_IF_ERROR(read_in_front());
    if (quiet(cond_) && quiet(body_)) WEFT_RETURN_IF_ERROR(move_out());
    find_needed();
    if (moved_.empty() && std::all_of(needed_.begin(), needed_.end(), [](char c) { return c; })) return {};
    return rebuild();
  }

 private:
  Status instantiate(std::string_view attr, FunctionBody& out) {
    const auto& f = node_->attr<FunctionAttr>(attr);
    WEFT_ASSIGN(auto def, g_.library()->find(f.name));
    static const AttrMap kNone;
    WEFT_ASSIGN(out, instantiate_function(*def, f.attrs ? *f.attrs : kNone, g_.registry(), g_.library()));
    return {};
  }

  // The endpoint behind nodes that only hand it on.
  static Endpoint source(Endpoint e) {
    while (forwards_inputs(*e.node) && !has_refs(*e.node)) e = e.node->input(e.index);
    return e;
  }
  bool invariant(size_t i) const { return invariant_[i]; }

  void find_invariants() {
    invariant_.resize(body_.args.size());
    for (size_t i = 0; i < body_.args.size(); ++i) invariant_[i] = source(body_.rets[i]->input(0)) == Endpoint{body_.args[i], 0};
  }

  // The results of variables that never change are what goes in.
  Status read_in_front() {
    for (size_t i = 0; i < invariant_.size(); ++i) {
      if (invariant(i)) g_.replace_uses({node_, int(i)}, node_->input(int(i)));
    }
    return {};
  }

  // No effects, so that reads of variables see the same in every iteration.
  static bool quiet(const FunctionBody& b) {
    for (Node* n : b.graph->nodes()) {
      if (n->op() == "_Arg" || n->op() == "_Retval" || n->op() == "NoOp" || is_pure(*n) || is_read(*n)) continue;
      return false;
    }
    return true;
  }

  // Cannot fail on inputs of known shapes; the loop might run no iteration, and then nothing may fail.
  static bool safe(const Node& n) {
    if (is_read(n)) return n.op() == "ReadVariableOp";
    return is_elementwise(n) && (is_floating_type(n.output_type(0)) || n.op() == "Cast");
  }

  Status move_out() {
    WEFT_ASSIGN(std::vector<Node*> order, body_.graph->topological_order());
    std::vector<Node*> copies(size_t(body_.graph->num_ids()), nullptr);
    for (Node* n : order) {
      if (n->num_outputs() != 1 || n->num_inputs() == 0 || !n->control_inputs().empty() || !safe(*n) || has_type(*n, DType::kVariant)) continue;
      if (int(moved_.size()) >= kMaxMoved) break;
      // All inputs come from in front of the loop, and at least one is no constant.
      std::vector<Endpoint> inputs;
      bool any = false;
      for (const Endpoint& e : n->inputs()) {
        const Endpoint s = source(e);
        if (s.node->op() == "_Arg" && invariant(size_t(s.node->attr<int64_t>("index")))) {
          inputs.push_back(node_->input(int(s.node->attr<int64_t>("index"))));
          any = true;
        } else if (Node* copy = copies[size_t(s.node->id())]) {
          inputs.push_back({copy, s.index});
          any = true;
        } else if (is_const(*s.node) && s.node->control_inputs().empty()) {
          WEFT_ASSIGN(Endpoint constant, add_const_near(g_, node_, cat("/", s.node->name()), s.node->attr<Tensor>("value")));
          inputs.push_back(constant);
        } else {
          break;
        }
      }
      if (inputs.size() != size_t(n->num_inputs()) || !any || forwards_inputs(*n)) continue;
      if (!is_read(*n) && !std::all_of(inputs.begin(), inputs.end(), [](const Endpoint& e) { return shape_of(e).fully_known(); })) continue;
      WEFT_ASSIGN(Node * copy, g_.add(g_.unique_name(cat(node_->name(), "/", n->name())), n->op(), attrs_of(*n), inputs, node_->control_inputs()));
      copy->device = n->device.empty() ? node_->device : n->device;
      refresh_shapes(copy);
      copies[size_t(n->id())] = copy;
      moved_.push_back({n, copy});
    }
    // Only what others in the loop still read becomes a variable.
    std::erase_if(moved_, [&](const Moved& m) {
      for (const Use& u : m.inside->uses()) {
        if (!copies[size_t(u.node->id())]) return false;
      }
      return m.inside->control_outputs().empty() && !is_control_ret(body_, m.inside);
    });
    return {};
  }

  // A variable is needed if its result is read, or an effect, the condition or a needed one depends on it.
  void find_needed() {
    const size_t n = body_.args.size();
    needed_.assign(n, 0);
    std::vector<char> seen(size_t(body_.graph->num_ids()), 0);
    std::vector<Node*> todo;
    auto want = [&](Node* m) {
      if (m && !seen[size_t(m->id())]) {
        seen[size_t(m->id())] = 1;
        todo.push_back(m);
      }
    };
    auto need = [&](size_t i) {
      if (needed_[i]) return;
      needed_[i] = 1;
      if (!invariant(i)) want(body_.rets[i]);
    };
    std::vector<char> moved(size_t(body_.graph->num_ids()), 0);
    for (const Moved& m : moved_) moved[size_t(m.inside->id())] = 1;
    for (Node* m : body_.graph->nodes()) {
      if (m->op() != "_Arg" && m->op() != "_Retval" && m->spec().has_side_effect()) want(m);
    }
    for (Node* m : body_.control_rets) want(m);
    for (size_t i = 0; i < n; ++i) {
      if (!cond_.args[i]->uses().empty() || num_uses({node_, int(i)}) > 0) need(i);
      if (has_refs(*body_.args[i])) need(i);
    }
    while (!todo.empty()) {
      Node* m = todo.back();
      todo.pop_back();
      if (m->op() == "_Arg") {
        need(size_t(m->attr<int64_t>("index")));
        continue;
      }
      if (moved[size_t(m->id())]) continue;  // comes from in front
      for (const Endpoint& e : m->inputs()) want(e.node);
      for (Node* c : m->control_inputs()) want(c);
    }
  }

  Status rebuild() {
    // The body: moved values are arguments that are handed on.
    std::vector<Endpoint> inputs;
    std::vector<int> kept;
    for (size_t i = 0; i < needed_.size(); ++i) {
      if (!needed_[i]) continue;
      kept.push_back(int(i));
      inputs.push_back(node_->input(int(i)));
    }
    Graph& bg = *body_.graph;
    FunctionOptions bo, co;
    for (int i : kept) {
      bo.inputs.push_back({body_.args[size_t(i)], 0});
      bo.outputs.push_back(body_.rets[size_t(i)]->input(0));
      co.inputs.push_back({cond_.args[size_t(i)], 0});
    }
    for (const Moved& m : moved_) {
      const AttrMap attrs{{"T", m.inside->output_type(0)}, {"index", int64_t(bo.inputs.size())}};
      WEFT_ASSIGN(Node * arg, bg.add(bg.unique_name(cat(m.inside->name(), "/invariant")), "_Arg", attrs, {}));
      bg.replace_uses({m.inside, 0}, {arg, 0});
      // Nothing in the loop writes, so nobody has to wait for the read.
      for (Node* o : std::vector<Node*>(m.inside->control_outputs())) bg.remove_control(m.inside, o);
      std::erase(body_.control_rets, m.inside);
      bo.inputs.push_back({arg, 0});
      bo.outputs.push_back({arg, 0});
      WEFT_ASSIGN(Node * unused, cond_.graph->add(cond_.graph->unique_name(cat(m.inside->name(), "/invariant")), "_Arg", attrs, {}));
      co.inputs.push_back({unused, 0});
      inputs.push_back({m.copy, 0});
    }
    co.outputs.push_back(cond_.rets[0]->input(0));
    WEFT_ASSIGN(FunctionAttr cond, define("cond", cond_, std::move(co)));
    WEFT_ASSIGN(FunctionAttr new_body, define("body", body_, std::move(bo)));

    AttrMap attrs = attrs_of(*node_);
    std::vector<DType> types;
    std::vector<PartialShape> promised;
    const auto& old = node_->attr<std::vector<PartialShape>>("output_shapes");
    for (size_t i = 0; i < inputs.size(); ++i) {
      types.push_back(base_type(type_of(inputs[i])));
      promised.push_back(i < kept.size() && !old.empty() ? old[size_t(kept[i])] : PartialShape());
    }
    attrs["T"] = types;
    attrs["cond"] = std::move(cond);
    attrs["body"] = std::move(new_body);
    attrs["output_shapes"] = old.empty() ? std::vector<PartialShape>() : promised;
    attrs.erase("_num_original_outputs");
    WEFT_ASSIGN(Node * loop, g_.add(g_.unique_name(node_->name()), node_->op(), std::move(attrs), std::move(inputs), node_->control_inputs()));
    loop->device = node_->device;
    loop->debug_info = node_->debug_info;
    loop->shapes.resize(size_t(loop->num_outputs()));
    for (size_t k = 0; k < kept.size(); ++k) {
      if (size_t(kept[k]) < node_->shapes.size()) loop->shapes[k] = node_->shapes[size_t(kept[k])];
      g_.replace_uses({node_, kept[k]}, {loop, int(k)});
    }
    g_.replace_controls(node_, loop);
    if (is_control_ret(outer_, node_)) {
      std::erase(outer_.control_rets, node_);
      outer_.control_rets.push_back(loop);
    }
    g_.remove(node_);
    return {};
  }

  Result<FunctionAttr> define(std::string_view attr, FunctionBody& b, FunctionOptions o) {
    const std::string& name = node_->attr<FunctionAttr>(attr).name;
    WEFT_ASSIGN(auto original, g_.library()->find(name));
    // Drops what only fed variables that have gone.
    std::vector<char> keep(size_t(b.graph->num_ids()), 0);
    std::vector<Node*> todo;
    auto want = [&](Node* m) {
      if (m && !keep[size_t(m->id())]) {
        keep[size_t(m->id())] = 1;
        todo.push_back(m);
      }
    };
    for (const Endpoint& e : o.outputs) want(e.node);
    for (Node* c : b.control_rets) want(c);
    for (Node* m : b.graph->nodes()) {
      if (m->op() != "_Arg" && m->op() != "_Retval" && m->spec().has_side_effect()) want(m);
    }
    while (!todo.empty()) {
      Node* m = todo.back();
      todo.pop_back();
      for (const Endpoint& e : m->inputs()) want(e.node);
      for (Node* c : m->control_inputs()) want(c);
    }
    o.body.emplace();
    for (Node* m : b.graph->nodes()) {
      if (keep[size_t(m->id())] && m->op() != "_Arg" && m->op() != "_Retval") o.body->push_back(m);
    }
    for (Node* c : b.control_rets) o.control_outputs.push_back(c);
    o.name = name;
    o.append_hash = true;
    WEFT_ASSIGN(FunctionDef def, to_function(*b.graph, o));
    def.attrs = original->attrs;
    def.stateful = original->stateful;
    FunctionAttr f{def.name, nullptr};
    WEFT_RETURN_IF_ERROR(g_.library()->add(std::move(def)));
    return f;
  }

  struct Moved {
    Node* inside;
    Node* copy;  // in front of the loop
  };
  FunctionBody& outer_;
  Graph& g_;
  Node* node_;
  FunctionBody cond_, body_;
  std::vector<char> invariant_, needed_;
  std::vector<Moved> moved_;
};

}  // namespace

Status pass_loop_invariant(FunctionBody& body, PassContext&) {
  const Region region(*body.graph);
  for (Node* n : body.graph->nodes()) {
    if ((n->op() == "While" || n->op() == "StatelessWhile") && !region.contains(n)) WEFT_RETURN_IF_ERROR(Loop(body, n).run());
  }
  return {};
}

}  // namespace weft::graph

// Loops: what is the same in every iteration is computed once, in front; variables that never change are
// read from in front, too, and those that nobody needs go.
#include <algorithm>

#include "graph/passes/loops.h"

namespace weft_engine::graph {
namespace {

constexpr size_t kMaxMoved = 64;  // values; each is one more variable of the loop

// No effects, so that reads of variables see the same in every iteration.
bool quiet(const FunctionBody& b) {
  for (Node* n : b.graph->nodes()) {
    if (is_end(*n) || is_no_op(*n) || is_pure(*n) || only_reads(*n)) continue;
    return false;
  }
  return true;
}

// Cannot fail on inputs of known shapes; the loop might run no iteration, and then nothing may fail.
bool safe(const Node& n) {
  if (only_reads(n)) return role_of(n) == Role::kReadVariable;
  if (n.input_type(0) == DType::kString) return false;  // a text may be no number, or no base64
  // Of integers: not a division.
  return traits_of(n).elementwise && (is_floating_type(n.output_type(0)) || (n.num_inputs() == 1 && is_simple(n.output_type(0))));
}

class LoopInvariantMotion {
 public:
  LoopInvariantMotion(FunctionBody& outer, Loop& loop) : outer_(outer), g_(*outer.graph), loop_(loop), body_(loop.body) {}

  Status run() {
    Node* node = loop_.node;
    for (int i = 0; i < node->num_inputs(); ++i) {
      invariant_.push_back(loop_.invariant(i));
      // The results of variables that never change are what goes in.
      if (invariant_.back()) g_.replace_uses({node, i}, node->input(i));
    }
    if (quiet(loop_.cond) && quiet(body_)) WEFT_RETURN_IF_ERROR(hoist());
    find_needed();
    std::vector<int> kept;
    for (size_t i = 0; i < needed_.size(); ++i) {
      if (needed_[i]) kept.push_back(int(i));
    }
    if (moved_.empty() && kept.size() == needed_.size()) return {};
    std::vector<LoopInput> added;
    for (const Moved& m : moved_) {
      WEFT_ASSIGN(LoopInput in, add_loop_input(loop_, {m.copy, 0}, cat(m.inside->name(), "/invariant")));
      body_.graph->replace_uses({m.inside, 0}, {in.arg, 0});
      // Nothing in the loop writes, so nobody has to wait for the read.
      for (Node* o : std::vector<Node*>(m.inside->control_outputs())) body_.graph->remove_control(m.inside, o);
      std::erase(body_.control_rets, m.inside);
      added.push_back(in);
    }
    return rebuild_loop(outer_, loop_, kept, added).status();
  }

 private:
  Status hoist() {
    Node* node = loop_.node;
    WEFT_ASSIGN(std::vector<Node*> order, body_.graph->topological_order());
    std::vector<Node*> copies(size_t(body_.graph->num_ids()), nullptr);
    for (Node* n : order) {
      if (n->num_outputs() != 1 || n->num_inputs() == 0 || !n->control_inputs().empty() || !safe(*n) || has_type(*n, DType::kVariant)) continue;
      if (moved_.size() >= kMaxMoved) break;
      // All inputs come from in front of the loop, and at least one is not a constant.
      std::vector<Endpoint> inputs;
      bool any = false;
      for (const Endpoint& e : n->inputs()) {
        const Endpoint s = source(e);
        if (is_arg(*s.node) && invariant_[size_t(s.node->attr<int64_t>("index"))]) {
          inputs.push_back(node->input(int(s.node->attr<int64_t>("index"))));
          any = true;
        } else if (Node* copy = copies[size_t(s.node->id())]) {
          inputs.push_back({copy, s.index});
          any = true;
        } else if (is_const(*s.node) && s.node->control_inputs().empty()) {
          WEFT_ASSIGN(Endpoint constant, add_const_near(g_, node, cat("/", s.node->name()), s.node->attr<Tensor>("value")));
          inputs.push_back(constant);
        } else {
          break;
        }
      }
      if (inputs.size() != size_t(n->num_inputs()) || !any || forwards_inputs(*n)) continue;
      if (!only_reads(*n) && !std::all_of(inputs.begin(), inputs.end(), [](const Endpoint& e) { return shape_of(e).fully_known(); })) continue;
      WEFT_ASSIGN(Node* copy, g_.add(g_.unique_name(cat(node->name(), "/", n->name())), n->op(), attrs_of(*n), inputs, node->control_inputs()));
      copy->device = n->device.empty() ? node->device : n->device;
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
    std::vector<char> seen(size_t(body_.graph->num_ids()), 0), moved(size_t(body_.graph -> num_ids()), 0);
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
      if (!invariant_[i]) want(body_.rets[i]);
    };
    for (const Moved& m : moved_) moved[size_t(m.inside->id())] = 1;
    for (Node* m : body_.graph->nodes()) {
      if (!is_end(*m) && m->spec().has_side_effect()) want(m);
    }
    for (Node* m : body_.control_rets) want(m);
    for (size_t i = 0; i < n; ++i) {
      if (!loop_.cond.args[i]->uses().empty() || num_uses({loop_.node, int(i)}) > 0 || has_refs(*body_.args[i])) need(i);
    }
    while (!todo.empty()) {
      Node* m = todo.back();
      todo.pop_back();
      if (is_arg(*m)) {
        need(size_t(m->attr<int64_t>("index")));
        continue;
      }
      if (moved[size_t(m->id())]) continue;  // comes from in front
      for (const Endpoint& e : m->inputs()) want(e.node);
      for (Node* c : m->control_inputs()) want(c);
    }
  }

  struct Moved {
    Node* inside;
    Node* copy;  // in front of the loop
  };
  FunctionBody& outer_;
  Graph& g_;
  Loop& loop_;
  FunctionBody& body_;
  std::vector<char> invariant_, needed_;
  std::vector<Moved> moved_;
};

}  // namespace

Status pass_loop_invariant(FunctionBody& body, PassContext&) {
  const Region region(*body.graph);
  std::vector<Node*> all = body.graph->nodes();
  // The last loop first: what it no longer reads, those before it need not make.
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (!is_while(**it) || region.contains(*it)) continue;
    Loop loop;
    if (Loop::open(*body.graph, *it, loop)) WEFT_RETURN_IF_ERROR(LoopInvariantMotion(body, loop).run());
  }
  return {};
}

}  // namespace weft_engine::graph

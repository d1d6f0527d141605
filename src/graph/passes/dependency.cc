// Control edges: fewer of them, saying the same.
//
// An edge from a pure node only says "after the effects that it depends on", so it is replaced by edges
// from those; a NoOp is a knot of edges, replaced by the edges where that is not more; and an edge that a
// path of other edges implies is removed.
#include <algorithm>

#include "graph/passes/util.h"

namespace weft_engine::graph {
namespace {

constexpr size_t kMaxOrigins = 8;       // beyond it an edge from a pure node stays as it is
constexpr int64_t kMaxSteps = 1 << 22;  // of the search for implied edges

class Dependencies {
 public:
  explicit Dependencies(FunctionBody& body) : body_(body), g_(*body.graph), region_(*body.graph) {}

  Status run() {
    WEFT_ASSIGN(std::vector<Node*> order, g_.topological_order());
    find_origins(order);
    for (Node* n : order) replace_pure_sources(n);
    for (Node* n : order) {
      if (is_no_op(*n) && !region_.contains(n)) untie(n);
    }
    replace_pure_results();
    WEFT_ASSIGN(order, g_.topological_order());
    remove_implied(order);
    return {};
  }

 private:
  // The nearest ordered nodes that a pure one depends on; nullopt: too many to name.
  using Origins = std::optional<std::vector<Node*>>;

  bool transparent(const Node* n) const { return !region_.contains(n) && (is_pure(*n) || is_arg(*n)); }

  void find_origins(const std::vector<Node*>& order) {
    origins_.resize(size_t(g_.num_ids()));
    for (Node* n : order) {
      Origins& mine = origins_[size_t(n->id())];
      mine.emplace();
      if (!transparent(n)) {
        mine->push_back(n);
        continue;
      }
      auto join = [&](const Node* from) {
        if (!mine) return;
        const Origins& theirs = origins_[size_t(from->id())];
        if (!theirs) {
          mine.reset();
          return;
        }
        for (Node* o : *theirs) {
          if (std::find(mine->begin(), mine->end(), o) == mine->end()) mine->push_back(o);
        }
        if (mine->size() > kMaxOrigins) mine.reset();
      };
      for (const Endpoint& e : n->inputs()) {
        if (e.node) join(e.node);
      }
      for (Node* c : n->control_inputs()) join(c);
    }
  }

  void replace_pure_sources(Node* n) {
    const std::vector<Node*> controls = n->control_inputs();
    for (Node* c : controls) {
      const Origins& from = origins_[size_t(c->id())];
      if (!transparent(c) || !from) continue;
      g_.remove_control(c, n);
      for (Node* o : *from) g_.add_control(o, n);
    }
  }

  void replace_pure_results() {
    const std::vector<Node*> controls = std::move(body_.control_rets);
    body_.control_rets.clear();
    for (Node* c : controls) {
      const Origins& from = origins_[size_t(c->id())];
      // A read has no effect; where its value is used, it runs anyhow.
      if (only_reads(*c) && !c->uses().empty() && !region_.contains(c)) continue;
      if (!transparent(c) || !from) {
        add_control_ret(body_, c);
      } else {
        for (Node* o : *from) add_control_ret(body_, o);
      }
    }
  }

  void untie(Node* n) {
    const std::vector<Node*> in = n->control_inputs(), out = n->control_outputs();
    if (!n->device.empty() && in.size() * out.size() > 0) {
      // A barrier between devices saves messages.
      for (Node* o : out) {
        if (!same_device(*n, *o)) return;
      }
    }
    if (in.size() > 1 && out.size() > 1 && in.size() * out.size() > in.size() + out.size()) return;
    for (Node* i : in) {
      for (Node* o : out) g_.add_control(i, o);
    }
    if (is_control_ret(body_, n)) {
      std::erase(body_.control_rets, n);
      for (Node* i : in) add_control_ret(body_, i);
    }
    g_.remove(n);
  }

  // For each node: walks back from its inputs; a control input that is met on the way is implied.
  void remove_implied(const std::vector<Node*>& order) {
    std::vector<int> place(size_t(g_.num_ids()), 0), visited(size_t(g_.num_ids()), -1);
    for (size_t i = 0; i < order.size(); ++i) place[size_t(order[i]->id())] = int(i);
    std::vector<const Node*> todo;
    int64_t steps = 0;
    for (Node* n : order) {
      // A node with one input of any kind has nothing that could imply it.
      if (n->control_inputs().empty() || n->control_inputs().size() + size_t(n->num_inputs()) < 2) continue;
      if (region_.contains(n)) continue;
      // What a body may take the place of keeps its edges: those of the body's nodes that do not use the inputs which imply them need them.
      if (n->spec().stateful && (is_call(*n) || is_branch(*n) || is_while(*n))) continue;
      int first = place[size_t(n->id())];
      for (Node* c : n->control_inputs()) first = std::min(first, place[size_t(c->id())]);
      auto visit = [&](const Node* from) {
        if (!from || place[size_t(from->id())] < first || visited[size_t(from->id())] == n->id()) return;
        visited[size_t(from->id())] = n->id();
        todo.push_back(from);
      };
      for (const Endpoint& e : n->inputs()) visit(e.node);
      // The control inputs themselves are not marked: only what is behind them is.
      auto visit_behind = [&](const Node* from) {
        for (const Endpoint& e : from->inputs()) visit(e.node);
        for (Node* c : from->control_inputs()) visit(c);
      };
      for (Node* c : n->control_inputs()) visit_behind(c);
      while (!todo.empty()) {
        if (++steps > kMaxSteps) return;
        const Node* m = todo.back();
        todo.pop_back();
        visit_behind(m);
      }
      for (Node* c : std::vector<Node*>(n->control_inputs())) {
        if (visited[size_t(c->id())] == n->id()) g_.remove_control(c, n);
      }
    }
  }

  FunctionBody& body_;
  Graph& g_;
  const Region region_;
  std::vector<Origins> origins_;
};

}  // namespace

Status pass_dependency(FunctionBody& body, PassContext&) { return Dependencies(body).run(); }

}  // namespace weft_engine::graph

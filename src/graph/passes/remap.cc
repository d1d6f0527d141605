// Patterns of nodes become fused ops: one kernel instead of several passes over memory. Which patterns, the ops know (Registry::fuse).
#include "graph/passes/remap.h"

#include <unordered_set>

#include "op/registry.h"

namespace weft_engine::graph {

bool has_kernel(const Graph& g, std::string_view op) {
  const OpSpec* spec = g.registry().find(op);
  return spec && !spec->kernels.empty();
}

void drop_unused(FunctionBody& body, Node* n) {
  std::vector<int> todo{n->id()};  // a node may come twice, and is already removed the second time
  while (!todo.empty()) {
    Node* m = body.graph->node(todo.back());
    todo.pop_back();
    if (!m || !m->uses().empty() || !m->control_outputs().empty() || is_control_ret(body, m)) continue;
    if (!is_pure(*m) || !m->control_inputs().empty()) continue;
    for (const Endpoint& e : m->inputs()) {
      if (e.node) todo.push_back(e.node->id());
    }
    body.graph->remove(m);
  }
}

Result<Reachability> Reachability::make(const Graph& g) {
  Reachability r;
  WEFT_ASSIGN(std::vector<Node*> order, g.topological_order());
  r.place_.assign(size_t(g.num_ids()), -1);
  for (size_t i = 0; i < order.size(); ++i) r.place_[size_t(order[i]->id())] = int(i);
  return r;
}

void Reachability::set_place(const Node* n, int place) {
  if (size_t(n->id()) >= place_.size()) place_.resize(size_t(n->id()) + 1, -1);
  place_[size_t(n->id())] = place;
}

bool Reachability::depends(const Node* n, const Node* from) const {
  const int end = place(from);
  std::vector<const Node*> todo{n};
  std::unordered_set<const Node*> seen{n};
  while (!todo.empty()) {
    const Node* m = todo.back();
    todo.pop_back();
    if (m == from) return true;
    auto visit = [&](const Node* p) {
      if (!p || (place(p) >= 0 && place(p) < end)) return;
      if (seen.insert(p).second) todo.push_back(p);
    };
    for (const Endpoint& e : m->inputs()) visit(e.node);
    for (Node* c : m->control_inputs()) visit(c);
  }
  return false;
}

bool Reachability::any_depends(std::initializer_list<Endpoint> inputs, const std::vector<Node*>& from) const {
  for (const Endpoint& e : inputs) {
    for (Node* n : from) {
      if (depends(e.node, n)) return true;
    }
  }
  return false;
}

Result<Endpoint> as_vector(Graph& g, Node* near, const Endpoint& v) {
  if (shape_of(v).rank() == 1) return v;
  // Reshape(b, [1, n]) of a vector b.
  if (traits_of(*v.node).reshapes && shape_of(v.node->input(0)).rank() == 1) return v.node->input(0);
  WEFT_ASSIGN(Node* n, add_reshape_near(g, near, "/vector", v, {*shape_of(v).num_elements()}));
  return Endpoint{n, 0};
}

bool is_row(const Endpoint& v, int64_t n) {
  const PartialShape& s = shape_of(v);
  return s.fully_known() && s.rank() >= 1 && s.dim(-1) == n && s.num_elements() == n;
}

void replace_root(FunctionBody& body, Endpoint from, Endpoint to) {
  Graph& g = *body.graph;
  g.replace_uses(from, to);
  if (!from.node->uses().empty()) return;
  g.replace_controls(from.node, to.node);
  if (is_control_ret(body, from.node)) {
    std::erase(body.control_rets, from.node);
    add_control_ret(body, to.node);
  }
  for (Node* c : std::vector<Node*>(from.node->control_inputs())) {
    g.add_control(c, to.node);
    g.remove_control(c, from.node);
  }
  drop_unused(body, from.node);
}

Status pass_remap(FunctionBody& body, PassContext& c) {
  // What nobody reads any more must not count as a reader.
  WEFT_RETURN_IF_ERROR(pass_prune(body, c));
  const Region region(*body.graph);
  for (const op::Registry::Fusion& f : body.graph->registry().fusions()) {
    if (!f.into->kernels.empty()) WEFT_RETURN_IF_ERROR(f.rule(body, region));
  }
  return {};
}

}  // namespace weft_engine::graph

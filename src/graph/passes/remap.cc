// Patterns of nodes become fused ops: one kernel instead of several passes over memory.
#include "graph/passes/remap.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace weft_engine::graph {

bool has_kernel(const Graph& g, std::string_view op) {
  const OpSpec* spec = g.registry().find(op);
  return spec && !spec->kernels.empty();
}

Endpoint operand_beside(const Endpoint& e, std::string_view op, double value) {
  if (!e.node || e.node->op() != op || e.node->num_inputs() != 2) return {};
  for (int i : {0, 1}) {
    const Endpoint constant = e.node->input(i);
    auto v = const_splat(constant);
    if (v && const_value(constant)->num_elements() == 1 && std::abs(*v - value) <= 1e-5 * std::abs(value)) return e.node->input(1 - i);
  }
  return {};
}

std::string_view activation_name(const Node& n) {
  static constexpr std::string_view kNames[] = {"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"};
  auto it = std::find(std::begin(kNames), std::end(kNames), n.op());
  return it == std::end(kNames) ? std::string_view() : *it;
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

Result<Ancestry> Ancestry::make(const Graph& g) {
  Ancestry a;
  WEFT_ASSIGN(std::vector<Node*> order, g.topological_order());
  a.place_.assign(size_t(g.num_ids()), -1);
  for (size_t i = 0; i < order.size(); ++i) a.place_[size_t(order[i]->id())] = int(i);
  return a;
}

void Ancestry::set_place(const Node* n, int place) {
  if (size_t(n->id()) >= place_.size()) place_.resize(size_t(n->id()) + 1, -1);
  place_[size_t(n->id())] = place;
}

bool Ancestry::depends(const Node* n, const Node* from) const {
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

bool Ancestry::any_depends(std::initializer_list<Endpoint> inputs, const std::vector<Node*>& from) const {
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

namespace {

// Inner nodes of a pattern have one reader and wait for nothing.
bool inner(const FunctionBody& body, const Endpoint& e) { return only_reader(body, e) && e.node->control_inputs().empty(); }

constexpr double kSqrtHalf = 0.70710678118654752, kSqrtTwo = 1.4142135623730951, kTanhScale = 0.79788456080286535, kCubic = 0.044715;

// erf(x / sqrt 2) in its spellings: x.
Endpoint erf_argument(const FunctionBody& body, const Endpoint& e) {
  if (e.node->op() != "Erf" || !inner(body, e) || !inner(body, e.node->input(0))) return {};
  if (Endpoint x = operand_beside(e.node->input(0), "Mul", kSqrtHalf); x.node) return x;
  const Node* d = e.node->input(0).node;
  if (d->op() != "RealDiv") return {};
  auto v = const_splat(d->input(1));
  return v && std::abs(*v - kSqrtTwo) < 1e-5 ? d->input(0) : Endpoint{};
}

// x + 0.044715 x^3
Endpoint cubic_argument(const FunctionBody& body, const Endpoint& e) {
  if (e.node->op() != "AddV2" || !inner(body, e)) return {};
  for (int i : {0, 1}) {
    const Endpoint x = e.node->input(i), term = e.node->input(1 - i);
    const Endpoint cube = operand_beside(term, "Mul", kCubic);
    if (!cube.node || !inner(body, term) || !inner(body, cube) || cube.node->op() != "Pow") continue;
    if (cube.node->input(0) == x && const_splat(cube.node->input(1)) == 3.0) return x;
  }
  return {};
}

}  // namespace

Endpoint match_gelu(const FunctionBody& body, Node* root, std::string_view& name, int& readers) {
  if (root->op() != "Mul") return {};
  for (int i : {0, 1}) {
    const Endpoint half = root->input(i), rest = root->input(1 - i);
    const Endpoint x = operand_beside(half, "Mul", 0.5);
    if (!x.node || !inner(body, half) || !inner(body, rest)) continue;
    if (rest.node->op() == "Erfc" && inner(body, rest.node->input(0))) {  // 0.5 x erfc(-x / sqrt 2)
      const Endpoint negated = operand_beside(rest.node->input(0), "Mul", kSqrtHalf);
      if (negated.node && negated.node->op() == "Neg" && inner(body, negated) && negated.node->input(0) == x) {
        name = "GeluExact";
        readers = 2;
        return x;
      }
      continue;
    }
    const Endpoint f = operand_beside(rest, "AddV2", 1);
    if (!f.node || !inner(body, f)) continue;
    if (erf_argument(body, f) == x) {
      name = "GeluExact";
      readers = 2;
      return x;
    }
    if (f.node->op() != "Tanh" || !inner(body, f.node->input(0))) continue;
    const Endpoint scaled = operand_beside(f.node->input(0), "Mul", kTanhScale);
    if (scaled.node && cubic_argument(body, scaled) == x) {
      name = "GeluApproximate";
      readers = 3;
      return x;
    }
  }
  return {};
}

Status pass_remap(FunctionBody& body, PassContext& c) {
  // What nobody reads any more must not count as a reader.
  WEFT_RETURN_IF_ERROR(pass_prune(body, c));
  const Region region(*body.graph);
  for (auto part : {remap_adam, remap_sums, remap_transposed, remap_recurrent, remap_recurrent_gradient, remap_layer_norm, remap_attention,
                    remap_attention_gradient, remap_dense, remap_elementwise}) {
    WEFT_RETURN_IF_ERROR(part(body, region));
  }
  return {};
}

}  // namespace weft_engine::graph

// Patterns of nodes become fused ops: one kernel instead of several passes over memory.
#include "graph/passes/remap.h"

#include <algorithm>
#include <cmath>

namespace weft::graph {

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
  std::vector<Node*> todo{n};
  while (!todo.empty()) {
    Node* m = todo.back();
    todo.pop_back();
    if (!m->uses().empty() || !m->control_outputs().empty() || is_control_ret(body, m)) continue;
    if (!is_pure(*m) || !m->control_inputs().empty()) continue;
    std::vector<Node*> inputs;
    for (const Endpoint& e : m->inputs()) {
      if (e.node && std::find(inputs.begin(), inputs.end(), e.node) == inputs.end()) inputs.push_back(e.node);
    }
    body.graph->remove(m);
    todo.insert(todo.end(), inputs.begin(), inputs.end());
  }
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
  WEFT_RETURN_IF_ERROR(remap_dense(body, region));
  return {};
}

}  // namespace weft::graph

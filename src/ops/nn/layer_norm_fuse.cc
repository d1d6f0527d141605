// Layer normalisation, from its dozen nodes:
//   mean = Mean(x), variance = Mean(SquaredDifference(x, mean)), m = Rsqrt(variance + epsilon) * gamma,
//   x * m + (beta - mean * m)
// Gradients read the mean and the root, which the fused op gives out, too.
#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

struct LayerNorm {
  Endpoint x, mean, root, gamma, beta;
  float epsilon = 0;
};

// A node of the pattern that waits for something might wait for another's value, which the fused op gives
// only at its end.
bool waits(const Endpoint& e) { return !e.node->control_inputs().empty(); }

bool is_last_axis_mean(const Endpoint& e, int rank) {
  if (e.node->op() != "Mean" || !e.node->attr<bool>("keep_dims")) return false;
  auto axis = const_int(e.node->input(1));
  return axis && (*axis == -1 || *axis == rank - 1);
}

// m = Rsqrt(Mean(SquaredDifference(x, mean)) + epsilon) * gamma, for the x that is known.
bool match_factor(const Endpoint& m, LayerNorm& p) {
  if (m.node->op() != "Mul") return false;
  const int rank = shape_of(p.x).rank();
  for (int i : {0, 1}) {
    p.root = m.node->input(i);
    p.gamma = m.node->input(1 - i);
    if (p.root.node->op() != "Rsqrt") continue;
    const Endpoint sum = p.root.node->input(0);
    if (sum.node->op() != "AddV2") continue;
    for (int j : {0, 1}) {
      const Endpoint variance = sum.node->input(j), epsilon = sum.node->input(1 - j);
      auto value = const_splat(epsilon);
      if (!value || const_value(epsilon)->num_elements() != 1 || !is_last_axis_mean(variance, rank)) continue;
      const Endpoint square = variance.node->input(0);
      if (square.node->op() != "SquaredDifference") continue;
      for (int k : {0, 1}) {
        p.mean = square.node->input(1 - k);
        if (waits(m) || waits(p.root) || waits(sum) || waits(variance) || waits(square) || waits(p.mean)) return false;
        if (square.node->input(k) == p.x && is_last_axis_mean(p.mean, rank) && p.mean.node->input(0) == p.x) {
          p.epsilon = float(*value);
          return true;
        }
      }
    }
  }
  return false;
}

// e = -mean * m
bool is_negative_product(const Endpoint& e, const Endpoint& mean, const Endpoint& m) {
  if (e.node->op() != "Mul") return false;
  for (int i : {0, 1}) {
    const Endpoint negative = e.node->input(i);
    if (e.node->input(1 - i) == m && negative.node->op() == "Neg" && negative.node->input(0) == mean) return true;
  }
  return false;
}

// e = beta - mean * m
bool match_shift(const Endpoint& e, const Endpoint& m, LayerNorm& p) {
  if (e.node->op() == "AddV2") {
    for (int i : {0, 1}) {
      p.beta = e.node->input(1 - i);
      if (is_negative_product(e.node->input(i), p.mean, m)) return true;
    }
  }
  if (e.node->op() == "Sub" && e.node->input(1).node->op() == "Mul") {
    const Node* product = e.node->input(1).node;
    p.beta = e.node->input(0);
    return (product->input(0) == p.mean && product->input(1) == m) || (product->input(1) == p.mean && product->input(0) == m);
  }
  return false;
}

bool match(Node* root, LayerNorm& p) {
  for (int i : {0, 1}) {
    const Endpoint scaled = root->input(i), shift = root->input(1 - i);
    if (scaled.node->op() != "Mul" || waits(scaled) || waits(shift) || waits({root, 0})) continue;
    for (int j : {0, 1}) {
      p.x = scaled.node->input(j);
      const Endpoint m = scaled.node->input(1 - j);
      const PartialShape& s = shape_of(p.x);
      if (!s.has_rank() || s.rank() < 2 || s.dim(-1) < 1 || !match_factor(m, p) || !match_shift(shift, m, p)) continue;
      return is_row(p.gamma, s.dim(-1)) && is_row(p.beta, s.dim(-1)) && shape_of(p.gamma).rank() <= s.rank() && shape_of(p.beta).rank() <= s.rank();
    }
  }
  return false;
}

Status replace_layer_norm(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  std::vector<int> roots;
  for (Node* n : g.nodes()) {
    if (n->op() == "AddV2" && n->output_type(0) == DType::kFloat && !region.contains(n)) roots.push_back(n->id());
  }
  for (int id : roots) {
    Node* root = g.node(id);
    LayerNorm p;
    if (!root || !match(root, p)) continue;
    WEFT_ASSIGN(Endpoint gamma, as_vector(g, root, p.gamma));
    WEFT_ASSIGN(Endpoint beta, as_vector(g, root, p.beta));
    WEFT_ASSIGN(Node* fused, add_near(g, root, "/layer_norm", "_WeftLayerNorm", {{"epsilon", p.epsilon}}, {p.x, gamma, beta}));
    const int mean = p.mean.node->id(), factor = p.root.node->id();
    replace_root(body, {root, 0}, {fused, 0});
    // The gradient reads these; where it does not, they have been removed by now.
    if (Node* n = g.node(mean)) replace_root(body, {n, 0}, {fused, 1});
    if (Node* n = g.node(factor)) replace_root(body, {n, 0}, {fused, 2});
  }
  return {};
}

}  // namespace

void fuse_layer_norm(Registry& r) { r.fuse("_WeftLayerNorm", FuseStage::kNorms, replace_layer_norm); }

}  // namespace weft_engine::ops

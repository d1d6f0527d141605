// Attention: softmax(scale * q k^T + mask) v, written with Einsum (Keras) or with batched products.
#include <string>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

// "ab,bc->ac" in its three parts; false for anything with an ellipsis or more operands.
bool parse_equation(const std::string& text, std::string& a, std::string& b, std::string& out) {
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow || text.find('.') != std::string::npos ||
      text.find(',', comma + 1) != std::string::npos)
    return false;
  a = text.substr(0, comma);
  b = text.substr(comma + 1, arrow - comma - 1);
  out = text.substr(arrow + 2);
  return a.size() == 4 && b.size() == 4 && out.size() == 4;
}

struct Attention {
  Endpoint query, key, value, mask;
  float scale = 1;
  const char* layout = "BTNH";
  Endpoint probabilities;  // of the Softmax
};

// The scores: [batch, heads, queries, keys].
bool match_scores(const Endpoint& e, Attention& p, std::string& labels) {
  if (e.node->op() == "Einsum" && e.node->num_inputs() == 2) {
    std::string a, b, out;
    if (!parse_equation(e.node->attr<std::string>("equation"), a, b, out)) return false;
    // out is B N T S; one operand has T (the query), the other S, in the order B T N H.
    for (int i : {0, 1}) {
      const std::string &q = i == 0 ? a : b, &k = i == 0 ? b : a;
      if (q[0] == out[0] && q[1] == out[2] && q[2] == out[1] && k[0] == out[0] && k[1] == out[3] && k[2] == out[1] && q[3] == k[3] &&
          out.find(q[3]) == std::string::npos) {
        p.query = e.node->input(i);
        p.key = e.node->input(1 - i);
        p.layout = "BTNH";
        labels = out;
        return true;
      }
    }
    return false;
  }
  if (e.node->op() == "BatchMatMulV2" && !e.node->attr<bool>("adj_x") && e.node->attr<bool>("adj_y")) {
    p.query = e.node->input(0);
    p.key = e.node->input(1);
    p.layout = "BNTH";
    return true;
  }
  return false;
}

bool match_values(const Node& root, const Attention& p, const std::string& labels, const Endpoint& softmax) {
  if (root.op() == "BatchMatMulV2")
    return std::string_view(p.layout) == "BNTH" && !root.attr<bool>("adj_x") && !root.attr<bool>("adj_y") && root.input(0) == softmax;
  std::string a, b, out;
  if (std::string_view(p.layout) != "BTNH" || !parse_equation(root.attr<std::string>("equation"), a, b, out)) return false;
  const int i = root.input(0) == softmax ? 0 : 1;
  const std::string &s = i == 0 ? a : b, &v = i == 0 ? b : a;
  // s is B N T S, v is B S N H and the result B T N H, whatever the letters are.
  if (s.size() != labels.size()) return false;
  return v[0] == s[0] && v[1] == s[3] && v[2] == s[1] && out[0] == s[0] && out[1] == s[2] && out[2] == s[1] && out[3] == v[3] &&
         s.find(v[3]) == std::string::npos;
}

// Inner values that only the next node reads; the scores need not be kept.
bool inner(const FunctionBody& body, const Endpoint& e) { return only_reader(body, e) && e.node->control_inputs().empty(); }

bool match(const FunctionBody& body, Node* root, Attention& p) {
  for (int i : {0, 1}) {
    p = Attention();
    p.probabilities = root->input(i);
    p.value = root->input(1 - i);
    if (p.probabilities.node->op() != "Softmax" || !p.probabilities.node->control_inputs().empty()) continue;
    Endpoint at = p.probabilities.node->input(0);
    if (at.node->op() == "AddV2" && inner(body, at)) {
      // The mask is the operand that is no scaled product.
      for (int j : {0, 1}) {
        const std::string_view op = at.node->input(j).node->op();
        if (op != "Mul" && op != "Einsum" && op != "BatchMatMulV2") continue;
        p.mask = at.node->input(1 - j);
        at = at.node->input(j);
        break;
      }
      if (!p.mask.node) continue;
    }
    if (at.node->op() == "Mul" && inner(body, at)) {
      for (int j : {0, 1}) {
        auto v = const_splat(at.node->input(1 - j));
        if (!v || const_value(at.node->input(1 - j))->num_elements() != 1) continue;
        p.scale = float(*v);
        at = at.node->input(j);
        break;
      }
    }
    std::string labels;
    if (inner(body, at) && match_scores(at, p, labels) && match_values(*root, p, labels, p.probabilities)) return true;
  }
  return false;
}

// The op wants four dimensions, and batches that agree without broadcasting.
bool fits(const Attention& p) {
  const PartialShape &q = shape_of(p.query), &k = shape_of(p.key), &v = shape_of(p.value);
  if (!q.fully_known() || !k.fully_known() || !v.fully_known() || q.rank() != 4 || k.rank() != 4 || v.rank() != 4) return false;
  const int heads = std::string_view(p.layout) == "BNTH" ? 1 : 2, steps = 3 - heads;
  if (q.dim(0) != k.dim(0) || q.dim(0) != v.dim(0) || q.dim(heads) != k.dim(heads) || q.dim(heads) != v.dim(heads)) return false;
  if (q.dim(3) != k.dim(3) || k.dim(steps) != v.dim(steps)) return false;
  if (!p.mask.node) return true;
  const PartialShape scores({q.dim(0), q.dim(heads), q.dim(steps), k.dim(steps)});
  auto b = shapes::broadcast(scores, shape_of(p.mask));
  return shape_of(p.mask).fully_known() && b.ok() && *b == scores;
}

Status replace_attention(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  std::vector<int> roots;
  for (Node* n : g.nodes()) {
    if ((n->op() == "Einsum" || n->op() == "BatchMatMulV2") && n->num_inputs() == 2 && n->output_type(0) == DType::kFloat && !region.contains(n))
      roots.push_back(n->id());
  }
  if (roots.empty()) return {};
  WEFT_ASSIGN(const Reachability reachability, Reachability::make(g));
  for (int id : roots) {
    Node* root = g.node(id);
    Attention p;
    if (!root || !root->control_inputs().empty() || !match(body, root, p) || !fits(p)) continue;
    std::vector<Endpoint> inputs{p.query, p.key, p.value};
    if (p.mask.node) inputs.push_back(p.mask);
    const bool kept =
        p.probabilities.node->uses().size() > 1 || !p.probabilities.node->control_outputs().empty() || is_control_ret(body, p.probabilities.node);
    // The softmax is given out with everything else, so nothing that reads it may lead back to the values.
    if (kept && reachability.depends(p.value.node, p.probabilities.node)) continue;
    AttrMap attrs{{"num_masks", int64_t(p.mask.node != nullptr)}, {"scale", p.scale}, {"layout", p.layout}, {"keep_probabilities", AttrValue(kept)}};
    WEFT_ASSIGN(Node* fused, add_near(g, root, "/attention", "_WeftAttention", std::move(attrs), std::move(inputs)));
    const int softmax = p.probabilities.node->id();
    replace_root(body, {root, 0}, {fused, 0});
    if (Node* n = g.node(softmax)) replace_root(body, {n, 0}, {fused, 1});
  }
  return {};
}

}  // namespace

void fuse_attention(Registry& r) { r.fuse("_WeftAttention", FuseStage::kAttention, replace_attention); }

}  // namespace weft_engine::ops

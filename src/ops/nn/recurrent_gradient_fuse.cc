// One step of an LSTM backwards: from the gradients of its results (dh, dc) to those of the four gates, side by side.
//   t = TanhGrad(tanh_c, dh * o) + dc
//   ConcatV2(SigmoidGrad(i, t * g), SigmoidGrad(f, t * c), TanhGrad(g, t * i), SigmoidGrad(o, dh * tanh_c)); t * f
#include <algorithm>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

struct LstmGradient {
  Endpoint i, f, g, o, tanh_c, c, dh, dc;  // dc may be none
  Node* dc_in = nullptr;                   // t * f, if it is there
  std::vector<Node*> inside;
};

class Matcher {
 public:
  Matcher(const FunctionBody& body, LstmGradient& p) : body_(body), p_(p) {}

  bool match(Node* concat) {
    if (concat->num_inputs() != 5 || !concat->control_inputs().empty()) return false;
    const PartialShape& s = shape_of({concat, 0});
    auto axis = const_int(concat->input(4));
    if (s.rank() != 2 || !s.fully_known() || !axis || (*axis != 1 && *axis != -1)) return false;
    p_.inside = {concat};
    Endpoint from[4];  // gradients of i, f, g, o
    static constexpr std::string_view kOps[] = {"SigmoidGrad", "SigmoidGrad", "TanhGrad", "SigmoidGrad"};
    Endpoint* gates[] = {&p_.i, &p_.f, &p_.g, &p_.o};
    for (int k = 0; k < 4; ++k) {
      const Endpoint e = concat->input(k);
      if (e.node->op() != kOps[k] || !take(e, 1)) return false;
      *gates[k] = e.node->input(0);
      from[k] = e.node->input(1);
      if (from[k].node->op() != "Mul" || !take(from[k], 1)) return false;
    }
    // t is what the gradients of i and g have in common, beside g and i.
    const Endpoint t = other(from[0], p_.g);
    if (!t.node || !(other(from[2], p_.i) == t)) return false;
    p_.c = other(from[1], t);
    if (!p_.c.node || !match_state(t)) return false;
    // dh * tanh_c
    if (!(other(from[3], p_.tanh_c) == p_.dh)) return false;
    size_t readers = 3;
    for (const Use& u : t.node->uses()) {
      if (u.node == from[0].node || u.node == from[1].node || u.node == from[2].node) continue;
      if (u.node->op() != "Mul" || p_.dc_in || !(u.node->input(1 - u.input) == p_.f) || !u.node->control_inputs().empty()) return false;
      p_.dc_in = u.node;
      ++readers;
    }
    if (!take(t, readers)) return false;
    if (p_.dc_in) p_.inside.push_back(p_.dc_in);
    const PartialShape half = PartialShape::matrix(s.dim(0), s.dim(1) / 4);
    for (const Endpoint& e : {p_.i, p_.f, p_.g, p_.o, p_.tanh_c, p_.c, p_.dh}) {
      if (!(shape_of(e) == half)) return false;
    }
    return !p_.dc.node || shape_of(p_.dc) == half;
  }

 private:
  // t = TanhGrad(tanh_c, dh * o), perhaps with dc added.
  bool match_state(const Endpoint& t) {
    if (match_squashed(t)) return true;
    if ((t.node->op() != "AddV2" && t.node->op() != "AddN") || t.node->num_inputs() != 2) return false;
    for (int k : {0, 1}) {
      if (!match_squashed(t.node->input(k)) || !take(t.node->input(k), 1)) continue;
      p_.dc = t.node->input(1 - k);
      return true;
    }
    return false;
  }
  bool match_squashed(const Endpoint& e) {
    if (e.node->op() != "TanhGrad") return false;
    const Endpoint product = e.node->input(1);
    p_.dh = product.node->op() == "Mul" ? other(product, p_.o) : Endpoint{};
    p_.tanh_c = e.node->input(0);
    return p_.dh.node && take(product, 1);
  }
  // The operand of a product beside the given one.
  static Endpoint other(const Endpoint& product, const Endpoint& one) {
    for (int k : {0, 1}) {
      if (product.node->input(k) == one) return product.node->input(1 - k);
    }
    return {};
  }
  // An inner value: the pattern alone reads it, and it waits for nothing.
  bool take(const Endpoint& e, size_t readers) {
    if (e.node->uses().size() != readers || !e.node->control_outputs().empty() || is_control_ret(body_, e.node) || !e.node->control_inputs().empty())
      return false;
    p_.inside.push_back(e.node);
    return true;
  }

  const FunctionBody& body_;
  LstmGradient& p_;
};

Status replace_recurrent_gradient(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  std::vector<int> roots;
  for (Node* n : g.nodes()) {
    if (n->op() == "ConcatV2" && n->num_inputs() == 5 && n->output_type(0) == DType::kFloat && !region.contains(n)) roots.push_back(n->id());
  }
  if (roots.empty()) return {};
  WEFT_ASSIGN(Reachability reachability, Reachability::make(g));
  for (int id : roots) {
    Node* root = g.node(id);
    LstmGradient p;
    if (!root || !Matcher(body, p).match(root)) continue;
    if (reachability.any_depends({p.i, p.f, p.g, p.o, p.tanh_c, p.c, p.dh}, p.inside) || (p.dc.node && reachability.any_depends({p.dc}, p.inside)))
      continue;
    std::vector<Endpoint> inputs{p.i, p.f, p.g, p.o, p.tanh_c, p.c, p.dh};
    if (p.dc.node) inputs.push_back(p.dc);
    WEFT_ASSIGN(Node* fused,
                add_near(g, root, "/lstm_gradient", "_WeftLstmGradient", {{"num_dc", int64_t(p.dc.node != nullptr)}}, std::move(inputs)));
    const int dc_in = p.dc_in ? p.dc_in->id() : -1;
    replace_root(body, {root, 0}, {fused, 0});
    if (Node* n = dc_in >= 0 ? g.node(dc_in) : nullptr) replace_root(body, {n, 0}, {fused, 1});
  }
  return {};
}

}  // namespace

void fuse_recurrent_gradient(Registry& r) { r.fuse("_WeftLstmGradient", FuseStage::kCells, replace_recurrent_gradient); }

}  // namespace weft_engine::ops

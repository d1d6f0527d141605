// Attention backwards, where it was written with batched products, and attention between transposed heads.
//   t = d_out v^T,  ds = (t - Sum(t p)) p,  dq = ds k,  dk = ds^T q,  dv = p^T d_out
#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

bool is_product(const Node* n, bool adj_x, bool adj_y) {
  return n->op() == "BatchMatMulV2" && n->attr<bool>("adj_x") == adj_x && n->attr<bool>("adj_y") == adj_y && n->control_inputs().empty();
}

struct Gradient {
  Endpoint d_out;
  Node *dq = nullptr, *dk = nullptr, *dv = nullptr;
  std::vector<Node*> inside;
};

class Matcher {
 public:
  Matcher(const FunctionBody& body, Node* forward, Gradient& g) : body_(body), forward_(forward), p_{forward, 1}, g_(g) {}

  bool match() {
    Node* t_times_p = nullptr;
    Node* ds = nullptr;
    for (const Use& u : forward_->uses()) {
      if (u.output != 1) continue;
      if (is_product(u.node, true, false) && u.input == 0 && !g_.dv) {
        g_.dv = u.node;
        g_.d_out = u.node->input(1);
      } else if (u.node->op() == "Mul" && u.node->input(1 - u.input).node->op() == "Sub" && !ds) {
        ds = u.node;
      } else if (u.node->op() == "Mul" && !t_times_p) {
        t_times_p = u.node;
      } else {
        return false;
      }
    }
    if (!g_.dv || !ds || !t_times_p) return false;
    // ds = (t - Sum(t p)) p
    const Endpoint difference = other(ds, p_), t = difference.node->input(0), sum = difference.node->input(1);
    if (!(other(t_times_p, p_) == t) || sum.node->op() != "Sum" || !(sum.node->input(0) == Endpoint{t_times_p, 0}) ||
        !sum.node->attr<bool>("keep_dims"))
      return false;
    auto axis = const_int(sum.node->input(1));
    if (!axis || (*axis != -1 && *axis != 3)) return false;
    if (!is_product(t.node, false, true) || !(t.node->input(0) == g_.d_out) || !(t.node->input(1) == forward_->input(2))) return false;
    if (ds->uses().size() != 2) return false;
    for (const Use& u : ds->uses()) {
      if (is_product(u.node, false, false) && u.input == 0 && u.node->input(1) == forward_->input(1)) g_.dq = u.node;
      if (is_product(u.node, true, false) && u.input == 0 && u.node->input(1) == forward_->input(0)) g_.dk = u.node;
    }
    if (!g_.dq || !g_.dk) return false;
    g_.inside = {g_.dq, g_.dk, g_.dv};
    return take(ds, 2) && take(difference.node, 1) && take(sum.node, 1) && take(t_times_p, 1) && take(t.node, 2);
  }

 private:
  static Endpoint other(const Node* product, const Endpoint& one) { return product->input(product->input(0) == one ? 1 : 0); }
  bool take(Node* n, size_t readers) {
    if (n->uses().size() != readers || !n->control_outputs().empty() || !n->control_inputs().empty() || is_control_ret(body_, n)) return false;
    g_.inside.push_back(n);
    return true;
  }

  const FunctionBody& body_;
  Node* forward_;
  const Endpoint p_;
  Gradient& g_;
};

// A Transpose of heads and steps.
bool swaps_heads(const Node* n) { return n->op() == "Transpose" && const_ints(n->input(1)) == std::vector<int64_t>{0, 2, 1, 3}; }

class Attentions {
 public:
  explicit Attentions(FunctionBody& body) : body_(body), g_(*body.graph) {}

  Status fuse(Node* forward, const Reachability& reachability, Node*& backward) {
    Gradient p;
    if (!Matcher(body_, forward, p).match()) return {};
    if (reachability.any_depends({p.d_out, forward->input(0), forward->input(1), forward->input(2)}, p.inside)) return {};
    // A scale would be between ds and the products.
    WEFT_ASSIGN(backward, add_near(g_, p.dq, "/attention_gradient", "_WeftAttentionGradient",
                                   {{"scale", 1.f}, {"layout", forward->attr<std::string>("layout")}},
                                   {forward->input(0), forward->input(1), forward->input(2), {forward, 1}, p.d_out}));
    const int ids[] = {p.dq->id(), p.dk->id(), p.dv->id()};
    for (int i = 0; i < 3; ++i) {
      if (Node* n = g_.node(ids[i])) replace_root(body_, {n, 0}, {backward, i});
    }
    return {};
  }

  // The ops read heads where they are: transposing them before and afterwards is not needed.
  Status unturn(Node* forward, Node* backward) {
    for (int i = 0; i < 3; ++i) {
      if (!swaps_heads(forward->input(i).node)) return {};
    }
    std::vector<int> turns;
    for (Node* n : {forward, backward}) {
      if (!n) continue;
      for (int i : {0, 1, 2, 4}) {
        if (i == 4 && n == forward) continue;
        const Endpoint e = n->input(i);
        if (swaps_heads(e.node)) {
          turns.push_back(e.node->id());
          g_.set_input(n, i, e.node->input(0));
        } else {
          WEFT_ASSIGN(Endpoint t, transpose(n, e));
          g_.set_input(n, i, t);
        }
      }
      g_.set_attr(n, "layout", std::string("BTNH"));
      refresh_shapes(n);
      for (int i = 0; i < (n == forward ? 1 : 3); ++i) WEFT_RETURN_IF_ERROR(unturn_readers({n, i}));
    }
    for (int id : turns) {
      if (Node* t = g_.node(id)) drop_unused(body_, t);
    }
    return {};
  }

 private:
  Result<Endpoint> transpose(Node* near, const Endpoint& e) {
    WEFT_ASSIGN(Endpoint order, add_const_near(g_, near, "/order", Tensor::vector(std::vector<int32_t>{0, 2, 1, 3})));
    WEFT_ASSIGN(Node* t, add_near(g_, near, "/transposed", "Transpose", {}, {e, order}));
    return Endpoint{t, 0};
  }
  // e is the other way round than its readers think.
  Status unturn_readers(const Endpoint& e) {
    std::vector<Use> readers;
    for (const Use& u : e.node->uses()) {
      if (u.output == e.index) readers.push_back(u);
    }
    Endpoint transposed;
    for (const Use& u : readers) {
      if (swaps_heads(u.node) && u.input == 0) {
        replace_root(body_, {u.node, 0}, e);
        continue;
      }
      if (!transposed.node) {
        WEFT_ASSIGN(transposed, transpose(e.node, e));
      }
      g_.set_input(u.node, u.input, transposed);
    }
    return {};
  }

  FunctionBody& body_;
  Graph& g_;
};

Status replace_attention_gradient(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  std::vector<int> roots;
  for (Node* n : g.nodes()) {
    if (n->op() == "_WeftAttention" && !region.contains(n)) roots.push_back(n->id());
  }
  if (roots.empty()) return {};
  WEFT_ASSIGN(const Reachability reachability, Reachability::make(g));
  Attentions all(body);
  for (int id : roots) {
    Node *forward = g.node(id), *backward = nullptr;
    if (!forward || forward->attr<std::string>("layout") != "BNTH") continue;
    if (forward->attr<bool>("keep_probabilities")) WEFT_RETURN_IF_ERROR(all.fuse(forward, reachability, backward));
    WEFT_RETURN_IF_ERROR(all.unturn(forward, backward));
  }
  return {};
}

}  // namespace

void fuse_attention_gradient(Registry& r) { r.fuse("_WeftAttentionGradient", FuseStage::kAttention, replace_attention_gradient); }

}  // namespace weft_engine::ops

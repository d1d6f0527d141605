// The cells of recurrent layers, as Keras writes them in the bodies of its loops, and as layers write them step by step.
#include <array>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

// The nodes between a pattern's inputs and its results. They may be read from outside only where the fused
// op gives the value out, and wait for nothing.
class Pattern {
 public:
  Pattern(const FunctionBody& body) : body_(body) {}
  // The one reader of e that is `op`, among others that may be there.
  Node* reader(const Endpoint& e, std::string_view op) const {
    Node* found = nullptr;
    for (const Use& u : e.node->uses()) {
      if (u.output != e.index || u.node->op() != op) continue;
      if (found) return nullptr;
      found = u.node;
    }
    return found;
  }
  // Only the pattern reads it.
  bool hidden(const Node* n, size_t readers) const {
    return n->uses().size() == readers && n->control_outputs().empty() && !is_control_ret(body_, n) && n->control_inputs().empty();
  }

 private:
  const FunctionBody& body_;
};

bool plain_matmul(const Endpoint& e) { return e.node->op() == "MatMul" && !e.node->attr<bool>("transpose_a") && !e.node->attr<bool>("transpose_b"); }
bool known_matrix(const Endpoint& e) { return shape_of(e).rank() == 2 && shape_of(e).fully_known(); }
bool waits(const Node* n) { return !n->control_inputs().empty(); }

// Output of an elementwise node over two given operands, in either order.
Node* joint(const Endpoint& a, const Endpoint& b, std::string_view op) {
  for (const Use& u : a.node->uses()) {
    if (u.output != a.index || u.node->op() != op || u.node->num_inputs() != 2) continue;
    if (u.node->input(1 - u.input) == b) return u.node;
  }
  return nullptr;
}

class Recurrent {
 public:
  Recurrent(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region), p_(body) {}

  Status run() {
    step_ = has_kernel(g_, "_WeftLstmStep");
    const bool lstm = has_kernel(g_, "_WeftLstmCell"), gru = has_kernel(g_, "_WeftGruCell");
    std::vector<int> ids;
    for (Node* n : g_.nodes()) {
      if (n->op() == "Split" && n->output_type(0) == DType::kFloat && !region_.contains(n)) ids.push_back(n->id());
    }
    if (ids.empty() || (!lstm && !gru)) return {};
    WEFT_ASSIGN(reachability_, Reachability::make(g_));
    for (int id : ids) {
      Node* split = g_.node(id);
      if (!split || const_int(split->input(0)) != 1) continue;
      if (lstm && split->num_outputs() == 4) WEFT_RETURN_IF_ERROR(fuse_lstm(split));
      else if (gru && split->num_outputs() == 3) WEFT_RETURN_IF_ERROR(fuse_gru(split));
    }
    return {};
  }

 private:
  // What the gates come from: x w + h r + bias, or projected + h r.
  struct GateSum {
    Endpoint projected, bias;         // one of them
    Endpoint first, second;           // the products; `second` alone beside projected
    std::vector<Node*> inside;
  };
  bool match_gate_sum(Node* split, GateSum& s) const {
    Node* last = split->input(1).node;
    if (!p_.hidden(last, 1)) return false;
    if (last->op() == "AddV2") {
      for (int i : {0, 1}) {
        s.second = last->input(i), s.projected = last->input(1 - i);
        if (!plain_matmul(s.second) || !p_.hidden(s.second.node, 1) || plain_matmul(s.projected) || shape_of(s.projected).rank() != 2) continue;
        if (!(shape_of(s.projected) == shape_of(s.second))) continue;  // a bias of one row is no input's part
        s.inside = {last, s.second.node};
        return true;
      }
    }
    s.projected = {};
    if (last->op() != "BiasAdd" && last->op() != "AddV2") return false;
    const Endpoint sum = last->input(0);
    s.bias = last->input(1);
    if (sum.node->op() != "AddV2" || !p_.hidden(sum.node, 1)) return false;
    s.first = sum.node->input(0), s.second = sum.node->input(1);
    if (!plain_matmul(s.first) || !plain_matmul(s.second) || !p_.hidden(s.first.node, 1) || !p_.hidden(s.second.node, 1)) return false;
    s.inside = {last, sum.node, s.first.node, s.second.node};
    return true;
  }

  // The gates i, f, g, o; c' = f c + i g; h' = o tanh(c')
  Status fuse_lstm(Node* split) {
    GateSum sum;
    if (!p_.hidden(split, split->uses().size()) || split->uses().size() != 4 || !match_gate_sum(split, sum)) return {};
    static constexpr std::string_view kGates[] = {"Sigmoid", "Sigmoid", "Tanh", "Sigmoid"};
    std::array<Node*, 4> gate;
    for (int i = 0; i < 4; ++i) {
      gate[size_t(i)] = p_.reader({split, i}, kGates[i]);
      if (!gate[size_t(i)] || waits(gate[size_t(i)])) return {};
    }
    auto [in, forget, candidate, out] = gate;
    Node* ig = joint({in, 0}, {candidate, 0}, "Mul");
    if (!ig || waits(ig)) return {};
    Node *fc = nullptr, *c_new = nullptr;
    Endpoint c;
    for (const Use& u : forget->uses()) {
      if (u.node->op() != "Mul" || u.node == ig) continue;
      Node* sum_c = joint({u.node, 0}, {ig, 0}, "AddV2");
      if (!sum_c) continue;
      fc = u.node;
      c_new = sum_c;
      c = u.node->input(1 - u.input);
    }
    if (!fc || waits(fc) || waits(c_new)) return {};
    Node* tanh_c = p_.reader({c_new, 0}, "Tanh");
    Node* h_new = tanh_c && !waits(tanh_c) ? joint({out, 0}, {tanh_c, 0}, "Mul") : nullptr;
    if (!h_new || waits(h_new)) return {};
    // Which of the products has the state? The one whose weights are [cells, 4 cells].
    const PartialShape& cs = shape_of(c);
    if (cs.rank() != 2 || !cs.fully_known()) return {};
    const int64_t cells = cs.dim(1);
    auto is_state = [&](const Endpoint& m) {
      const PartialShape &h = shape_of(m.node->input(0)), &r = shape_of(m.node->input(1));
      return known_matrix(m.node->input(1)) && h.rank() == 2 && h.fully_known() && h.dim(0) == cs.dim(0) && h.dim(1) == cells && r.dim(0) == cells &&
             r.dim(1) == 4 * cells;
    };
    auto is_input = [&](const Endpoint& m) { return known_matrix(m.node->input(1)) && shape_of(m.node->input(1)).dim(1) == 4 * cells; };
    if (!is_state(sum.second) && !sum.projected.node) std::swap(sum.first, sum.second);
    if (!is_state(sum.second)) return {};
    if (!sum.projected.node && (!is_input(sum.first) || !is_row(sum.bias, 4 * cells))) return {};
    std::vector<Node*> results{h_new, c_new, in, forget, candidate, out, tanh_c};
    // Products of gates that the gradient asks for are computed from what the fused op gives out.
    std::vector<Node*> inside = results;
    for (Node* n : {ig, fc, split}) inside.push_back(n);
    inside.insert(inside.end(), sum.inside.begin(), sum.inside.end());
    AttrMap attrs{{"keep_gates", AttrValue(read_outside(inside, {in, forget, candidate, out, tanh_c, ig, fc}))}};
    const Endpoint h = sum.second.node->input(0), r = sum.second.node->input(1);
    if (sum.projected.node) {
      if (!step_ || reachability_.any_depends({sum.projected, h, c, r}, inside)) return {};
      WEFT_ASSIGN(Node* cell, add_near(g_, h_new, "/lstm_step", "_WeftLstmStep", std::move(attrs), {sum.projected, h, c, r}));
      return replace(cell, results);
    }
    const Endpoint x = sum.first.node->input(0), w = sum.first.node->input(1);
    if (reachability_.any_depends({x, h, c, w, r, sum.bias}, inside)) return {};
    WEFT_ASSIGN(Endpoint bias, as_vector(g_, h_new, sum.bias));
    WEFT_ASSIGN(Node* cell, add_near(g_, h_new, "/lstm_cell", "_WeftLstmCell", std::move(attrs), {x, h, c, w, r, bias}));
    return replace(cell, results);
  }

  // a = x w + b0, b = h r + b1; z, s; n = tanh(a_n + s b_n); h' = z h + (1 - z) n
  Status fuse_gru(Node* split) {
    Node* xb = split->input(1).node;
    if (!p_.hidden(split, 3) || (xb->op() != "BiasAdd" && xb->op() != "AddV2") || !p_.hidden(xb, 1)) return {};
    const Endpoint x_product = xb->input(0), b0 = xb->input(1);
    if (!plain_matmul(x_product) || !p_.hidden(x_product.node, 1)) return {};
    Node *az = p_.reader({split, 0}, "AddV2"), *as = p_.reader({split, 1}, "AddV2"), *an = p_.reader({split, 2}, "AddV2");
    if (!az || !as || !an || !p_.hidden(az, 1) || !p_.hidden(as, 1) || !p_.hidden(an, 1)) return {};
    Node *z = p_.reader({az, 0}, "Sigmoid"), *s = p_.reader({as, 0}, "Sigmoid"), *n = p_.reader({an, 0}, "Tanh");
    if (!z || !s || !n || waits(z) || waits(s) || waits(n)) return {};
    auto other = [](Node* add, Node* from) { return add->input(0).node == from ? add->input(1) : add->input(0); };
    const Endpoint bz = other(az, split), bs = other(as, split), sn = other(an, split);
    if (sn.node->op() != "Mul" || waits(sn.node)) return {};
    const Endpoint bn = sn.node->input(0) == Endpoint{s, 0} ? sn.node->input(1) : sn.node->input(0);
    if (!(sn.node->input(0) == Endpoint{s, 0}) && !(sn.node->input(1) == Endpoint{s, 0})) return {};
    // The three parts of h r + b1.
    const Endpoint inner = bz.node->num_inputs() > 0 ? bz.node->input(0) : Endpoint{};
    if (!inner.node || !known_matrix(inner) || !known_matrix(x_product.node->input(1))) return {};
    const int64_t cells = shape_of(inner).dim(1) / 3;
    if (!is_columns(bz, inner, 0, cells) || !is_columns(bs, inner, cells, cells) || !is_columns(bn, inner, 2 * cells, cells)) return {};
    if (inner.node->op() != "AddV2" && inner.node->op() != "BiasAdd") return {};
    Endpoint h_product = inner.node->input(0), b1 = inner.node->input(1);
    if (!plain_matmul(h_product) && inner.node->op() == "AddV2") std::swap(h_product, b1);
    if (!plain_matmul(h_product) || !p_.hidden(h_product.node, 1) || !p_.hidden(inner.node, 3)) return {};
    const Endpoint h = h_product.node->input(0);
    Node* zh = joint({z, 0}, h, "Mul");
    Node* rest = p_.reader({z, 0}, "Sub");
    if (!zh || !rest || const_splat(rest->input(0)) != 1.0 || const_value(rest->input(0))->rank() != 0) return {};
    Node* zn = joint({rest, 0}, {n, 0}, "Mul");
    Node* h_new = zn ? joint({zh, 0}, {zn, 0}, "AddV2") : nullptr;
    if (!h_new || waits(zh) || waits(rest) || waits(zn) || waits(h_new)) return {};
    const PartialShape &hs = shape_of(h), &ws = shape_of(x_product.node->input(1)), &rs = shape_of(h_product.node->input(1));
    if (hs.rank() != 2 || !hs.fully_known() || hs.dim(1) != cells || ws.dim(1) != 3 * cells || rs.rank() != 2 || rs.dim(0) != cells ||
        rs.dim(1) != 3 * cells)
      return {};
    if (!is_row(b0, 3 * cells) || !is_row(b1, 3 * cells) || shape_of(inner).dim(1) != 3 * cells) return {};
    std::vector<Node*> results{h_new, z, s, n, bn.node};
    std::vector<Node*> inside = results;
    for (Node* m : {split, xb, x_product.node, az, as, an, bz.node, bs.node, sn.node, inner.node, h_product.node, zh, rest, zn}) inside.push_back(m);
    const bool keep = read_outside(inside, {z, s, n, bn.node, sn.node, zh, rest, zn});
    if (reachability_.any_depends({x_product.node->input(0), h, x_product.node->input(1), h_product.node->input(1), b0, b1}, inside)) return {};
    WEFT_ASSIGN(Endpoint bias, both_biases(h_new, b0, b1, 3 * cells));
    WEFT_ASSIGN(Node* cell, add_near(g_, h_new, "/gru_cell", "_WeftGruCell", {{"keep_gates", AttrValue(keep)}},
                                     {x_product.node->input(0), h, x_product.node->input(1), h_product.node->input(1), bias}));
    return replace(cell, results);
  }

  // e = x[:, begin : begin + size]
  static bool is_columns(const Endpoint& e, const Endpoint& x, int64_t begin, int64_t size) {
    const Node* n = e.node;
    if (n->op() != "StridedSlice" || !(n->input(0) == x) || waits(n)) return false;
    auto from = const_ints(n->input(1)), to = const_ints(n->input(2)), step = const_ints(n->input(3));
    if (!from || !to || !step || from->size() != 2 || to->size() != 2 || *step != std::vector<int64_t>{1, 1}) return false;
    if (n->attr<int64_t>("ellipsis_mask") || n->attr<int64_t>("new_axis_mask") || n->attr<int64_t>("shrink_axis_mask")) return false;
    const int64_t begin_mask = n->attr<int64_t>("begin_mask"), end_mask = n->attr<int64_t>("end_mask");
    const int64_t rows = shape_of(x).dim(0), columns = shape_of(x).dim(1);
    if (!(begin_mask & 1) && (*from)[0] != 0) return false;
    if (!(end_mask & 1) && (*to)[0] != rows) return false;
    auto place = [&](int64_t v) { return v < 0 ? v + columns : std::min(v, columns); };
    const int64_t first = begin_mask & 2 ? 0 : place((*from)[1]), last = end_mask & 2 ? columns : place((*to)[1]);
    return first == begin && last == begin + size;
  }

  // [2, n]: where both come from one such tensor, that; otherwise they are stacked.
  Result<Endpoint> both_biases(Node* near, const Endpoint& b0, const Endpoint& b1, int64_t n) {
    auto source = [](Endpoint e) {
      while (e.node->op() == "Squeeze" || e.node->op() == "Reshape") e = e.node->input(0);
      return e;
    };
    const Endpoint s0 = source(b0), s1 = source(b1);
    if (s0.node == s1.node && s0.node->op() == "Split" && s0.index == 0 && s1.index == 1 && s0.node->num_outputs() == 2 &&
        const_int(s0.node->input(0)) == 0) {
      const Endpoint whole = s0.node->input(1);
      if (shape_of(whole).rank() == 2 && shape_of(whole).dim(0) == 2 && shape_of(whole).dim(1) == n) return whole;
    }
    WEFT_ASSIGN(Endpoint v0, as_vector(g_, near, b0));
    WEFT_ASSIGN(Endpoint v1, as_vector(g_, near, b1));
    WEFT_ASSIGN(Node* stack, add_near(g_, near, "/biases", "Pack", {{"axis", 0}}, {v0, v1}));
    return Endpoint{stack, 0};
  }

  // Does any of the nodes have a reader that is not of the pattern?
  bool read_outside(const std::vector<Node*>& inside, std::initializer_list<Node*> nodes) const {
    for (Node* n : nodes) {
      for (const Use& u : n->uses()) {
        if (std::find(inside.begin(), inside.end(), u.node) == inside.end()) return true;
      }
      if (!n->control_outputs().empty() || is_control_ret(body_, n)) return true;
    }
    return false;
  }

  Status replace(Node* cell, const std::vector<Node*>& results) {
    std::vector<int> ids;
    for (Node* n : results) ids.push_back(n->id());
    for (size_t i = 0; i < ids.size(); ++i) {
      if (Node* n = g_.node(ids[i])) replace_root(body_, {n, 0}, {cell, int(i)});
    }
    return {};
  }

  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
  const Pattern p_;
  Reachability reachability_;
  bool step_ = false;
};

Status replace_recurrent(FunctionBody& body, const Region& region) { return Recurrent(body, region).run(); }

}  // namespace

void fuse_recurrent(Registry& r) { r.fuse("_WeftLstmCell", FuseStage::kCells, replace_recurrent); }

}  // namespace weft_engine::ops

// Algebra: nodes that change nothing go, and dear ones become cheap ones. Results stay what they are,
// infinities, NaNs and errors included; the last bits of floating numbers may differ where Grappler lets
// them differ, too.
#include <algorithm>
#include <cmath>

#include "graph/passes/util.h"

namespace weft::graph {
namespace {

// Does every value of type `a` survive the way to `b` and back?
bool survives(DType a, DType b) {
  auto bits = [](DType t) -> int {  // of the mantissa of a floating type, or of a signed integer
    switch (t) {
      case DType::kBfloat16: return 8;
      case DType::kHalf: return 11;
      case DType::kFloat: return 24;
      case DType::kDouble: return 53;
      case DType::kInt8: return 7;
      case DType::kUint8: return 8;
      case DType::kInt16: return 15;
      case DType::kUint16: return 16;
      case DType::kInt32: return 31;
      case DType::kUint32: return 32;
      case DType::kInt64: return 63;
      default: return 0;
    }
  };
  if (!bits(a) || !bits(b) || bits(b) < bits(a)) return false;
  const bool float_a = is_floating_type(a), float_b = is_floating_type(b);
  if (float_a) return float_b && !(a == DType::kBfloat16 && b == DType::kHalf);
  if (float_b) return b == DType::kFloat || b == DType::kDouble;
  const bool signed_a = a == DType::kInt8 || a == DType::kInt16 || a == DType::kInt32 || a == DType::kInt64;
  const bool signed_b = b == DType::kInt8 || b == DType::kInt16 || b == DType::kInt32 || b == DType::kInt64;
  return signed_b || !signed_a;
}

bool is_view(const Node& n) { return n.op() == "Reshape" || n.op() == "ExpandDims" || n.op() == "Squeeze"; }

class Arithmetic {
 public:
  Arithmetic(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}

  Status simplify(Node* n) {
    if (!is_pure(*n)) return {};
    if (forwards_inputs(*n)) {
      forward(n);
      return {};
    }
    if (region_.contains(n) || n->num_outputs() != 1) return {};
    using Rule = Result<bool> (Arithmetic::*)(Node*);
    static constexpr struct {
      std::string_view op;
      Rule rule;
    } kRules[] = {
        {"Add", &Arithmetic::neutral},     {"AddN", &Arithmetic::add_n},           {"AddV2", &Arithmetic::neutral},
        {"BatchMatMulV2", &Arithmetic::transposed_operand}, {"BatchMatMulV3", &Arithmetic::transposed_operand},
        {"BatchMatMulV2", &Arithmetic::one_matrix}, {"BatchMatMulV3", &Arithmetic::one_matrix},
        {"Cast", &Arithmetic::cast},       {"Conj", &Arithmetic::conj},            {"Div", &Arithmetic::neutral},
        {"DivNoNan", &Arithmetic::neutral}, {"ExpandDims", &Arithmetic::view},     {"MatMul", &Arithmetic::transposed_operand},
        {"Mul", &Arithmetic::neutral},     {"Mul", &Arithmetic::square},           {"Neg", &Arithmetic::twice},
        {"Pack", &Arithmetic::pack},       {"Pow", &Arithmetic::power},            {"RealDiv", &Arithmetic::neutral},
        {"Reshape", &Arithmetic::view},    {"SelectV2", &Arithmetic::select},      {"Select", &Arithmetic::select},
        {"Squeeze", &Arithmetic::view},    {"Sub", &Arithmetic::neutral},          {"Transpose", &Arithmetic::transpose},
        {"LogicalNot", &Arithmetic::twice},
    };
    for (const auto& [op, rule] : kRules) {
      if (n->op() != op) continue;
      WEFT_ASSIGN(bool gone, (this->*rule)(n));
      if (gone) return {};
    }
    if (broadcasts(*n)) drop_broadcasts(n);
    if (is_elementwise(*n)) return sink_broadcast(n);
    return {};
  }

 private:
  // Rules return true when the node has gone.

  void forward(Node* n) {
    std::vector<Endpoint> values = n->inputs();
    for (Endpoint& v : values) {
      if (!v.node) return;
      // A copy to another device that the user asked for.
      if (!n->device.empty() && !same_device(*n, *v.node)) return;
    }
    bypass(body_, region_, n, values);
  }

  bool same(Node* n, int input) {
    const Endpoint in = n->input(input);
    if (!n->device.empty() && !same_device(*n, *in.node)) return false;
    return type_of(in) == n->output_type(0) && bypass(body_, region_, n, in);
  }
  Status rewrite(Node* n, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs) {
    keep_extra_attrs(*n, attrs);
    WEFT_RETURN_IF_ERROR(g_.rewrite(n, op, std::move(attrs), std::move(inputs)));
    refresh_shapes(n);
    return {};
  }
  // Would an operation of x with the constant give the shape of x?
  bool keeps_shape(const Endpoint& x, const Endpoint& constant) {
    const Tensor* t = const_value(constant);
    if (t->rank() == 0) return true;
    const PartialShape& s = shape_of(x);
    if (!s.fully_known()) return false;
    auto b = shapes::broadcast(s, t->shape());
    return b.ok() && *b == s;
  }

  // x + 0, x - 0, x * 1, x / 1
  Result<bool> neutral(Node* n) {
    const std::string_view op = n->op();
    const bool add = op == "Add" || op == "AddV2", sub = op == "Sub", mul = op == "Mul";
    const double wanted = add || sub ? 0 : 1;
    for (int side : {1, 0}) {
      if (side == 0 && !add && !mul) break;
      const Endpoint constant = n->input(side), x = n->input(1 - side);
      auto v = const_splat(constant);
      if (v && *v == wanted && keeps_shape(x, constant)) return same(n, 1 - side);
    }
    return false;
  }

  Result<bool> square(Node* n) {
    if (!(n->input(0) == n->input(1)) || is_complex_type(n->output_type(0))) return false;
    const DType t = n->output_type(0);
    if (t != DType::kFloat && t != DType::kDouble && t != DType::kInt32 && t != DType::kInt64) return false;
    WEFT_RETURN_IF_ERROR(rewrite(n, "Square", {}, {n->input(0)}));
    return false;
  }

  // Not x^0.5: the root of minus infinity is another thing.
  Result<bool> power(Node* n) {
    auto v = const_splat(n->input(1));
    const DType t = n->output_type(0);
    if (!v || !keeps_shape(n->input(0), n->input(1)) || (t != DType::kFloat && t != DType::kDouble)) return false;
    if (*v == 1) return same(n, 0);
    if (*v == 2) WEFT_RETURN_IF_ERROR(rewrite(n, "Square", {}, {n->input(0)}));
    else if (*v == -1) WEFT_RETURN_IF_ERROR(rewrite(n, "Reciprocal", {}, {n->input(0)}));
    return false;
  }

  // -(-x), not not x
  Result<bool> twice(Node* n) {
    const Node* inner = n->input(0).node;
    if (inner->op() != n->op()) return false;
    const Endpoint x = inner->input(0);
    if (!n->device.empty() && !same_device(*n, *x.node)) return false;
    return bypass(body_, region_, n, x);
  }

  Result<bool> conj(Node* n) {
    if (is_complex_type(n->output_type(0))) return false;
    return same(n, 0);
  }

  Result<bool> cast(Node* n) {
    const DType from = type_of(n->input(0)), to = n->output_type(0);
    if (from == to) return same(n, 0);
    const Node* inner = n->input(0).node;
    if (inner->op() != "Cast") return false;
    const Endpoint x = inner->input(0);
    if (type_of(x) != to || !survives(to, from) || n->attr<bool>("Truncate") || inner->attr<bool>("Truncate")) return false;
    if (!n->device.empty() && !same_device(*n, *x.node)) return false;
    return bypass(body_, region_, n, x);
  }

  Result<bool> add_n(Node* n) {
    const DType t = n->output_type(0);
    if (n->num_inputs() == 1) return t == DType::kVariant ? false : same(n, 0);
    // Unlike AddV2, AddN does not broadcast.
    const PartialShape &a = shape_of(n->input(0)), &b = shape_of(n->input(1));
    if (n->num_inputs() != 2 || !is_simple(t) || !a.fully_known() || !(a == b)) return false;
    WEFT_RETURN_IF_ERROR(rewrite(n, "AddV2", {}, n->inputs()));
    return false;
  }

  Result<bool> pack(Node* n) {
    if (n->num_inputs() != 1) return false;
    WEFT_ASSIGN(Endpoint axis, add_const_near(g_, n, "/axis", Tensor::scalar(int32_t(n->attr<int64_t>("axis")))));
    WEFT_RETURN_IF_ERROR(rewrite(n, "ExpandDims", {}, {n->input(0), axis}));
    return view(n);
  }

  // Where shapes are known, a view of a view is a view of the first tensor.
  Result<bool> view(Node* n) {
    const PartialShape to = shape_of({n, 0});
    Endpoint x = n->input(0);
    if (!to.fully_known() || !shape_of(x).fully_known()) return false;
    bool skipped = false;
    while (is_view(*x.node) && x.node->control_inputs().empty() && shape_of(x.node->input(0)).fully_known() &&
           shape_of(x.node->input(0)).num_elements() == to.num_elements() && same_device(*x.node, *n)) {
      x = x.node->input(0);
      skipped = true;
    }
    if (shape_of(x) == to && (n->device.empty() || same_device(*n, *x.node))) return bypass(body_, region_, n, x);
    if (!skipped) return false;
    WEFT_ASSIGN(Endpoint target, add_const_near(g_, n, "/shape", Tensor::vector(to.dims())));
    WEFT_RETURN_IF_ERROR(rewrite(n, "Reshape", {}, {x, target}));
    n->shapes = {to};
    return false;
  }

  static bool is_permutation(const std::vector<int64_t>& p) {
    std::vector<char> seen(p.size(), 0);
    for (int64_t v : p) {
      if (v < 0 || v >= int64_t(p.size()) || seen[size_t(v)]++) return false;
    }
    return true;
  }

  Result<bool> transpose(Node* n) {
    auto p = const_ints(n->input(1));
    if (!p || !is_permutation(*p) || const_value(n->input(1))->rank() != 1) return false;
    // The rank must fit, or the node has to fail when it runs.
    if (shape_of(n->input(0)).rank() != int(p->size())) return false;
    Node* inner = n->input(0).node;
    if (inner->op() == "Transpose" && same_device(*inner, *n) && inner->control_inputs().empty()) {
      auto q = const_ints(inner->input(1));
      if (q && is_permutation(*q) && q->size() == p->size() && shape_of(inner->input(0)).rank() == int(p->size())) {
        std::vector<int32_t> both;
        for (int64_t i : *p) both.push_back(int32_t((*q)[size_t(i)]));
        WEFT_ASSIGN(Endpoint perm, add_const_near(g_, n, "/perm", Tensor::vector(both)));
        const Endpoint x = inner->input(0);
        WEFT_RETURN_IF_ERROR(rewrite(n, "Transpose", {}, {x, perm}));
        p->assign(both.begin(), both.end());
      }
    }
    if (std::is_sorted(p->begin(), p->end())) return same(n, 0);
    // Only dimensions of one element change their places: the elements stay in order.
    const PartialShape s = shape_of(n->input(0)), to = shape_of({n, 0});
    if (!s.fully_known() || !to.fully_known()) return false;
    int64_t last = -1;
    for (int64_t i : *p) {
      if (s.dim(int(i)) == 1) continue;
      if (i < last) return false;
      last = i;
    }
    WEFT_ASSIGN(Endpoint target, add_const_near(g_, n, "/shape", Tensor::vector(to.dims())));
    WEFT_RETURN_IF_ERROR(rewrite(n, "Reshape", {}, {n->input(0), target}));
    n->shapes = {to};
    return view(n);
  }

  // The matrix product reads its operands either way round.
  Result<bool> transposed_operand(Node* n) {
    static constexpr std::string_view kMatMul[] = {"transpose_a", "transpose_b"}, kBatch[] = {"adj_x", "adj_y"};
    const auto& flags = n->op() == "MatMul" ? kMatMul : kBatch;
    if (is_complex_type(type_of(n->input(0))) || is_complex_type(type_of(n->input(1)))) return false;
    for (int i = 0; i < 2; ++i) {
      const Node* t = n->input(i).node;
      if (t->op() != "Transpose" || !same_device(*t, *n) || !t->control_inputs().empty()) continue;
      auto p = const_ints(t->input(1));
      if (!p || p->size() < 2 || !is_permutation(*p) || shape_of(t->input(0)).rank() != int(p->size())) continue;
      std::swap((*p)[p->size() - 1], (*p)[p->size() - 2]);
      if (!std::is_sorted(p->begin(), p->end())) continue;
      AttrMap attrs = attrs_of(*n);
      attrs.insert_or_assign(std::string(flags[i]), AttrValue(!n->attr<bool>(flags[i])));
      std::vector<Endpoint> inputs = n->inputs();
      inputs[size_t(i)] = t->input(0);
      WEFT_RETURN_IF_ERROR(rewrite(n, n->op(), std::move(attrs), std::move(inputs)));
    }
    return false;
  }

  // A stack of matrices times one matrix: one product of all rows.
  Result<bool> one_matrix(Node* n) {
    const PartialShape x = shape_of(n->input(0)), y = shape_of(n->input(1)), to = shape_of({n, 0});
    const DType t = n->output_type(0);
    if ((t != DType::kFloat && t != DType::kDouble) || type_of(n->input(0)) != t || type_of(n->input(1)) != t) return false;
    if (!x.fully_known() || !y.fully_known() || !to.fully_known() || x.rank() < 3 || y.rank() != 2 || n->attr<bool>("adj_x")) return false;
    const int64_t columns = x.dim(-1);
    if (columns < 1) return false;
    WEFT_ASSIGN(Endpoint rows, add_const_near(g_, n, "/rows", Tensor::vector(std::vector<int64_t>{*x.num_elements() / columns, columns})));
    WEFT_ASSIGN(Node * flat, add_near(g_, n, "/flat", "Reshape", {}, {n->input(0), rows}));
    WEFT_ASSIGN(Node * product, add_near(g_, n, "/MatMul", "MatMul", {{"transpose_b", AttrValue(n->attr<bool>("adj_y"))}}, {{flat, 0}, n->input(1)}));
    for (Node* c : std::vector<Node*>(n->control_inputs())) g_.add_control(c, product);
    WEFT_ASSIGN(Endpoint target, add_const_near(g_, n, "/shape", Tensor::vector(to.dims())));
    WEFT_RETURN_IF_ERROR(rewrite(n, "Reshape", {}, {Endpoint{product, 0}, target}));
    n->shapes = {to};
    WEFT_RETURN_IF_ERROR(view(flat).status());
    return false;
  }

  // A condition that is the same everywhere.
  Result<bool> select(Node* n) {
    const Tensor* cond = const_value(n->input(0));
    if (!cond || cond->dtype() != DType::kBool || cond->num_elements() < 1) return false;
    auto v = cond->span<bool>();
    if (!std::all_of(v.begin(), v.end(), [&](bool b) { return b == v[0]; })) return false;
    const int chosen = v[0] ? 1 : 2;
    const PartialShape &to = shape_of({n, 0}), &x = shape_of(n->input(chosen));
    if (!to.fully_known() || !(to == x) || !shape_of(n->input(3 - chosen)).fully_known()) return false;
    return same(n, chosen);
  }

  // f(broadcast(x)) is broadcast(f(x)), which is less work.
  Status sink_broadcast(Node* n) {
    int at = -1;
    for (int i = 0; i < n->num_inputs(); ++i) {
      const Endpoint e = n->input(i);
      if (e.node->op() == "BroadcastTo" && at < 0) at = i;
      else if (!const_value(e) || const_value(e)->rank() > 0) return {};
    }
    if (at < 0) return {};
    Node* b = n->input(at).node;
    const PartialShape to = shape_of({n, 0});
    if (!to.fully_known() || !(to == shape_of({b, 0})) || !shape_of(b->input(0)).fully_known() || !same_device(*b, *n)) return {};
    if (!b->control_inputs().empty() || !n->control_inputs().empty() || !only_reader(body_, {b, 0})) return {};
    std::vector<Endpoint> inputs = n->inputs();
    inputs[size_t(at)] = b->input(0);
    WEFT_ASSIGN(Node * small, add_near(g_, n, "/small", n->op(), attrs_of(*n), std::move(inputs)));
    const Endpoint shape = b->input(1);
    WEFT_RETURN_IF_ERROR(rewrite(n, "BroadcastTo", {}, {Endpoint{small, 0}, shape}));
    n->shapes = {to};
    return {};
  }

  // An operand that is only made larger for an operation that would do so itself.
  void drop_broadcasts(Node* n) {
    const PartialShape to = shape_of({n, 0});
    if (!to.fully_known()) return;
    for (int i = 0; i < n->num_inputs(); ++i) {
      const Node* b = n->input(i).node;
      if ((b->op() != "BroadcastTo" && b->op() != "Fill") || !shape_of({const_cast<Node*>(b), 0}).fully_known() || !same_device(*b, *n)) continue;
      const Endpoint x = b->input(b->op() == "Fill" ? 1 : 0);
      PartialShape all = shape_of(x);
      if (!all.fully_known() || !b->control_inputs().empty()) continue;
      bool fits = true;
      for (int j = 0; j < n->num_inputs() && fits; ++j) {
        if (j == i) continue;
        auto s = shapes::broadcast(all, shape_of(n->input(j)));
        fits = s.ok();
        if (fits) all = *s;
      }
      if (fits && all == to) g_.set_input(n, i, x);
    }
  }

  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
};

}  // namespace

Status pass_arithmetic(FunctionBody& body, PassContext&) {
  const Region region(*body.graph);
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  Arithmetic arithmetic(body, region);
  for (Node* n : order) WEFT_RETURN_IF_ERROR(arithmetic.simplify(n));
  return {};
}

}  // namespace weft::graph

// Algebra: nodes that change nothing are removed, and expensive ops become cheap ones. What holds for many ops is said by their traits and
// done here; what holds for one is a rule beside it (OpTraits::simplify).
#include <algorithm>

#include "graph/passes/simplify.h"

namespace weft_engine::graph {

bool SimplifyContext::replace(Node* n, Endpoint value) {
  if (!n->device.empty() && !same_device(*n, *value.node)) return false;
  return bypass(body_, region_, n, value);
}

bool SimplifyContext::same(Node* n, int input) { return type_of(n->input(input)) == n->output_type(0) && replace(n, n->input(input)); }

Status SimplifyContext::rewrite(Node* n, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs) {
  keep_extra_attrs(*n, attrs);
  WEFT_RETURN_IF_ERROR(g_.rewrite(n, op, std::move(attrs), std::move(inputs)));
  refresh_shapes(n);
  return {};
}

bool SimplifyContext::keeps_shape(const Endpoint& x, const Endpoint& constant) {
  const Tensor* t = const_value(constant);
  if (t->rank() == 0) return true;
  const PartialShape& s = shape_of(x);
  if (!s.fully_known()) return false;
  auto b = shapes::broadcast(s, t->shape());
  return b.ok() && *b == s;
}

Result<bool> SimplifyContext::reshape_of_reshape(Node* n) {
  const PartialShape to = shape_of({n, 0});
  Endpoint x = n->input(0);
  if (!to.fully_known() || !shape_of(x).fully_known()) return false;
  bool skipped = false;
  while (traits_of(*x.node).reshapes && x.node->control_inputs().empty() && shape_of(x.node->input(0)).fully_known() &&
         shape_of(x.node->input(0)).num_elements() == to.num_elements() && same_device(*x.node, *n)) {
    x = x.node->input(0);
    skipped = true;
  }
  if (shape_of(x) == to && (n->device.empty() || same_device(*n, *x.node))) return bypass(body_, region_, n, x);
  if (skipped) WEFT_RETURN_IF_ERROR(make_reshape(n, x));
  return false;
}

namespace {

class Arithmetic : public SimplifyContext {
 public:
  using SimplifyContext::SimplifyContext;

  Status simplify(Node* n) {
    if (!is_pure(*n)) return {};
    if (forwards_inputs(*n)) {
      forward(n);
      return {};
    }
    if (region_.contains(n) || n->num_outputs() != 1) return {};
    const OpSpec* before = nullptr;
    while (before != &n->spec()) {  // a rule may give the node an op that has rules of its own
      before = &n->spec();
      const OpTraits& t = traits_of(*n);
      WEFT_ASSIGN(bool gone, t.neutral_right >= 0 ? neutral(n)
                             : t.involution       ? twice(n)
                             : t.reshapes         ? reshape_of_reshape(n)
                                                  : Result<bool>(false));
      if (!gone && t.simplify) {
        WEFT_ASSIGN(gone, t.simplify(*this, n));
      }
      if (gone) return {};
    }
    if (traits_of(*n).broadcasts) drop_broadcasts(n);
    if (traits_of(*n).elementwise) return sink_broadcast(n);
    return {};
  }

 private:
  void forward(Node* n) {
    std::vector<Endpoint> values = n->inputs();
    for (Endpoint& v : values) {
      if (!v.node) return;
      // A copy to another device that the user asked for.
      if (!n->device.empty() && !same_device(*n, *v.node)) return;
    }
    bypass(body_, region_, n, values);
  }

  // Those below return true when the node was removed.

  // x + 0, x - 0, x * 1, x / 1
  Result<bool> neutral(Node* n) {
    for (int side : {1, 0}) {
      const int wanted = side == 1 ? traits_of(*n).neutral_right : traits_of(*n).neutral_left;
      if (wanted < 0) continue;
      const Endpoint constant = n->input(side), x = n->input(1 - side);
      auto v = const_splat(constant);
      if (v && *v == wanted && keeps_shape(x, constant)) return same(n, 1 - side);
    }
    return false;
  }

  // -(-x), not not x
  Result<bool> twice(Node* n) {
    const Node* inner = n->input(0).node;
    return &inner->spec() == &n->spec() && replace(n, inner->input(0));
  }

  // f(broadcast(x)) is broadcast(f(x)), which is less work.
  Status sink_broadcast(Node* n) {
    int at = -1;
    for (int i = 0; i < n->num_inputs(); ++i) {
      const Endpoint e = n->input(i);
      if (traits_of(*e.node).repeats == 0 && at < 0) at = i;
      else if (!const_value(e) || const_value(e)->rank() > 0) return {};
    }
    if (at < 0) return {};
    Node* b = n->input(at).node;
    const PartialShape to = shape_of({n, 0});
    if (!to.fully_known() || !(to == shape_of({b, 0})) || !shape_of(b->input(0)).fully_known() || !same_device(*b, *n)) return {};
    if (!b->control_inputs().empty() || !n->control_inputs().empty() || !only_reader(body_, {b, 0})) return {};
    std::vector<Endpoint> inputs = n->inputs();
    inputs[size_t(at)] = b->input(0);
    WEFT_ASSIGN(Node* small, add_near(g_, n, "/small", n->op(), attrs_of(*n), std::move(inputs)));
    const Endpoint shape = b->input(1);
    WEFT_RETURN_IF_ERROR(rewrite(n, b->op(), {}, {Endpoint{small, 0}, shape}));
    n->shapes = {to};
    return {};
  }

  // An operand that is only made larger for an operation that would do so itself.
  void drop_broadcasts(Node* n) {
    const PartialShape to = shape_of({n, 0});
    if (!to.fully_known()) return;
    for (int i = 0; i < n->num_inputs(); ++i) {
      Node* b = n->input(i).node;
      if (traits_of(*b).repeats < 0 || !shape_of({b, 0}).fully_known() || !same_device(*b, *n)) continue;
      const Endpoint x = b->input(traits_of(*b).repeats);
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
};

}  // namespace

Status pass_arithmetic(FunctionBody& body, PassContext&) {
  const Region region(*body.graph);
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  Arithmetic arithmetic(body, region);
  for (Node* n : order) WEFT_RETURN_IF_ERROR(arithmetic.simplify(n));
  return {};
}

}  // namespace weft_engine::graph

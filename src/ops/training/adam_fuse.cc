// Adam's update of one variable, in the dozen nodes of Keras' optimiser:
//   m += (g - m) * rest1;  v += (g^2 - v) * rest2;  variable -= m * rate / (sqrt(v) + epsilon)
// with m and v read again behind their updates.
#include <algorithm>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

struct Adam {
  Endpoint variable, m, v, rate, rest1, rest2, epsilon, gradient;
  std::vector<Node*> inside;
};

bool is_scalar(const Endpoint& e) { return shape_of(e).rank() == 0; }

class AdamMatcher {
 public:
  explicit AdamMatcher(Adam& p) : p_(p) {}

  bool match(Node* last) {
    p_.variable = last->input(0);
    p_.inside = {last};
    const Endpoint quotient = last->input(1);
    if (quotient.node->op() != "RealDiv" || !take(quotient)) return false;
    const Endpoint step = quotient.node->input(0), root = quotient.node->input(1);
    if (step.node->op() != "Mul" || root.node->op() != "AddV2" || !take(step) || !take(root)) return false;
    Node *add_m = nullptr, *add_v = nullptr;
    for (int i : {0, 1}) {
      if (!is_scalar(step.node->input(1 - i)) || !(add_m = update_behind(step.node->input(i), p_.m))) continue;
      p_.rate = step.node->input(1 - i);
      break;
    }
    if (!add_m) return false;
    for (int i : {0, 1}) {
      const Endpoint sqrt = root.node->input(i);
      if (sqrt.node->op() != "Sqrt" || !is_scalar(root.node->input(1 - i)) || !take(sqrt) || !(add_v = update_behind(sqrt.node->input(0), p_.v)))
        continue;
      p_.epsilon = root.node->input(1 - i);
      break;
    }
    if (!add_v || add_m == add_v) return false;
    Endpoint square;
    if (!match_update(add_m, p_.m, p_.gradient, p_.rest1) || !match_update(add_v, p_.v, square, p_.rest2)) return false;
    if (square.node->op() != "Square" || !take(square) || !(square.node->input(0) == p_.gradient)) return false;
    const PartialShape& s = shape_of(p_.gradient);
    return s.fully_known() && type_of(p_.gradient) == last->attr<DType>("dtype");
  }

 private:
  // An inner value: one reader, which is of the pattern. Who waits for it will wait for the whole.
  bool take(const Endpoint& e) {
    if (e.node->uses().size() != 1) return false;
    p_.inside.push_back(e.node);
    return true;
  }
  // value = ReadVariableOp(handle) behind an AssignAddVariableOp of the same handle.
  Node* update_behind(const Endpoint& value, Endpoint& handle) {
    if (value.node->op() != "ReadVariableOp" || !take(value)) return nullptr;
    handle = value.node->input(0);
    for (Node* c : value.node->control_inputs()) {
      if (c->op() != "AssignAddVariableOp" || !(c->input(0) == handle)) continue;
      p_.inside.push_back(c);
      return c;
    }
    return nullptr;
  }
  // handle += (x - handle) * rest
  bool match_update(Node* add, const Endpoint& handle, Endpoint& x, Endpoint& rest) {
    const Endpoint product = add->input(1);
    if (product.node->op() != "Mul" || !take(product)) return false;
    for (int i : {0, 1}) {
      const Endpoint difference = product.node->input(i);
      rest = product.node->input(1 - i);
      if (difference.node->op() != "Sub" || !is_scalar(rest)) continue;
      const Endpoint old = difference.node->input(1);
      x = difference.node->input(0);
      if (old.node->op() != "ReadVariableOp" || !(old.node->input(0) == handle) || !(shape_of(old) == shape_of(x)) || !shape_of(x).fully_known())
        continue;
      return take(difference) && take(old);
    }
    return false;
  }

  Adam& p_;
};

Status replace_adam(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  std::vector<Node*> last;
  for (Node* n : g.nodes()) {
    if (n->op() == "AssignSubVariableOp" && !region.contains(n) && is_floating_type(n->input_type(1))) last.push_back(n);
  }
  if (last.empty()) return {};
  WEFT_ASSIGN(Reachability reachability, Reachability::make(g));
  for (Node* n : last) {
    const DType t = n->input_type(1);
    Adam p;
    if ((t != DType::kFloat && t != DType::kDouble) || !AdamMatcher(p).match(n)) continue;
    auto inside = [&](const Node* m) { return std::find(p.inside.begin(), p.inside.end(), m) != p.inside.end(); };
    std::vector<Node*> before, after;
    bool must_run = false;
    for (Node* m : p.inside) {
      for (Node* c : m->control_inputs()) {
        if (!inside(c)) before.push_back(c);
      }
      for (Node* o : m->control_outputs()) {
        if (!inside(o)) after.push_back(o);
      }
      must_run |= is_control_ret(body, m);
    }
    // All happens at once: nothing that the update waits for may wait for a part of it.
    bool circle = reachability.any_depends({p.variable, p.m, p.v, p.rate, p.rest1, p.rest2, p.epsilon, p.gradient}, p.inside);
    for (Node* b : before) circle |= reachability.any_depends({Endpoint{b, 0}}, p.inside);
    if (circle) continue;
    WEFT_ASSIGN(Node* fused, g.add(g.unique_name(cat(n->name(), "/adam")), "_WeftAdam", {},
                                   {p.variable, p.m, p.v, p.rate, p.rest1, p.rest2, p.epsilon, p.gradient}, before));
    fused->device = n->device;
    fused->assigned_device = n->assigned_device;
    reachability.set_place(fused, reachability.place(n));
    bool in_order = true;
    for (Node* o : after) {
      g.add_control(fused, o);
      in_order &= reachability.place(o) > reachability.place(n);
    }
    std::erase_if(body.control_rets, inside);
    if (must_run) body.control_rets.push_back(fused);
    for (Node* m : p.inside) g.remove(m);
    if (!in_order) {
      WEFT_ASSIGN(reachability, Reachability::make(g));
    }
  }
  return {};
}

}  // namespace

void fuse_adam(Registry& r) { r.fuse("_WeftAdam", FuseStage::kUpdates, replace_adam); }

}  // namespace weft_engine::ops

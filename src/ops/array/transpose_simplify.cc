// Transposes of transposes, and those that leave the elements in their order.
#include "graph/passes/simplify.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

bool is_permutation(const std::vector<int64_t>& p) {
  std::vector<char> seen(p.size(), 0);
  for (int64_t v : p) {
    if (v < 0 || v >= int64_t(p.size()) || seen[size_t(v)]++) return false;
  }
  return true;
}

Result<bool> transpose(SimplifyContext& c, Node* n) {
  auto p = const_ints(n->input(1));
  if (!p || !is_permutation(*p) || const_value(n->input(1))->rank() != 1) return false;
  // The rank must fit, or the node has to fail when it runs.
  if (shape_of(n->input(0)).rank() != int(p->size())) return false;
  Node* inner = n->input(0).node;
  if (inner->op() == n->op() && same_device(*inner, *n) && inner->control_inputs().empty()) {
    auto q = const_ints(inner->input(1));
    if (q && is_permutation(*q) && q->size() == p->size() && shape_of(inner->input(0)).rank() == int(p->size())) {
      std::vector<int32_t> both;
      for (int64_t i : *p) both.push_back(int32_t((*q)[size_t(i)]));
      WEFT_ASSIGN(Endpoint perm, c.constant(n, "/perm", Tensor::vector(both)));
      const Endpoint x = inner->input(0);
      WEFT_RETURN_IF_ERROR(c.rewrite(n, n->op(), {}, {x, perm}));
      p->assign(both.begin(), both.end());
    }
  }
  if (std::is_sorted(p->begin(), p->end())) return c.same(n, 0);
  // Only dimensions of one element change their places: the elements stay in order.
  const PartialShape s = shape_of(n->input(0)), to = shape_of({n, 0});
  if (!s.fully_known() || !to.fully_known()) return false;
  int64_t last = -1;
  for (int64_t i : *p) {
    if (s.dim(int(i)) == 1) continue;
    if (i < last) return false;
    last = i;
  }
  WEFT_RETURN_IF_ERROR(c.make_reshape(n, n->input(0)));
  return c.reshape_of_reshape(n);
}

}  // namespace

void simplify_transpose(Registry& r) { set_simplify(r, "Transpose", transpose); }

}  // namespace weft_engine::ops

// A choice that is the same everywhere.
#include "graph/passes/simplify.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

Result<bool> select(SimplifyContext& c, Node* n) {
  const Tensor* cond = const_value(n->input(0));
  if (!cond || cond->dtype() != DType::kBool || cond->num_elements() < 1) return false;
  auto v = cond->span<bool>();
  if (!std::all_of(v.begin(), v.end(), [&](bool b) { return b == v[0]; })) return false;
  const int chosen = v[0] ? 1 : 2;
  const PartialShape &to = shape_of({n, 0}), &x = shape_of(n->input(chosen));
  if (!to.fully_known() || !(to == x) || !shape_of(n->input(3 - chosen)).fully_known()) return false;
  return c.same(n, chosen);
}

}  // namespace

void simplify_compare(Registry& r) {
  set_simplify(r, "Select", select);
  set_simplify(r, "SelectV2", select);
}

}  // namespace weft_engine::ops

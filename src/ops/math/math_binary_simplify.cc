// Sums of one or two tensors, squares and powers.
#include "graph/passes/simplify.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

Result<bool> add_n(SimplifyContext& c, Node* n) {
  const DType t = n->output_type(0);
  if (n->num_inputs() == 1) return t == DType::kVariant ? false : c.same(n, 0);
  // Unlike AddV2, AddN does not broadcast.
  const PartialShape &a = shape_of(n->input(0)), &b = shape_of(n->input(1));
  if (n->num_inputs() != 2 || !is_simple(t) || !a.fully_known() || !(a == b)) return false;
  WEFT_RETURN_IF_ERROR(c.rewrite(n, "AddV2", {}, n->inputs()));
  return false;
}

Result<bool> mul(SimplifyContext& c, Node* n) {
  if (!(n->input(0) == n->input(1)) || is_complex_type(n->output_type(0))) return false;
  const DType t = n->output_type(0);
  if (t != DType::kFloat && t != DType::kDouble && t != DType::kInt32 && t != DType::kInt64) return false;
  WEFT_RETURN_IF_ERROR(c.rewrite(n, "Square", {}, {n->input(0)}));
  return false;
}

// Not x^0.5: the root of minus infinity is another thing.
Result<bool> power(SimplifyContext& c, Node* n) {
  auto v = const_splat(n->input(1));
  const DType t = n->output_type(0);
  if (!v || !c.keeps_shape(n->input(0), n->input(1)) || (t != DType::kFloat && t != DType::kDouble)) return false;
  if (*v == 1) return c.same(n, 0);
  if (*v == 2) WEFT_RETURN_IF_ERROR(c.rewrite(n, "Square", {}, {n->input(0)}));
  else if (*v == -1) WEFT_RETURN_IF_ERROR(c.rewrite(n, "Reciprocal", {}, {n->input(0)}));
  return false;
}

}  // namespace

void simplify_math_binary(Registry& r) {
  set_simplify(r, "AddN", add_n);
  set_simplify(r, "Mul", mul);
  set_simplify(r, "Pow", power);
}

}  // namespace weft_engine::ops

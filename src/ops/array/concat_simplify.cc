// One tensor stacked is that tensor with one more dimension.
#include "graph/passes/simplify.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

Result<bool> pack(SimplifyContext& c, Node* n) {
  if (n->num_inputs() != 1) return false;
  WEFT_ASSIGN(Endpoint axis, c.constant(n, "/axis", Tensor::scalar(int32_t(n->attr<int64_t>("axis")))));
  WEFT_RETURN_IF_ERROR(c.rewrite(n, "ExpandDims", {}, {n->input(0), axis}));
  return c.reshape_of_reshape(n);
}

}  // namespace

void simplify_concat(Registry& r) { set_simplify(r, "Pack", pack); }

}  // namespace weft_engine::ops

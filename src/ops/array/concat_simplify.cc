// One tensor stacked is that tensor with one more dimension; shapes that are put together.
#include "graph/constant_values.h"
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

bool pack_shape(const PartialValues& v, PartialShape& out) {
  if (!PartialValues::may_be_size(v.node.output_type(0)) || v.rank() != 1) return false;
  out = PartialShape::scalar();
  for (int i = 0; i < v.node.num_inputs(); ++i) {
    const auto dim = v.integer(i);
    out.add_dim(dim && *dim >= 0 ? *dim : kUnknownDim);
  }
  return true;
}

// Inputs first to last, without the axis.
bool join_shapes(const PartialValues& v, int first, int last, PartialShape& out) {
  if (!PartialValues::may_be_size(v.node.output_type(0))) return false;
  out = PartialShape::scalar();
  for (int i = first; i < last && out.has_rank() && out.rank() <= kMaxRank; ++i) out = out.concat(v.as_shape(i));
  return true;
}
bool concat_shape(const PartialValues& v, PartialShape& out) { return join_shapes(v, 1, v.node.num_inputs(), out); }
bool concat_v2_shape(const PartialValues& v, PartialShape& out) { return join_shapes(v, 0, v.node.num_inputs() - 1, out); }

}  // namespace

void simplify_concat(Registry& r) {
  set_simplify(r, "Pack", pack);
  set_shape_value(r, "Pack", pack_shape);
  set_shape_value(r, "Concat", concat_shape);
  set_shape_value(r, "ConcatV2", concat_v2_shape);
}

}  // namespace weft_engine::ops

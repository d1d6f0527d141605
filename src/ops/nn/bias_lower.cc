#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

int channel_axis(LowerContext& l) { return l.node.find_attr("data_format") && l.attr<std::string>("data_format") == "NCHW" ? 1 : l.rank() - 1; }

LoweredList bias_add(LowerContext& l) {
  const V x = l.x(0), bias = l.x(1);
  if (!x || !bias) return {};
  if (x->rank() < 2) return l.fail(invalid_argument("Input tensor must be at least 2D: ", x->type.to_string()));
  if (bias->rank() != 1) return l.fail(invalid_argument("Biases must be 1D: ", bias->type.to_string()));
  const int axis = channel_axis(l);
  l.b.same(x->dim(axis), bias->dim(0));
  return {l.b.add(x, l.b.broadcast_in_dim(bias, x->type.dims, {axis}))};
}

LoweredList bias_add_grad(LowerContext& l) {
  if (l.rank() < 2 && l.ok()) return l.fail(invalid_argument("Input tensor must be at least 2D: ", l.type().to_string()));
  return {l.b.convert(l.b.sum(widened(l, l.x()), axes_but(l.rank(), channel_axis(l))), l.type().dtype)};
}

}  // namespace

void lower_bias(Registry& r) {
  r.lower("BiasAdd", bias_add);
  r.lower("BiasAddGrad", bias_add_grad);
  r.lower("BiasAddV1", bias_add);
}

}  // namespace weft_engine::ops

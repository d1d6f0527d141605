// Activations and their gradients.
#include "op/lower.h"
#include "op/registry.h"
#include "ops/lower_families.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using C = ir::Compare;
using V = ir::Value;

constexpr double kSeluScale = 1.0507009873554804934, kSeluScaleAlpha = 1.7580993408473768599;

V against(LowerContext& l, C c, V x, double number) { return x ? l.b.compare(c, x, l.b.scalar(x->type.dtype, number)) : nullptr; }

LoweredList relu(LowerContext& l) { return {l.b.max(l.x(), 0.0)}; }
LoweredList relu6(LowerContext& l) { return {l.b.min(l.b.max(l.x(), 0.0), 6.0)}; }

// exp(x) - 1, as TensorFlow has it, and not expm1.
LoweredList elu(LowerContext& l) { return {l.b.select(against(l, C::kLt, l.x(), 0), l.b.sub(l.b.exp(l.x()), 1.0), l.x())}; }
LoweredList selu(LowerContext& l) {
  return {l.b.select(against(l, C::kLt, l.x(), 0), l.b.mul(l.b.sub(l.b.exp(l.x()), 1.0), kSeluScaleAlpha), l.b.mul(l.x(), kSeluScale))};
}
LoweredList leaky_relu(LowerContext& l) { return {l.b.select(against(l, C::kGt, l.x(), 0), l.x(), l.b.mul(l.x(), double(l.attr<float>("alpha"))))}; }

V absolute(LowerContext& l, V x) { return l.b.unary(ir::Unary::kAbs, x); }

LoweredList softplus(LowerContext& l) {
  const V rest = l.b.unary(ir::Unary::kLog1p, l.b.exp(l.b.neg(absolute(l, l.x()))));
  return {l.b.add(l.b.max(l.x(), 0.0), rest)};
}
LoweredList softsign(LowerContext& l) { return {l.b.div(l.x(), l.b.add(absolute(l, l.x()), 1.0))}; }

// ---- gradients: (gradients, features), but for Elu and Selu (gradients, outputs), Sigmoid and Tanh (y, dy)

// A masked gradient is multiplied by 0, not replaced: a NaN that comes in must come out.
V masked(LowerContext& l, V gradient, V where) { return gradient ? l.b.mul(gradient, l.b.convert(where, gradient->type.dtype)) : nullptr; }

LoweredList relu_grad(LowerContext& l) { return {masked(l, l.x(0), against(l, C::kGt, l.x(1), 0))}; }
LoweredList relu6_grad(LowerContext& l) {
  const V inside = l.b.binary(ir::Binary::kAnd, against(l, C::kGt, l.x(1), 0), against(l, C::kLt, l.x(1), 6));
  return {masked(l, l.x(0), inside)};
}
LoweredList leaky_relu_grad(LowerContext& l) { return {l.b.select(against(l, C::kGt, l.x(1), 0), l.x(0), l.b.mul(l.x(0), double(l.attr<float>("alpha"))))}; }
LoweredList elu_grad(LowerContext& l) { return {l.b.select(against(l, C::kLt, l.x(1), 0), l.b.mul(l.b.add(l.x(1), 1.0), l.x(0)), l.x(0))}; }
LoweredList selu_grad(LowerContext& l) {
  return {l.b.select(against(l, C::kLt, l.x(1), 0), l.b.mul(l.b.add(l.x(1), kSeluScaleAlpha), l.x(0)), l.b.mul(l.x(0), kSeluScale))};
}
LoweredList softplus_grad(LowerContext& l) { return {l.b.div(l.x(0), l.b.add(l.b.exp(l.b.neg(l.x(1))), 1.0))}; }
LoweredList softsign_grad(LowerContext& l) { return {l.b.div(l.x(0), l.b.square(l.b.add(absolute(l, l.x(1)), 1.0)))}; }

V one_minus(LowerContext& l, V x) { return x ? l.b.sub(l.b.scalar(x->type.dtype, 1), x) : nullptr; }
LoweredList sigmoid_grad(LowerContext& l) { return {l.b.mul(l.b.mul(l.x(1), l.x(0)), one_minus(l, l.x(0)))}; }
LoweredList tanh_grad(LowerContext& l) { return {l.b.mul(l.x(1), one_minus(l, l.b.square(l.x(0))))}; }

}  // namespace

void lower_nn_act(Registry& r) {
  r.lower("Elu", elu);
  r.lower("EluGrad", elu_grad);
  r.lower("LeakyRelu", leaky_relu);
  r.lower("LeakyReluGrad", leaky_relu_grad);
  r.lower("Relu", relu);
  r.lower("Relu6", relu6);
  r.lower("Relu6Grad", relu6_grad);
  r.lower("ReluGrad", relu_grad);
  r.lower("Selu", selu);
  r.lower("SeluGrad", selu_grad);
  r.lower("SigmoidGrad", sigmoid_grad);
  r.lower("Softplus", softplus);
  r.lower("SoftplusGrad", softplus_grad);
  r.lower("Softsign", softsign);
  r.lower("SoftsignGrad", softsign_grad);
  r.lower("TanhGrad", tanh_grad);
}

}  // namespace weft::ops

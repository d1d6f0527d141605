// Activations and their gradients.
#include "kernels/cpu/activation.h"
#include "op/api_traits.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/lower.h"
#include "ops/all.h"
#include "ops/math/elementwise.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// alpha may be any number, so this is not max(x, alpha x).
struct LeakyRelu {
  static Result<LeakyRelu> make(const NodeInfo& node) { return LeakyRelu{node.attr<float>("alpha")}; }
  Status run(KernelContext& c) const {
    const Tensor& x = c.input(0);
    WEFT_ASSIGN(Tensor* y, c.allocate_or_reuse(0, x.shape(), 0));
    const int64_t size = int64_t(dtype_size(x.dtype()));
    const char* px = static_cast<const char*>(x.raw());
    char* py = static_cast<char*>(y->raw());
    for_parts(c, x.num_elements(), 0.5,
              [&](int64_t begin, int64_t end) { kernels::leaky_relu(x.dtype(), px + begin * size, py + begin * size, end - begin, alpha); });
    return {};
  }
  float alpha;
};

struct LeakyReluGrad {
  static Result<LeakyReluGrad> make(const NodeInfo& node) { return LeakyReluGrad{node.attr<float>("alpha")}; }
  Status run(KernelContext& c) const {
    const Tensor& g = c.input(0);
    const Tensor& x = c.input(1);
    if (g.shape() != x.shape()) return not_same_shape(c, 0, 1);
    WEFT_ASSIGN(Tensor* y, c.allocate_or_reuse(0, x.shape(), 0, 1));
    const int64_t size = int64_t(dtype_size(x.dtype()));
    const char* pg = static_cast<const char*>(g.raw());
    const char* px = static_cast<const char*>(x.raw());
    char* py = static_cast<char*>(y->raw());
    for_parts(c, x.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      kernels::leaky_relu_grad(x.dtype(), pg + begin * size, px + begin * size, py + begin * size, end - begin, alpha);
    });
    return {};
  }
  float alpha;
};

// ---- gradients -----------------------------------------------------------------------------------------

Value leaky(const GradContext& g, const Value& dy, const Value& x) { return g.one("LeakyReluGrad", {dy, x}, {{"alpha", g.attr<float>("alpha")}}); }

// Of dy where y >= 0, dy * (y + 1) elsewhere.
Grads elu_grad_grad(const GradContext& g) {
  const Value y = g.x(1), negative = binary("Less", y, zeros_like(y));
  return {binary("EluGrad", g.dy(), y), where(negative, g.dy() * g.x(0), zeros_like(y))};
}

// Of dy * scale where y >= 0, dy * (y + scale * alpha) elsewhere.
Grads selu_grad_grad(const GradContext& g) {
  const Value y = g.x(1), negative = binary("Less", y, zeros_like(y));
  return {binary("SeluGrad", g.dy(), y), where(negative, g.dy() * g.x(0), zeros_like(y))};
}

// Of dy * y * (1 - y), in y and in dy.
Grads sigmoid_grad_grad(const GradContext& g) {
  const Value y = conj(g.x(0)), dy = conj(g.x(1)), part = g.dy() * dy;
  return {part - 2 * part * y, binary("SigmoidGrad", y, g.dy())};
}

// Of dy * (1 - y^2).
Grads tanh_grad_grad(const GradContext& g) {
  const Value y = conj(g.x(0)), dy = conj(g.x(1));
  return {g.dy() * -2.0 * dy * y, binary("TanhGrad", y, g.dy())};
}

// Of dy * sigmoid(x).
Grads softplus_grad_grad(const GradContext& g) {
  const Value dy = g.x(0), x = g.x(1);
  return {binary("SoftplusGrad", g.dy(), x), g.dy() * dy / (unary("Exp", -x) + 2 + unary("Exp", x))};
}

// ---- lowering ------------------------------------------------------------------------------------------

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

// (gradients, features), but for Elu and Selu (gradients, outputs), Sigmoid and Tanh (y, dy).

// A masked gradient is multiplied by 0, not replaced: a NaN that comes in must come out.
V masked(LowerContext& l, V gradient, V where) { return gradient ? l.b.mul(gradient, l.b.convert(where, gradient->type.dtype)) : nullptr; }

LoweredList relu_grad(LowerContext& l) { return {masked(l, l.x(0), against(l, C::kGt, l.x(1), 0))}; }
LoweredList relu6_grad(LowerContext& l) {
  const V inside = l.b.binary(ir::Binary::kAnd, against(l, C::kGt, l.x(1), 0), against(l, C::kLt, l.x(1), 6));
  return {masked(l, l.x(0), inside)};
}
LoweredList leaky_relu_grad(LowerContext& l) {
  return {l.b.select(against(l, C::kGt, l.x(1), 0), l.x(0), l.b.mul(l.x(0), double(l.attr<float>("alpha"))))};
}
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

void nn_act(Registry& r) {
  r.add("Elu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("x where x is positive, exp(x) - 1 elsewhere.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("EluGrad", g.dy(), g.y())}; })
      .traits(elementwise(Unary::kElu, {.activation = true}))
      .kernel("CPU", unary(Unary::kElu), {types<WEFT_FLOATS>("T")});
  r.lower("Elu", elu);

  r.add("EluGrad")
      .in("gradients: T")
      .in("outputs: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Elu from its result.")
      .shape(shapes::merge_all)
      .grad(elu_grad_grad)
      .traits(elementwise(Binary::kEluGrad))
      .kernel("CPU", same_shape(Binary::kEluGrad), {types<WEFT_FLOATS>("T")});
  r.lower("EluGrad", elu_grad);

  r.add("LeakyRelu")
      .in("features: T")
      .out("activations: T")
      .attr("alpha: float = 0.2")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .doc("x where x is positive, alpha x elsewhere.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {leaky(g, g.dy(), g.x())}; })
      .traits({.elementwise = true, .activation = true})
      .cpu<LeakyRelu>();
  r.lower("LeakyRelu", leaky_relu);

  r.add("LeakyReluGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("alpha: float = 0.2")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .doc("The gradient of LeakyRelu from its input.")
      .shape(shapes::merge_all)
      .grad([](const GradContext& g) -> Grads { return {leaky(g, g.dy(), g.x(1)), zeros_like(g.x(1))}; })
      .traits({.elementwise = true})
      .cpu<LeakyReluGrad>();
  r.lower("LeakyReluGrad", leaky_relu_grad);

  r.add("Relu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8}")
      .doc("The larger of x and 0.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("ReluGrad", g.dy(), g.y())}; })
      .traits(elementwise(Unary::kRelu, {.activation = true}))
      .kernel("CPU", unary(Unary::kRelu), {types<WEFT_REALS>("T")});
  r.lower("Relu", relu);

  r.add("Relu6")
      .in("features: T")
      .out("activations: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("x limited to [0, 6].")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("Relu6Grad", g.dy(), g.y())}; })
      .traits(elementwise(Unary::kRelu6, {.activation = true}))
      .kernel("CPU", unary(Unary::kRelu6), {types<WEFT_REALS>("T")});
  r.lower("Relu6", relu6);

  r.add("Relu6Grad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("The gradient of Relu6 from its input (or result).")
      .shape(shapes::merge_all)
      .grad([](const GradContext& g) -> Grads { return {binary("Relu6Grad", g.dy(), g.x(1)), zeros_like(g.x(1))}; })
      .traits(elementwise(Binary::kRelu6Grad))
      .kernel("CPU", same_shape(Binary::kRelu6Grad), {types<WEFT_REALS>("T")});
  r.lower("Relu6Grad", relu6_grad);

  r.add("ReluGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("The gradient of Relu from its input (or result).")
      .shape(shapes::merge_all)
      .grad([](const GradContext& g) -> Grads { return {binary("ReluGrad", g.dy(), g.x(1)), zeros_like(g.x(1))}; })
      .traits(elementwise(Binary::kReluGrad))
      .kernel("CPU", same_shape(Binary::kReluGrad), {types<WEFT_REALS>("T")});
  r.lower("ReluGrad", relu_grad);

  r.add("Selu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The self-normalising activation: Elu with a scale for each side.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SeluGrad", g.dy(), g.y())}; })
      .traits(elementwise(Unary::kSelu))
      .kernel("CPU", unary(Unary::kSelu), {types<WEFT_FLOATS>("T")});
  r.lower("Selu", selu);

  r.add("SeluGrad")
      .in("gradients: T")
      .in("outputs: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Selu from its result.")
      .shape(shapes::merge_all)
      .grad(selu_grad_grad)
      .traits(elementwise(Binary::kSeluGrad))
      .kernel("CPU", same_shape(Binary::kSeluGrad), {types<WEFT_FLOATS>("T")});
  r.lower("SeluGrad", selu_grad);

  r.add("Sigmoid")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("1 / (1 + exp(-x)).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SigmoidGrad", conj(g.y()), g.dy())}; })
      .traits(elementwise(Unary::kSigmoid, {.activation = true}))
      .kernel("CPU", unary(Unary::kSigmoid), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("SigmoidGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of Sigmoid from its result y: dy y (1 - y).")
      .shape(shapes::unchanged)
      .grad(sigmoid_grad_grad)
      .traits(elementwise(Binary::kSigmoidGrad))
      .kernel("CPU", same_count(Binary::kSigmoidGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});
  r.lower("SigmoidGrad", sigmoid_grad);

  r.add("Softplus")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("log(1 + exp(x)).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SoftplusGrad", g.dy(), g.x())}; })
      .traits(elementwise(Unary::kSoftplus))
      .kernel("CPU", unary(Unary::kSoftplus), {types<WEFT_FLOATS>("T")});
  r.lower("Softplus", softplus);

  r.add("SoftplusGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Softplus from its input.")
      .shape(shapes::merge_all)
      .grad(softplus_grad_grad)
      .traits(elementwise(Binary::kSoftplusGrad))
      .kernel("CPU", same_shape(Binary::kSoftplusGrad), {types<WEFT_FLOATS>("T")});
  r.lower("SoftplusGrad", softplus_grad);

  r.add("Softsign")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("x / (1 + |x|).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SoftsignGrad", g.dy(), g.x())}; })
      .traits(elementwise(Unary::kSoftsign))
      .kernel("CPU", unary(Unary::kSoftsign), {types<WEFT_FLOATS>("T")});
  r.lower("Softsign", softsign);

  r.add("SoftsignGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Softsign from its input.")
      .shape(shapes::merge_all)
      .traits(elementwise(Binary::kSoftsignGrad))
      .kernel("CPU", same_shape(Binary::kSoftsignGrad), {types<WEFT_FLOATS>("T")});
  r.lower("SoftsignGrad", softsign_grad);

  r.add("Tanh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The hyperbolic tangent.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("TanhGrad", conj(g.y()), g.dy())}; })
      .traits(elementwise(Unary::kTanh, {.activation = true}))
      .kernel("CPU", unary(Unary::kTanh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("TanhGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of Tanh from its result y: dy (1 - y y).")
      .shape(shapes::unchanged)
      .grad(tanh_grad_grad)
      .traits(elementwise(Binary::kTanhGrad))
      .kernel("CPU", same_count(Binary::kTanhGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});
  r.lower("TanhGrad", tanh_grad);

  set_api_trait(r, {"Tanh"}, ApiTrait::kOnSparseValues);
}

}  // namespace weft_engine::ops

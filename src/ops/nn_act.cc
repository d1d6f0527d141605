#include "kernels/cpu/activation.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/elementwise.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

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
    for_parts(c, x.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      kernels::leaky_relu(x.dtype(), px + begin * size, py + begin * size, end - begin, alpha);
    });
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

}  // namespace

void nn_act(Registry& r) {
  r.add("Elu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("x where x is positive, exp(x) - 1 elsewhere.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("EluGrad", g.dy(), g.y())}; })
      .kernel("CPU", unary(Unary::kElu), {types<WEFT_FLOATS>("T")});

  r.add("EluGrad")
      .in("gradients: T")
      .in("outputs: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Elu from its result.")
      .shape(shapes::merge_all)
      .grad(elu_grad_grad)
      .kernel("CPU", same_shape(Binary::kEluGrad), {types<WEFT_FLOATS>("T")});

  r.add("LeakyRelu")
      .in("features: T")
      .out("activations: T")
      .attr("alpha: float = 0.2")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .doc("x where x is positive, alpha x elsewhere.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {leaky(g, g.dy(), g.x())}; })
      .cpu<LeakyRelu>();

  r.add("LeakyReluGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("alpha: float = 0.2")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .doc("The gradient of LeakyRelu from its input.")
      .shape(shapes::merge_all)
      .grad([](const GradContext& g) -> Grads { return {leaky(g, g.dy(), g.x(1)), zeros_like(g.x(1))}; })
      .cpu<LeakyReluGrad>();

  r.add("Relu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8}")
      .doc("The larger of x and 0.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("ReluGrad", g.dy(), g.y())}; })
      .kernel("CPU", unary(Unary::kRelu), {types<WEFT_REALS>("T")});

  r.add("Relu6")
      .in("features: T")
      .out("activations: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("x limited to [0, 6].")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("Relu6Grad", g.dy(), g.y())}; })
      .kernel("CPU", unary(Unary::kRelu6), {types<WEFT_REALS>("T")});

  r.add("Relu6Grad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("The gradient of Relu6 from its input (or result).")
      .shape(shapes::merge_all)
      .grad([](const GradContext& g) -> Grads { return {binary("Relu6Grad", g.dy(), g.x(1)), zeros_like(g.x(1))}; })
      .kernel("CPU", same_shape(Binary::kRelu6Grad), {types<WEFT_REALS>("T")});

  r.add("ReluGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("The gradient of Relu from its input (or result).")
      .shape(shapes::merge_all)
      .grad([](const GradContext& g) -> Grads { return {binary("ReluGrad", g.dy(), g.x(1)), zeros_like(g.x(1))}; })
      .kernel("CPU", same_shape(Binary::kReluGrad), {types<WEFT_REALS>("T")});

  r.add("Selu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The self-normalising activation: Elu with a scale for each side.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SeluGrad", g.dy(), g.y())}; })
      .kernel("CPU", unary(Unary::kSelu), {types<WEFT_FLOATS>("T")});

  r.add("SeluGrad")
      .in("gradients: T")
      .in("outputs: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Selu from its result.")
      .shape(shapes::merge_all)
      .grad(selu_grad_grad)
      .kernel("CPU", same_shape(Binary::kSeluGrad), {types<WEFT_FLOATS>("T")});

  r.add("Sigmoid")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("1 / (1 + exp(-x)).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SigmoidGrad", conj(g.y()), g.dy())}; })
      .kernel("CPU", unary(Unary::kSigmoid), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("SigmoidGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of Sigmoid from its result y: dy y (1 - y).")
      .shape(shapes::unchanged)
      .grad(sigmoid_grad_grad)
      .kernel("CPU", same_count(Binary::kSigmoidGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Softplus")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("log(1 + exp(x)).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SoftplusGrad", g.dy(), g.x())}; })
      .kernel("CPU", unary(Unary::kSoftplus), {types<WEFT_FLOATS>("T")});

  r.add("SoftplusGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Softplus from its input.")
      .shape(shapes::merge_all)
      .grad(softplus_grad_grad)
      .kernel("CPU", same_shape(Binary::kSoftplusGrad), {types<WEFT_FLOATS>("T")});

  r.add("Softsign")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("x / (1 + |x|).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SoftsignGrad", g.dy(), g.x())}; })
      .kernel("CPU", unary(Unary::kSoftsign), {types<WEFT_FLOATS>("T")});

  r.add("SoftsignGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The gradient of Softsign from its input.")
      .shape(shapes::merge_all)
      .kernel("CPU", same_shape(Binary::kSoftsignGrad), {types<WEFT_FLOATS>("T")});

  r.add("Tanh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The hyperbolic tangent.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("TanhGrad", conj(g.y()), g.dy())}; })
      .kernel("CPU", unary(Unary::kTanh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("TanhGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of Tanh from its result y: dy (1 - y y).")
      .shape(shapes::unchanged)
      .grad(tanh_grad_grad)
      .kernel("CPU", same_count(Binary::kTanhGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});
}

}  // namespace weft::ops

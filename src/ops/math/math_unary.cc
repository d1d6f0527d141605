#include "op/api_traits.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/math/elementwise.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Of dy * -y * y, in y and in dy.
Grads reciprocal_grad_grad(const GradContext& g) {
  const Value y = conj(g.x(0)), dy = conj(g.dy());
  return {dy * -2.0 * g.x(1) * y, binary("ReciprocalGrad", y, g.dy())};
}

// Of dy * -0.5 * y^3.
Grads rsqrt_grad_grad(const GradContext& g) {
  const Value y = conj(g.x(0)), dy = conj(g.dy());
  return {-1.5 * dy * g.x(1) * unary("Square", y), binary("RsqrtGrad", y, g.dy())};
}

// Of dy * 0.5 / y.
Grads sqrt_grad_grad(const GradContext& g) {
  const Value q = g.dy() / g.x(0);
  return {-conj(q) * g.y(), 0.5 * q};
}

}  // namespace

void math_unary(Registry& r) {
  r.add("Abs")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64}")
      .doc("The absolute value.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Sign", g.x())}; })
      .traits(elementwise(Unary::kAbs))
      .kernel("CPU", unary(Unary::kAbs), {types<WEFT_FLOATS, WEFT_SIGNED>("T")});

  r.add("Acos")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The inverse cosine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {-(g.dy() * unary("Rsqrt", 1 - unary("Square", conj(g.x()))))}; })
      .traits(elementwise(Unary::kAcos))
      .kernel("CPU", unary(Unary::kAcos), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Acosh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The inverse hyperbolic cosine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() / unary("Sinh", conj(g.y()))}; })
      .traits(elementwise(Unary::kAcosh))
      .kernel("CPU", unary(Unary::kAcosh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Asin")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The inverse sine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Rsqrt", 1 - unary("Square", conj(g.x())))}; })
      .traits(elementwise(Unary::kAsin))
      .kernel("CPU", unary(Unary::kAsin), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Asinh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The inverse hyperbolic sine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() / unary("Cosh", conj(g.y()))}; })
      .traits(elementwise(Unary::kAsinh))
      .kernel("CPU", unary(Unary::kAsinh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Atan")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The inverse tangent.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Reciprocal", 1 + unary("Square", conj(g.x())))}; })
      .traits(elementwise(Unary::kAtan))
      .kernel("CPU", unary(Unary::kAtan), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Atanh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The inverse hyperbolic tangent.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Reciprocal", 1 - unary("Square", conj(g.x())))}; })
      .traits(elementwise(Unary::kAtanh))
      .kernel("CPU", unary(Unary::kAtanh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Ceil")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The smallest integer that is not less than x.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kCeil))
      .kernel("CPU", unary(Unary::kCeil), {types<WEFT_FLOATS>("T")});

  r.add("Cos")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The cosine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {-(g.dy() * unary("Sin", conj(g.x())))}; })
      .traits(elementwise(Unary::kCos))
      .kernel("CPU", unary(Unary::kCos), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Cosh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The hyperbolic cosine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Sinh", conj(g.x()))}; })
      .traits(elementwise(Unary::kCosh))
      .kernel("CPU", unary(Unary::kCosh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Exp")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("e to the power of x.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * conj(g.y())}; })
      .traits(elementwise(Unary::kExp))
      .kernel("CPU", unary(Unary::kExp), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Expm1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("exp(x) - 1, exact for small x too.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Exp", conj(g.x()))}; })
      .traits(elementwise(Unary::kExpm1))
      .kernel("CPU", unary(Unary::kExpm1), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Floor")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The largest integer that is not greater than x.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kFloor))
      .kernel("CPU", unary(Unary::kFloor), {types<WEFT_FLOATS>("T")});

  r.add("Inv")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}")
      .doc("1 / x.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("ReciprocalGrad", g.y(), g.dy())}; })
      .traits(elementwise(Unary::kReciprocal))
      .kernel("CPU", unary(Unary::kReciprocal), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("InvGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of 1 / x from its result y: -dy y y.")
      .shape(shapes::unchanged)
      .grad(reciprocal_grad_grad)
      .traits(elementwise(Binary::kReciprocalGrad))
      .kernel("CPU", same_count(Binary::kReciprocalGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Log")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The natural logarithm.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Reciprocal", conj(g.x()))}; })
      .traits(elementwise(Unary::kLog))
      .kernel("CPU", unary(Unary::kLog), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Log1p")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("log(1 + x), exact for small x too.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Reciprocal", 1 + conj(g.x()))}; })
      .traits(elementwise(Unary::kLog1p))
      .kernel("CPU", unary(Unary::kLog1p), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Neg")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}")
      .doc("-x.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {-g.dy()}; })
      .traits(elementwise(Unary::kNeg, {.symbol = Symbol::kNegate, .made = Made::kAlways, .involution = true}))
      .kernel("CPU", unary(Unary::kNeg), {types<WEFT_FLOATS, WEFT_SIGNED, WEFT_COMPLEX>("T")});

  r.add("Reciprocal")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}")
      .doc("1 / x.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("ReciprocalGrad", g.y(), g.dy())}; })
      .traits(elementwise(Unary::kReciprocal))
      .kernel("CPU", unary(Unary::kReciprocal), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("ReciprocalGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of 1 / x from its result y: -dy y y.")
      .shape(shapes::unchanged)
      .grad(reciprocal_grad_grad)
      .traits(elementwise(Binary::kReciprocalGrad))
      .kernel("CPU", same_count(Binary::kReciprocalGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Rint")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The nearest integer, halves to the even one.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kRint))
      .kernel("CPU", unary(Unary::kRint), {types<float, double>("T")});

  r.add("Round")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}")
      .doc("The nearest integer, halves to the even one.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kRint))
      .kernel("CPU", unary(Unary::kRint), {types<WEFT_FLOATS, int32_t, int64_t>("T")});

  r.add("Rsqrt")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("1 / sqrt(x).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("RsqrtGrad", g.y(), g.dy())}; })
      .traits(elementwise(Unary::kRsqrt))
      .kernel("CPU", unary(Unary::kRsqrt), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("RsqrtGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of 1 / sqrt(x) from its result y: -dy y y y / 2.")
      .shape(shapes::unchanged)
      .grad(rsqrt_grad_grad)
      .traits(elementwise(Binary::kRsqrtGrad))
      .kernel("CPU", same_count(Binary::kRsqrtGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Sign")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}")
      .doc("-1, 0 or 1, as x is negative, zero or positive; x / |x| for complex numbers.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {zeros_like(g.x())}; })
      .traits(elementwise(Unary::kSign))
      .kernel("CPU", unary(Unary::kSign), {types<WEFT_FLOATS, WEFT_SIGNED, WEFT_COMPLEX>("T")});

  r.add("Sin")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The sine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Cos", conj(g.x()))}; })
      .traits(elementwise(Unary::kSin))
      .kernel("CPU", unary(Unary::kSin), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Sinh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The hyperbolic sine.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Cosh", conj(g.x()))}; })
      .traits(elementwise(Unary::kSinh))
      .kernel("CPU", unary(Unary::kSinh), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Sqrt")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The square root.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {binary("SqrtGrad", g.y(), g.dy())}; })
      .traits(elementwise(Unary::kSqrt))
      .kernel("CPU", unary(Unary::kSqrt), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("SqrtGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The gradient of sqrt(x) from its result y: dy / (2 y).")
      .shape(shapes::unchanged)
      .grad(sqrt_grad_grad)
      .traits(elementwise(Binary::kSqrtGrad))
      .kernel("CPU", same_count(Binary::kSqrtGrad), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Square")
      .in("x: T")
      .out("y: T")
      .attr(
          "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
          "uint64, complex64, complex128}")
      .doc("x times x.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (conj(g.x()) * 2)}; })
      .traits(elementwise(Unary::kSquare))
      .kernel("CPU", unary(Unary::kSquare), {types<WEFT_NUMBERS>("T")});

  r.add("Tan")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The tangent.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {unary("Square", unary("Reciprocal", unary("Cos", conj(g.x())))) * g.dy()}; })
      .traits(elementwise(Unary::kTan))
      .kernel("CPU", unary(Unary::kTan), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  set_api_trait(r, {"Abs", "Asin", "Asinh", "Atan", "Atanh", "Neg", "Sign", "Sin", "Sqrt", "Square", "Tan"}, ApiTrait::kOnSparseValues);
}

}  // namespace weft_engine::ops

#include "kernels/cpu/special_math.h"
#include "op/api_traits.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "ops/all.h"
#include "ops/math/elementwise.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status betainc_shape(ShapeContext& c) {
  // Scalars stand for any shape; the others agree.
  PartialShape out = PartialShape::scalar();
  bool unknown = false, found = false;
  for (int i = 0; i < 3; ++i) {
    const PartialShape& s = c.input(i);
    if (!s.has_rank()) {
      unknown = true;
    } else if (s.rank() > 0) {
      if (!found) {
        out = s;
        found = true;
      } else {
        WEFT_ASSIGN(PartialShape merged, out.merge_with(s));
        out = std::move(merged);
      }
    }
  }
  c.output(0, unknown && !found ? PartialShape() : std::move(out));
  return {};
}

Status run_betainc(KernelContext& c) {
  const char* names = "abx";
  const Shape* shape = nullptr;
  int first = 0;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c.input(i).shape();
    if (s.rank() == 0) continue;
    if (!shape) {
      shape = &s;
      first = i;
    } else if (s != *shape) {
      return invalid_argument("Shapes of ", std::string_view(names + first, 1), " and ", std::string_view(names + i, 1),
                              " are inconsistent: ", *shape, " vs. ", s);
    }
  }
  const Shape scalar;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape ? *shape : scalar));
  const int64_t n = out->num_elements();
  return dispatch<float, double>(out->dtype(), [&]<class T>(Tag<T>) {
    const T* p[3];
    int64_t stride[3];
    for (int i = 0; i < 3; ++i) {
      p[i] = c.input(i).data<T>();
      stride[i] = c.input(i).rank() == 0 ? 0 : 1;
    }
    for_parts(c, n, 300, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out->data<T>()[i] = T(kernels::betainc(double(p[0][i * stride[0]]), double(p[1][i * stride[1]]), double(p[2][i * stride[2]])));
    });
    return Status();
  });
}

// ---- gradients -----------------------------------------------------------------------------------------

constexpr double kPi = 3.14159265358979323846;

// `slope`, and at x = 0, where it would divide by zero, the limit.
Value at_zero(const Value& x, double limit, const Value& slope) {
  if (!x.valid()) return {};
  return where(binary("Equal", x, zeros_like(x)), scalar(x.emitter(), x.dtype(), limit), slope);
}

// In logarithms, since gamma functions grow large.
Grads igamma_grad(const GradContext& g) {
  const Value a = g.x(0), x = g.x(1);
  Value da = binary("IgammaGradA", a, x) * g.dy();
  Value dx = unary("Exp", -x + (a - 1) * unary("Log", x) - unary("Lgamma", a)) * g.dy();
  sum_to_both(da, a, dx, x);
  return {da, dx};
}

Grads igammac_grad(const GradContext& g) {
  Grads of_igamma = igamma_grad(g);
  return {-of_igamma[0], -of_igamma[1]};
}

Grads betainc_grad(const GradContext& g) {
  const Value a = g.x(0), b = g.x(1), x = g.x(2);
  const Value log_beta = unary("Lgamma", a) + unary("Lgamma", b) - unary("Lgamma", a + b);
  const Value slope = unary("Exp", binary("Xlog1py", b - 1, -x) + binary("Xlogy", a - 1, x) - log_beta);
  return {{}, {}, sum_to(slope * g.dy(), x)};
}

}  // namespace

void math_special(Registry& r) {
  r.add("BesselI0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The modified Bessel function of the first kind of order 0.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("BesselI1", g.x())}; })
      .traits(elementwise(Unary::kBesselI0))
      .kernel("CPU", unary(Unary::kBesselI0), {types<half, float, double>("T")});

  r.add("BesselI0e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("exp(-|x|) BesselI0(x).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {(unary("BesselI1e", g.x()) - unary("Sign", g.x()) * g.y()) * g.dy()}; })
      .traits(elementwise(Unary::kBesselI0e))
      .kernel("CPU", unary(Unary::kBesselI0e), {types<half, float, double>("T")});

  r.add("BesselI1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The modified Bessel function of the first kind of order 1.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * at_zero(g.x(), 1, unary("BesselI0", g.x()) - g.y() / g.x())}; })
      .traits(elementwise(Unary::kBesselI1))
      .kernel("CPU", unary(Unary::kBesselI1), {types<half, float, double>("T")});

  r.add("BesselI1e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("exp(-|x|) BesselI1(x).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads {
        return {g.dy() * at_zero(g.x(), 0.5, unary("BesselI0e", g.x()) - g.y() * (unary("Sign", g.x()) + unary("Reciprocal", g.x())))};
      })
      .traits(elementwise(Unary::kBesselI1e))
      .kernel("CPU", unary(Unary::kBesselI1e), {types<half, float, double>("T")});

  r.add("BesselJ0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Bessel function of the first kind of order 0.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * -unary("BesselJ1", g.x())}; })
      .traits(elementwise(Unary::kBesselJ0))
      .kernel("CPU", unary(Unary::kBesselJ0), {types<half, float, double>("T")});

  r.add("BesselJ1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Bessel function of the first kind of order 1.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * at_zero(g.x(), 0.5, unary("BesselJ0", g.x()) - g.y() / g.x())}; })
      .traits(elementwise(Unary::kBesselJ1))
      .kernel("CPU", unary(Unary::kBesselJ1), {types<half, float, double>("T")});

  r.add("BesselK0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The modified Bessel function of the second kind of order 0.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * -unary("BesselK1", g.x())}; })
      .traits(elementwise(Unary::kBesselK0))
      .kernel("CPU", unary(Unary::kBesselK0), {types<half, float, double>("T")});

  r.add("BesselK0e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("exp(x) BesselK0(x).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (g.y() - unary("BesselK1e", g.x()))}; })
      .traits(elementwise(Unary::kBesselK0e))
      .kernel("CPU", unary(Unary::kBesselK0e), {types<half, float, double>("T")});

  r.add("BesselK1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The modified Bessel function of the second kind of order 1.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (-unary("BesselK0", g.x()) - g.y() / g.x())}; })
      .traits(elementwise(Unary::kBesselK1))
      .kernel("CPU", unary(Unary::kBesselK1), {types<half, float, double>("T")});

  r.add("BesselK1e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("exp(x) BesselK1(x).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (g.y() * (1 - unary("Reciprocal", g.x())) - unary("BesselK0e", g.x()))}; })
      .traits(elementwise(Unary::kBesselK1e))
      .kernel("CPU", unary(Unary::kBesselK1e), {types<half, float, double>("T")});

  r.add("BesselY0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Bessel function of the second kind of order 0.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * -unary("BesselY1", g.x())}; })
      .traits(elementwise(Unary::kBesselY0))
      .kernel("CPU", unary(Unary::kBesselY0), {types<half, float, double>("T")});

  r.add("BesselY1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Bessel function of the second kind of order 1.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (unary("BesselY0", g.x()) - g.y() / g.x())}; })
      .traits(elementwise(Unary::kBesselY1))
      .kernel("CPU", unary(Unary::kBesselY1), {types<half, float, double>("T")});

  r.add("Betainc")
      .in("a: T")
      .in("b: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {float, double}")
      .doc("The regularised incomplete beta function I_x(a, b).")
      .traits({.elementwise = true})
      .shape(betainc_shape)
      .grad(betainc_grad)
      .cpu(run_betainc);

  r.add("Dawsn")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Dawson integral.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (1 - 2 * g.x() * g.y())}; })
      .traits(elementwise(Unary::kDawsn))
      .kernel("CPU", unary(Unary::kDawsn), {types<float, double>("T")});

  r.add("Digamma")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The derivative of the logarithm of the gamma function.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * binary("Polygamma", scalar(g.emitter(), g.x().dtype(), 1), g.x())}; })
      .traits(elementwise(Unary::kDigamma))
      .kernel("CPU", unary(Unary::kDigamma), {types<half, float, double>("T")});

  r.add("Erf")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The error function.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (2 / std::sqrt(kPi)) * unary("Exp", -unary("Square", g.x()))}; })
      .traits(elementwise(Unary::kErf))
      .kernel("CPU", unary(Unary::kErf), {types<WEFT_FLOATS>("T")});

  r.add("Erfc")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("1 - erf(x), exact for large x too.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (-2 / std::sqrt(kPi)) * unary("Exp", -unary("Square", g.x()))}; })
      .traits(elementwise(Unary::kErfc))
      .kernel("CPU", unary(Unary::kErfc), {types<WEFT_FLOATS>("T")});

  r.add("Erfinv")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The inverse of the error function.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * (std::sqrt(kPi) / 2) * unary("Exp", unary("Square", g.y()))}; })
      .traits(elementwise(Unary::kErfinv))
      .kernel("CPU", unary(Unary::kErfinv), {types<float, double>("T")});

  r.add("Expint")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The exponential integral Ei.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Exp", g.x()) / g.x()}; })
      .traits(elementwise(Unary::kExpint))
      .kernel("CPU", unary(Unary::kExpint), {types<float, double>("T")});

  r.add("FresnelCos")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Fresnel integral of cos(pi t t / 2).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Cos", kPi / 2 * unary("Square", g.x()))}; })
      .traits(elementwise(Unary::kFresnelCos))
      .kernel("CPU", unary(Unary::kFresnelCos), {types<float, double>("T")});

  r.add("FresnelSin")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The Fresnel integral of sin(pi t t / 2).")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Sin", kPi / 2 * unary("Square", g.x()))}; })
      .traits(elementwise(Unary::kFresnelSin))
      .kernel("CPU", unary(Unary::kFresnelSin), {types<float, double>("T")});

  r.add("Igamma")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The lower regularised incomplete gamma function P(a, x).")
      .shape(shapes::broadcast_binary)
      .grad(igamma_grad)
      .traits(broadcasting(Binary::kIgamma))
      .kernel("CPU", binary(Binary::kIgamma), {types<float, double>("T")});

  r.add("IgammaGradA")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {float, double}")
      .doc("The derivative of Igamma with respect to a.")
      .shape(shapes::broadcast_binary)
      .traits(broadcasting(Binary::kIgammaGradA))
      .kernel("CPU", binary(Binary::kIgammaGradA), {types<float, double>("T")});

  r.add("Igammac")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The upper regularised incomplete gamma function Q(a, x).")
      .shape(shapes::broadcast_binary)
      .grad(igammac_grad)
      .traits(broadcasting(Binary::kIgammac))
      .kernel("CPU", binary(Binary::kIgammac), {types<float, double>("T")});

  r.add("Lgamma")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The logarithm of the absolute value of the gamma function.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * unary("Digamma", g.x())}; })
      .traits(elementwise(Unary::kLgamma))
      .kernel("CPU", unary(Unary::kLgamma), {types<half, float, double>("T")});

  r.add("Ndtri")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The quantile of the standard normal distribution.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.dy() * std::sqrt(2 * kPi) * unary("Exp", unary("Square", g.y()) / 2)}; })
      .traits(elementwise(Unary::kNdtri))
      .kernel("CPU", unary(Unary::kNdtri), {types<float, double>("T")});

  r.add("Polygamma")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {float, double}")
      .doc("The derivative of order a of Digamma.")
      .shape(shapes::broadcast_binary)
      .grad([](const GradContext& g) -> Grads { return {{}, sum_to(binary("Polygamma", g.x(0) + 1, g.x(1)) * g.dy(), g.x(1))}; })
      .traits(broadcasting(Binary::kPolygamma))
      .kernel("CPU", binary(Binary::kPolygamma), {types<float, double>("T")});

  r.add("Spence")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The dilogarithm of 1 - x.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads {
        return {g.dy() * where(binary("Equal", g.x(), ones_like(g.x())), -ones_like(g.x()), unary("Log", g.x()) / (1 - g.x()))};
      })
      .traits(elementwise(Unary::kSpence))
      .kernel("CPU", unary(Unary::kSpence), {types<float, double>("T")});

  r.add("Zeta")
      .in("x: T")
      .in("q: T")
      .out("z: T")
      .attr("T: {float, double}")
      .doc("The Hurwitz zeta function.")
      .shape(shapes::broadcast_binary)
      .grad([](const GradContext& g) -> Grads { return {{}, sum_to(-g.x(0) * binary("Zeta", g.x(0) + 1, g.x(1)) * g.dy(), g.x(1))}; })
      .traits(broadcasting(Binary::kZeta))
      .kernel("CPU", binary(Binary::kZeta), {types<float, double>("T")});

  set_layout(r, {"BesselI0", "BesselI1", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1"},
             layouts::kOneDevice);
  set_layout(r, {"Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"}, layouts::kOneDevice);
  set_api_trait(r, {"BesselI0e", "BesselI1e", "Erf"}, ApiTrait::kOnSparseValues);
}

}  // namespace weft_engine::ops

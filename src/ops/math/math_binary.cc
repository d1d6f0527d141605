#include "kernels/cpu/add_many.h"
#include "kernels/cpu/broadcast.h"
#include "op/api_traits.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "ops/all.h"
#include "ops/list/variant_math.h"
#include "ops/math/elementwise.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status add_n_shape(ShapeContext& c) {
  PartialShape s = c.input(c.num_inputs() - 1);
  for (int i = c.num_inputs() - 2; i >= 0; --i) {
    auto merged = c.input(i).merge_with(s);
    if (!merged.ok()) return merged.status().with_suffix(cat("\n\tFrom merging shape ", i, " with other shapes."));
    s = std::move(merged).value();
  }
  c.output(0, std::move(s));
  return {};
}

Status accumulate_n_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(shapes::merge_all(c));
  WEFT_ASSIGN(PartialShape s, c.outputs()[0].merge_with(c.attr<PartialShape>("shape")));
  c.output(0, std::move(s));
  return {};
}

Status run_add_n(KernelContext& c) {
  const Tensor& first = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).shape() != first.shape()) return not_same_shape(c, 0, i);
  }
  if (c.num_inputs() == 1) {
    c.set_output(0, first);
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, first.shape(), 0));
  std::vector<const void*> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i).raw());
  const int64_t n = first.num_elements();
  const size_t size = dtype_size(first.dtype());
  for_parts(c, n, 0.1 * double(inputs.size()) * double(size),
            [&](int64_t begin, int64_t end) { kernels::add_many(first.dtype(), inputs, out->raw(), begin, end); });
  return {};
}

Status run_add_strings(KernelContext& c) {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  const auto shape = kernels::broadcast_shape(a.shape(), b.shape());
  if (!shape) return invalid_argument("Incompatible shapes: ", a.shape(), " vs. ", b.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, *shape));
  const Shape* const shapes[] = {&a.shape(), &b.shape()};
  const kernels::Broadcast walk(*shape, shapes);
  const int sa = walk.inner_stride(0), sb = walk.inner_stride(1);
  walk.for_runs(0, shape->num_elements(), [&](const kernels::Broadcast::Offsets& from, int64_t to, int64_t n) {
    const tstring* pa = a.data<tstring>() + from.at[0];
    const tstring* pb = b.data<tstring>() + from.at[1];
    for (int64_t i = 0; i < n; ++i) out->data<tstring>()[to + i] = tstring(cat(pa[i * sa].view(), pb[i * sb].view()));
  });
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Each summed to the shape of its input, which may have been repeated.
Grads both(const GradContext& g, Value a, Value b) {
  sum_to_both(a, g.x(0), b, g.x(1));
  return {std::move(a), std::move(b)};
}

Grads add_grad(const GradContext& g) { return both(g, g.dy(), g.dy()); }
Grads sub_grad(const GradContext& g) { return both(g, g.dy(), -g.dy()); }
Grads mul_grad(const GradContext& g) { return both(g, g.dy() * conj(g.x(1)), conj(g.x(0)) * g.dy()); }

Grads div_grad(const GradContext& g) {
  const Value x = conj(g.x(0)), y = conj(g.x(1));
  return both(g, g.dy() / y, g.dy() * ((-x / y) / y));
}

Grads div_no_nan_grad(const GradContext& g) {
  const Value x = conj(g.x(0)), y = conj(g.x(1));
  auto quotient = [](const Value& a, const Value& b) { return binary("DivNoNan", a, b); };
  return both(g, quotient(g.dy(), y), g.dy() * quotient(quotient(-x, y), y));
}

Grads floor_mod_grad(const GradContext& g) { return both(g, g.dy(), g.dy() * -binary("FloorDiv", g.x(0), g.x(1))); }

// To the input that was chosen; to the first where both are equal.
Grads chosen_grad(const GradContext& g, std::string_view comparison) {
  const Value first = binary(comparison, g.x(0), g.x(1)), zero = zeros_like(g.dy());
  return both(g, where(first, g.dy(), zero), where(first, zero, g.dy()));
}
Grads maximum_grad(const GradContext& g) { return chosen_grad(g, "GreaterEqual"); }
Grads minimum_grad(const GradContext& g) { return chosen_grad(g, "LessEqual"); }

// The logarithm of a number that is not positive (not zero, if complex) counts as 0.
Grads pow_grad(const GradContext& g) {
  const Value x = conj(g.x(0)), y = conj(g.x(1)), z = conj(g.y());
  const bool complex = x.dtype() == DType::kComplex64 || x.dtype() == DType::kComplex128;
  const Value fits = binary(complex ? "NotEqual" : "Greater", x, zeros_like(x));
  const Value log = where(fits, unary("Log", where(fits, x, ones_like(x))), zeros_like(x));
  return both(g, g.dy() * y * binary("Pow", x, y - 1), g.dy() * z * log);
}

Grads squared_difference_grad(const GradContext& g) {
  const Value d = 2 * g.dy() * (g.x(0) - g.x(1));
  return both(g, d, -d);
}

Grads atan2_grad(const GradContext& g) {
  const Value y = g.x(0), x = g.x(1), part = g.dy() / (unary("Square", x) + unary("Square", y));
  return both(g, x * part, -y * part);
}

Grads mul_no_nan_grad(const GradContext& g) { return both(g, binary("MulNoNan", g.dy(), g.x(1)), binary("MulNoNan", g.x(0), g.dy())); }

// 1 where x is not zero.
Value not_zero(const Value& x) { return cast(binary("NotEqual", x, zeros_like(x)), x.dtype()); }
Grads xlogy_grad(const GradContext& g) {
  const Value x = g.x(0), y = g.x(1);
  return both(g, binary("Xlogy", not_zero(x), y) * g.dy(), binary("Xdivy", x, y) * g.dy());
}
Grads xlog1py_grad(const GradContext& g) {
  const Value x = g.x(0), y = g.x(1);
  return both(g, binary("Xlog1py", not_zero(x), y) * g.dy(), binary("Xdivy", x, y + 1) * g.dy());
}
Grads xdivy_grad(const GradContext& g) {
  const Value x = g.x(0), y = g.x(1);
  return both(g, binary("Xdivy", not_zero(x), y) * g.dy(), binary("Xdivy", -x, unary("Square", y)) * g.dy());
}

Grads next_after_grad(const GradContext& g) { return both(g, g.dy(), zeros_like(g.dy())); }

}  // namespace

void math_binary(Registry& r) {
  r.add("AccumulateNV2")
      .in("inputs: N * T")
      .out("sum: T")
      .attr("N: int >= 1")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("shape: shape")
      .commutative()
      .aggregate()
      .doc("The sum of all inputs, whose shape is given in advance; replaced by other ops before it runs.")
      .shape(accumulate_n_shape)
      .grad([](const GradContext& g) -> Grads { return Grads(size_t(g.num_inputs()), g.raw_dy()); });

  r.add("Add")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}")
      .doc("The sum of two tensors, or their strings joined, element by element, with broadcasting.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(add_grad)
      .traits(broadcasting(Binary::kAdd, {.symbol = Symbol::kPlus, .neutral_right = 0, .neutral_left = 0}))
      .kernel("CPU", binary(Binary::kAdd), {types<WEFT_FLOATS, WEFT_SIGNED, uint8_t, WEFT_COMPLEX>("T")})
      .cpu(run_add_strings, types<tstring>("T"));

  r.add("AddN")
      .in("inputs: N * T")
      .out("sum: T")
      .attr("N: int >= 1")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, variant}")
      .commutative()
      .aggregate()
      .doc("The sum of all inputs, which have one shape.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(add_n_shape)
      .grad([](const GradContext& g) -> Grads { return Grads(size_t(g.num_inputs()), g.raw_dy()); })
      .traits(elementwise(Binary::kAdd))
      .cpu(run_add_n, types<WEFT_NUMBERS>("T"))
      .cpu(run_add_variants, types<Variant>("T"));

  r.add("AddV2")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, "
          "int64, complex64, complex128}")
      .commutative()
      .aggregate()
      .doc("The sum of two tensors, element by element, with broadcasting.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(add_grad)
      .traits(broadcasting(Binary::kAdd, {.symbol = Symbol::kPlus, .made = Made::kAlways, .neutral_right = 0, .neutral_left = 0}))
      .kernel("CPU", binary(Binary::kAdd), {types<WEFT_NUMBERS>("T")});

  r.add("Atan2")
      .in("y: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double}")
      .doc("The angle of the point (x, y) with the positive x axis, in [-pi, pi].")
      .shape(shapes::broadcast_binary)
      .grad(atan2_grad)
      .traits(broadcasting(Binary::kAtan2))
      .kernel("CPU", binary(Binary::kAtan2), {types<WEFT_FLOATS>("T")});

  r.add("Div")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
          "int64, complex64, complex128}")
      .doc("The quotient of two tensors; integers are rounded towards zero.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(div_grad)
      .traits(broadcasting(Binary::kDiv, {.neutral_right = 1}))
      .kernel("CPU", binary(Binary::kDiv), {types<WEFT_NUMBERS>("T")});

  r.add("DivNoNan")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, float, bfloat16, double, complex64, complex128}")
      .doc("The quotient of two tensors, 0 where the divisor is 0.")
      .shape(shapes::broadcast_binary)
      .grad(div_no_nan_grad)
      .traits(broadcasting(Binary::kDivNoNan, {.neutral_right = 1}))
      .kernel("CPU", binary(Binary::kDivNoNan), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("FloorDiv")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
          "int64, complex64, complex128}")
      .doc("The quotient of two tensors, rounded down.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad([](const GradContext& g) -> Grads { return g.none(); })
      .traits(broadcasting(Binary::kFloorDiv, {.symbol = Symbol::kFloorDivide, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kFloorDiv), {types<WEFT_REALS>("T")});

  r.add("FloorMod")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}")
      .doc("The remainder of the division rounded down: it has the sign of y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(floor_mod_grad)
      .traits(broadcasting(Binary::kFloorMod, {.symbol = Symbol::kModulo, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kFloorMod), {types<WEFT_REALS>("T")});

  r.add("Maximum")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}")
      .doc("The larger of two tensors, element by element; NaN if either is NaN.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(maximum_grad)
      .traits(broadcasting(Binary::kMaximum))
      .kernel("CPU", binary(Binary::kMaximum), {types<WEFT_REALS>("T")});

  r.add("Minimum")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}")
      .doc("The smaller of two tensors, element by element; NaN if either is NaN.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(minimum_grad)
      .traits(broadcasting(Binary::kMinimum))
      .kernel("CPU", binary(Binary::kMinimum), {types<WEFT_REALS>("T")});

  r.add("Mod")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int32, int64, half, half, bfloat16, float, double}")
      .doc("The remainder of the division rounded towards zero: it has the sign of x.")
      .shape(shapes::broadcast_binary)
      .traits(broadcasting(Binary::kTruncateMod))
      .kernel("CPU", binary(Binary::kTruncateMod), {types<float, double, int32_t, int64_t>("T")});

  r.add("Mul")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
          "int64, complex64, complex128}")
      .commutative()
      .doc("The product of two tensors, element by element, with broadcasting.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(mul_grad)
      .traits(broadcasting(Binary::kMul, {.symbol = Symbol::kTimes, .made = Made::kAlways, .neutral_right = 1, .neutral_left = 1}))
      .kernel("CPU", binary(Binary::kMul), {types<WEFT_NUMBERS>("T")});

  r.add("MulNoNan")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}")
      .doc("The product of two tensors, 0 where y is 0 even if x is infinite or NaN.")
      .shape(shapes::broadcast_binary)
      .grad(mul_no_nan_grad)
      .traits(broadcasting(Binary::kMulNoNan))
      .kernel("CPU", binary(Binary::kMulNoNan), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("NextAfter")
      .in("x1: T")
      .in("x2: T")
      .out("output: T")
      .attr("T: {double, float} = DT_FLOAT")
      .doc("The next representable number after x1 in the direction of x2.")
      .shape(shapes::broadcast_binary)
      .grad(next_after_grad)
      .traits(broadcasting(Binary::kNextAfter))
      .kernel("CPU", binary(Binary::kNextAfter), {types<float, double>("T")});

  r.add("Pow")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}")
      .doc("x to the power of y.")
      .shape(shapes::broadcast_binary)
      .grad(pow_grad)
      .traits(broadcasting(Binary::kPow, {.symbol = Symbol::kPower, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kPow), {types<WEFT_FLOATS, WEFT_SIGNED, WEFT_COMPLEX>("T")});

  r.add("RealDiv")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
          "int64, complex64, complex128}")
      .doc("The quotient of two tensors of real or complex numbers.")
      .shape(shapes::broadcast_binary)
      .grad(div_grad)
      .traits(broadcasting(Binary::kDiv, {.symbol = Symbol::kDivide, .made = Made::kAlways, .neutral_right = 1}))
      .kernel("CPU", binary(Binary::kDiv), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("SquaredDifference")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .commutative()
      .doc("(x - y)(x - y), with the second factor conjugated for complex numbers.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(squared_difference_grad)
      .traits(broadcasting(Binary::kSquaredDifference))
      .kernel("CPU", binary(Binary::kSquaredDifference), {types<WEFT_FLOATS, int32_t, int64_t, WEFT_COMPLEX>("T")});

  r.add("Sub")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, "
          "complex128, uint32, uint64}")
      .doc("The difference of two tensors, element by element, with broadcasting.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad(sub_grad)
      .traits(broadcasting(Binary::kSub, {.symbol = Symbol::kMinus, .made = Made::kAlways, .neutral_right = 0}))
      .kernel("CPU", binary(Binary::kSub), {types<WEFT_NUMBERS>("T")});

  r.add("TruncateDiv")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr(
          "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
          "int64, complex64, complex128}")
      .doc("The quotient of two tensors, rounded towards zero.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .grad([](const GradContext& g) -> Grads { return g.none(); })
      .traits(broadcasting(Binary::kTruncateDiv))
      .kernel("CPU", binary(Binary::kTruncateDiv), {types<WEFT_REALS>("T")});

  r.add("TruncateMod")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int32, int64, bfloat16, half, float, double}")
      .doc("The remainder of the division rounded towards zero: it has the sign of x.")
      .shape(shapes::broadcast_binary)
      .traits(broadcasting(Binary::kTruncateMod))
      .kernel("CPU", binary(Binary::kTruncateMod), {types<float, double, int32_t, int64_t>("T")});

  r.add("Xdivy")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, bfloat16, float, double, complex64, complex128}")
      .doc("x / y, and 0 where x is 0.")
      .shape(shapes::broadcast_binary)
      .grad(xdivy_grad)
      .traits(broadcasting(Binary::kXdivy))
      .kernel("CPU", binary(Binary::kXdivy), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Xlog1py")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, bfloat16, float, double, complex64, complex128}")
      .doc("x log(1 + y), and 0 where x is 0.")
      .shape(shapes::broadcast_binary)
      .grad(xlog1py_grad)
      .traits(broadcasting(Binary::kXlog1py))
      .kernel("CPU", binary(Binary::kXlog1py), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  r.add("Xlogy")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, bfloat16, float, double, complex64, complex128}")
      .doc("x log(y), and 0 where x is 0.")
      .shape(shapes::broadcast_binary)
      .grad(xlogy_grad)
      .traits(broadcasting(Binary::kXlogy))
      .kernel("CPU", binary(Binary::kXlogy), {types<WEFT_FLOATS, WEFT_COMPLEX>("T")});

  set_layout(r, {"AccumulateNV2"}, layouts::kOneDevice);
  set_layout(r, {"AddN"}, layouts::kSum);
  set_api_trait(r, {"Maximum", "Minimum"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops

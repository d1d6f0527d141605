#include <algorithm>
#include <complex>

#include "kernels/cpu/broadcast.h"
#include "kernels/cpu/elementwise_simd.h"
#include "kernels/cpu/select.h"
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

// Whether two shapes may turn out not to fit, as TensorFlow sees it: an unknown dimension beside a known one other than 1.
bool may_not_fit(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const int64_t x = a.dim(a.rank() - i), y = b.dim(b.rank() - i);
    if ((x < 0 && y > 1) || (y < 0 && x > 1)) return true;
  }
  return false;
}

// Shapes that do not fit are an error, or mean the scalar answer "not equal".
Status equality_shape(ShapeContext& c) {
  if (c.attr<bool>("incompatible_shape_error")) return shapes::broadcast_binary(c);
  auto s = shapes::broadcast(c.input(0), c.input(1));
  c.output(0, s.ok() && !may_not_fit(c.input(0), c.input(1)) ? std::move(s).value() : PartialShape());
  return {};
}

Status select_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape data, c.input(1).merge_with(c.input(2)));
  const PartialShape& cond = c.input(0);
  if (cond.has_rank() && data.has_rank() && cond.rank() != 0) {
    if (data.rank() == 0) return invalid_argument("Shape must be rank 0 but is rank ", cond.rank());
    if (cond.rank() == 1) {
      WEFT_ASSIGN(int64_t rows, ShapeContext::merge_dim(cond.dim(0), data.dim(0)));
      data.set_dim(0, rows);
    } else {
      WEFT_ASSIGN(PartialShape merged, data.merge_with(cond));
      data = std::move(merged);
    }
  }
  c.output(0, std::move(data));
  return {};
}

Status select_v2_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape data, shapes::broadcast(c.input(1), c.input(2)));
  WEFT_ASSIGN(PartialShape out, shapes::broadcast(c.input(0), data));
  c.output(0, std::move(out));
  return {};
}

// out = cond ? t : e, element by element; each operand is repeated as its shape asks.
Status select_into(KernelContext& c, Tensor& out, const Shape& cond_shape) {
  const Tensor& cond = c.input(0);
  const Tensor& t = c.input(1);
  const Tensor& e = c.input(2);
  const int64_t n = out.num_elements();
  if (n == 0) return {};
  const Shape* const shapes[] = {&cond_shape, &t.shape(), &e.shape()};
  const kernels::Broadcast walk(out.shape(), shapes);
  const kernels::SelectStrides strides = {walk.inner_stride(0), walk.inner_stride(1), walk.inner_stride(2)};
  const uint8_t* condition = cond.data<uint8_t>();  // a byte other than 0 and 1 is no reason to fail
  if (const kernels::SelectLoop loop = is_simple(t.dtype()) ? kernels::select_loop(dtype_size(t.dtype())) : nullptr) {
    const size_t size = dtype_size(t.dtype());
    for_parts(c, n, 0.15 * double(size), [&](int64_t begin, int64_t end) {
      walk.for_runs(begin, end, [&](const kernels::Broadcast::Offsets& from, int64_t to, int64_t count) {
        loop(condition + from.at[0], static_cast<const char*>(t.raw()) + size_t(from.at[1]) * size,
             static_cast<const char*>(e.raw()) + size_t(from.at[2]) * size, static_cast<char*>(out.raw()) + size_t(to) * size, count, strides);
      });
    });
    return {};
  }
  return dispatch<tstring, ResourceHandle, Variant>(t.dtype(), [&]<class T>(Tag<T>) {
    walk.for_runs(0, n, [&](const kernels::Broadcast::Offsets& from, int64_t to, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        out.data<T>()[to + i] =
            condition[from.at[0] + i * strides.cond] ? t.data<T>()[from.at[1] + i * strides.t] : e.data<T>()[from.at[2] + i * strides.e];
    });
    return Status();
  });
}

Status run_select(KernelContext& c) {
  const Tensor& cond = c.input(0);
  const Tensor& t = c.input(1);
  const Tensor& e = c.input(2);
  if (cond.rank() == 0) {
    if (t.shape() != e.shape()) return invalid_argument("'then' and 'else' must have the same size.  but received: ", t.shape(), " vs. ", e.shape());
    c.set_output(0, cond.data<uint8_t>()[0] ? t : e);
    return {};
  }
  Shape cond_shape = cond.shape();
  if (cond.rank() == 1 && t.rank() != 1) {
    if (t.rank() < 1) return invalid_argument("'then' must be at least a vector, but saw shape: ", t.shape());
    if (t.dim(0) != cond.num_elements())
      return invalid_argument("Number of batches of 'then' must match size of 'cond', but saw: ", t.dim(0), " vs. ", cond.num_elements());
    if (t.shape() != e.shape()) return invalid_argument("'then' and 'else' must have the same size.  but received: ", t.shape(), " vs. ", e.shape());
    for (int i = 1; i < t.rank(); ++i) cond_shape.add_dim(1);  // picks whole rows
  } else {
    if (cond.shape() != t.shape()) return not_same_shape(c, 0, 1);
    if (cond.shape() != e.shape()) return not_same_shape(c, 0, 2);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, t.shape(), 1, 2));
  return select_into(c, *out, cond_shape);
}

Status run_select_v2(KernelContext& c) {
  const Tensor& cond = c.input(0);
  const Tensor& t = c.input(1);
  const Tensor& e = c.input(2);
  if (cond.rank() == 0 && t.shape() == e.shape()) {
    c.set_output(0, cond.data<uint8_t>()[0] ? t : e);
    return {};
  }
  auto data = kernels::broadcast_shape(t.shape(), e.shape());
  auto shape = data ? kernels::broadcast_shape(cond.shape(), *data) : std::nullopt;
  if (!shape) return invalid_argument("condition ", cond.shape(), ", then ", t.shape(), ", and else ", e.shape(), " must be broadcastable");
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, *shape, 1, 2));
  return select_into(c, *out, cond.shape());
}

Status run_approximate_equal(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Tensor& y = c.input(1);
  if (x.shape() != y.shape()) return invalid_argument("x and y must be of the same shape. x shape: ", x.shape(), ". y shape: ", y.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, x.shape()));
  const float tolerance = c.attr<float>("tolerance");
  return dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
    for (int64_t i = 0; i < x.num_elements(); ++i) out->data<bool>()[i] = std::abs(x.data<T>()[i] - y.data<T>()[i]) <= T(tolerance);
    return Status();
  });
}

// Complex numbers are ordered by their real parts, as in TensorFlow. The lower bound wins when the bounds
// are crossed; NaN elements stay.
template <class T>
T clip(T x, T low, T high) {
  if constexpr (core::is_complex<T>) {
    const T upper = high.real() < x.real() ? high : x;
    return upper.real() < low.real() ? low : upper;
  } else {
    const T upper = high < x ? high : x;
    return upper < low ? low : upper;
  }
}

Status run_clip(KernelContext& c) {
  const Tensor& t = c.input(0);
  const Tensor& low = c.input(1);
  const Tensor& high = c.input(2);
  const auto fits = [&](const Tensor& bound) { return bound.rank() == 0 || bound.shape() == t.shape(); };
  if (!fits(low) || !fits(high)) {
    return invalid_argument("clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: ", t.shape(),
                            "clip_value_min shape: ", low.shape(), "clip_value_max shape: ", high.shape());
  }
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, t.shape(), 0));
  // A bound of one element is read as a scalar even if it is not one.
  const int64_t sl = low.num_elements() == 1 ? 0 : 1, sh = high.num_elements() == 1 ? 0 : 1;
  return dispatch<WEFT_FLOATS, WEFT_SIGNED, uint8_t, uint16_t, WEFT_COMPLEX>(t.dtype(), [&]<class T>(Tag<T>) {
    const T* x = t.data<T>();
    const T* l = low.data<T>();
    const T* h = high.data<T>();
    T* o = out->data<T>();
    for_parts(c, t.num_elements(), 1, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) {
        if (sl == 0 && sh == 0) return WEFT_BEST_ISA(clip_floats)(x + begin, o + begin, end - begin, *l, *h);
      }
      for (int64_t i = begin; i < end; ++i) o[i] = clip(x[i], l[i * sl], h[i * sh]);
    });
    return Status();
  });
}

// ---- gradients -----------------------------------------------------------------------------------------

Value where_like(const GradContext& g, const Value& a, const Value& b) { return g.one("Select", {g.x(0), a, b}); }

Grads select_grad(const GradContext& g) {
  const Value zero = zeros_like(g.dy());
  return {{}, sum_to(where(g.x(0), g.dy(), zero), g.x(1)), sum_to(where(g.x(0), zero, g.dy()), g.x(2))};
}

// To the input that the result came from.
Grads clip_grad(const GradContext& g) {
  const Value x = g.x(0), low = g.x(1), high = g.x(2), zero = zeros_like(g.dy());
  const Value below = binary("Less", x, low), above = binary("Greater", x, high);
  return {where(binary("LogicalOr", below, above), zero, g.dy()), sum_to(where(below, g.dy(), zero), low), sum_to(where(above, g.dy(), zero), high)};
}

}  // namespace

void compare(Registry& r) {
  r.add("ApproximateEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("tolerance: float = 1e-05")
      .commutative()
      .doc("Do x and y differ by no more than the tolerance?")
      .traits({.elementwise = true})
      .shape(shapes::merge_all)
      .no_grad()
      .cpu(run_approximate_equal, types<float, double>("T"));

  r.add("ClipByValue")
      .in("t: T")
      .in("clip_value_min: T")
      .in("clip_value_max: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("t limited to the range between two bounds, each a scalar or of the shape of t.")
      .traits({.elementwise = true})
      .shape(shapes::unchanged)
      .grad(clip_grad)
      .cpu(run_clip, types<WEFT_FLOATS, WEFT_SIGNED, uint8_t, uint16_t, WEFT_COMPLEX>("T"));

  r.add("Equal")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: type")
      .attr("incompatible_shape_error: bool = true")
      .commutative()
      .doc("x == y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(equality_shape)
      .no_grad()
      .traits(broadcasting(Binary::kEqual, {.symbol = Symbol::kEqual, .made = Made::kAlways}))
      .kernel("CPU", equality(Binary::kEqual), {types<WEFT_NUMBERS, bool, qint8, quint8, qint16, quint16, qint32, tstring>("T")});

  r.add("Greater")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("x > y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kGreater, {.symbol = Symbol::kGreater, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kGreater), {types<WEFT_REALS>("T")});

  r.add("GreaterEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("x >= y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kGreaterEqual, {.symbol = Symbol::kGreaterEqual, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kGreaterEqual), {types<WEFT_REALS>("T")});

  r.add("IsFinite")
      .in("x: T")
      .out("y: bool")
      .attr("T: {bfloat16, half, float, double}")
      .doc("Is x neither infinite nor NaN?")
      .shape(shapes::unchanged)
      .traits(elementwise(Unary::kIsFinite))
      .kernel("CPU", unary(Unary::kIsFinite), {types<WEFT_FLOATS>("T")});

  r.add("IsInf")
      .in("x: T")
      .out("y: bool")
      .attr("T: {bfloat16, half, float, double}")
      .doc("Is x infinite?")
      .shape(shapes::unchanged)
      .traits(elementwise(Unary::kIsInf))
      .kernel("CPU", unary(Unary::kIsInf), {types<WEFT_FLOATS>("T")});

  r.add("IsNan")
      .in("x: T")
      .out("y: bool")
      .attr("T: {bfloat16, half, float, double}")
      .doc("Is x NaN?")
      .shape(shapes::unchanged)
      .traits(elementwise(Unary::kIsNan))
      .kernel("CPU", unary(Unary::kIsNan), {types<WEFT_FLOATS>("T")});

  r.add("Less")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("x < y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kLess, {.symbol = Symbol::kLess, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kLess), {types<WEFT_REALS>("T")});

  r.add("LessEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("x <= y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kLessEqual, {.symbol = Symbol::kLessEqual, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kLessEqual), {types<WEFT_REALS>("T")});

  r.add("LogicalAnd")
      .in("x: bool")
      .in("y: bool")
      .out("z: bool")
      .commutative()
      .doc("x and y.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kLogicalAnd, {.symbol = Symbol::kAnd, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kLogicalAnd), {});

  r.add("LogicalNot")
      .in("x: bool")
      .out("y: bool")
      .doc("not x.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kLogicalNot, {.symbol = Symbol::kNot, .made = Made::kAlways, .involution = true}))
      .kernel("CPU", unary(Unary::kLogicalNot), {});

  r.add("LogicalOr")
      .in("x: bool")
      .in("y: bool")
      .out("z: bool")
      .commutative()
      .doc("x or y.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kLogicalOr, {.symbol = Symbol::kOr, .made = Made::kAlways}))
      .kernel("CPU", binary(Binary::kLogicalOr), {});

  r.add("NotEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: type")
      .attr("incompatible_shape_error: bool = true")
      .commutative()
      .doc("x != y.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(equality_shape)
      .no_grad()
      .traits(broadcasting(Binary::kNotEqual, {.symbol = Symbol::kNotEqual, .made = Made::kAlways}))
      .kernel("CPU", equality(Binary::kNotEqual), {types<WEFT_NUMBERS, bool, qint8, quint8, qint16, quint16, qint32, tstring>("T")});

  r.add("Select")
      .in("condition: bool")
      .in("t: T")
      .in("e: T")
      .out("output: T")
      .attr("T: type")
      .doc("t where the condition holds and e elsewhere; the condition is of their shape, a scalar, or a vector that picks rows.")
      .shape(select_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, where_like(g, g.dy(), zeros_like(g.x(1))), where_like(g, zeros_like(g.x(2)), g.dy())}; })
      .cpu(run_select, types<WEFT_NUMBERS, bool, tstring, ResourceHandle, Variant>("T"));

  r.add("SelectV2")
      .in("condition: bool")
      .in("t: T")
      .in("e: T")
      .out("output: T")
      .attr("T: type")
      .doc("t where the condition holds and e elsewhere, all three broadcast.")
      .traits({.elementwise = true, .broadcasts = true})
      .shape(select_v2_shape)
      .grad(select_grad)
      .cpu(run_select_v2, types<WEFT_NUMBERS, bool, tstring, ResourceHandle, Variant>("T"));

  set_layout(r, {"ApproximateEqual"}, layouts::kOneDevice);
  set_layout(r, {"Select", "SelectV2"}, layouts::kFirstCut);
  set_api_trait(r, {"ApproximateEqual"}, ApiTrait::kDispatchesAsBinary);
}

}  // namespace weft_engine::ops

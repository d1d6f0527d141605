#include "kernels/cpu/cast.h"
#include "op/api_traits.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/op_traits.h"
#include "ops/all.h"
#include "ops/math/elementwise.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status bitcast_shape(ShapeContext& c) {
  const int64_t from = int64_t(dtype_size(c.attr<DType>("T"))), to = int64_t(dtype_size(c.attr<DType>("type")));
  PartialShape s = c.input(0);
  if (s.has_rank() && from < to) {
    if (s.rank() == 0) return invalid_argument("Shape must be at least rank 1 but is rank 0");
    const int64_t last = s.dim(-1), ratio = to / from;
    if (last >= 0 && last != ratio) return invalid_argument("Cannot bitcast due to shape. ", last, " does not match ", ratio);
    s = s.slice(0, s.rank() - 1);
  } else if (s.has_rank() && from > to) {
    s.add_dim(from / to);
  }
  c.output(0, std::move(s));
  return {};
}

Status run_bitcast(KernelContext& c) {
  const Tensor& in = c.input(0);
  const DType type = c.output_type(0);
  const int64_t from = int64_t(dtype_size(in.dtype())), to = int64_t(dtype_size(type));
  Shape shape = in.shape();
  if (from < to) {
    if (shape.rank() == 0 || shape.dim(shape.rank() - 1) != to / from)
      return invalid_argument("Cannot bitcast from ", int(in.dtype()), " to ", int(type));
    shape.remove_dim(shape.rank() - 1);
  } else if (from > to) {
    if (shape.rank() >= core::kMaxRank) return invalid_argument("Cannot bitcast from ", int(in.dtype()), " to ", int(type));
    shape.add_dim(from / to);
  }
  if (!shape.valid()) return shape.check();
  c.set_output(0, in.viewed_as(type, std::move(shape)));
  return {};
}

struct Cast {
  static Result<Cast> make(const NodeInfo& node) {
    const DType from = base_type(node.input_types()[0]), to = base_type(node.output_types()[0]);
    auto plan = kernels::CastPlan::make(from, to, node.attr<bool>("Truncate"));
    if (!plan) return unimplemented("Cast ", dtype_name(from), " to ", dtype_name(to), " is not supported");
    return Cast{*plan};
  }
  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (plan.same()) {
      c.set_output(0, in.dtype() == c.output_type(0) ? in : in.viewed_as(c.output_type(0), in.shape()));
      return {};
    }
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    const char* from = static_cast<const char*>(in.raw());
    char* to = static_cast<char*>(out->raw());
    const size_t in_size = dtype_size(in.dtype()), out_size = dtype_size(out->dtype());
    for_parts(c, in.num_elements(), plan.cost(),
              [&](int64_t begin, int64_t end) { plan.run(from + size_t(begin) * in_size, to + size_t(begin) * out_size, end - begin); });
    return {};
  }
  kernels::CastPlan plan;
};

// ---- gradients -----------------------------------------------------------------------------------------

DType complex_of(DType part) { return part == DType::kDouble ? DType::kComplex128 : DType::kComplex64; }
DType part_of(DType complex) { return complex == DType::kComplex128 ? DType::kDouble : DType::kFloat; }

Value complex(const Value& re, const Value& im) {
  return re.valid() ? re.emitter().one("Complex", {re, im}, {{"Tout", complex_of(re.dtype())}}) : re;
}
Value part(std::string_view op, const Value& x) { return x.valid() ? x.emitter().one(op, {x}, {{"Tout", part_of(x.dtype())}}) : x; }

bool continuous(DType t) {
  switch (t) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kComplex64:
    case DType::kComplex128: return true;
    default: return false;
  }
}

Grads cast_grad(const GradContext& g) {
  const DType from = g.attr<DType>("SrcT");
  if (!continuous(from) || !continuous(g.attr<DType>("DstT"))) return g.none();
  return {cast(g.dy(), from)};
}

Grads complex_grad(const GradContext& g) {
  Value re = part("Real", g.dy()), im = part("Imag", g.dy());
  sum_to_both(re, g.x(0), im, g.x(1));
  return {re, im};
}

Grads angle_grad(const GradContext& g) {
  const Value swapped = complex(part("Imag", g.x()), part("Real", g.x()));
  return {-complex(g.dy(), zeros_like(g.dy())) * unary("Reciprocal", swapped)};
}

}  // namespace

void cast(Registry& r) {
  r.add("Angle")
      .in("input: T")
      .out("output: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT")
      .doc("The angle of a complex number.")
      .shape(shapes::unchanged)
      .grad(angle_grad)
      .traits(elementwise(Unary::kAngle))
      .kernel("CPU", unary(Unary::kAngle), {types<complex64>("T"), types<float>("Tout")})
      .kernel("CPU", unary(Unary::kAngle), {types<complex128>("T"), types<double>("Tout")});

  r.add("Bitcast")
      .in("input: T")
      .out("output: type")
      .attr(
          "T: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, "
          "int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}")
      .attr(
          "type: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, "
          "int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}")
      .doc("The same memory seen as another type; a different size adds or takes the last dimension.")
      .shape(bitcast_shape)
      .cpu(run_bitcast);

  r.add("Cast")
      .in("x: SrcT")
      .out("y: DstT")
      .attr("SrcT: type")
      .attr("DstT: type")
      .attr("Truncate: bool = false")
      .doc("The elements converted to another type.")
      .traits({.elementwise = true})
      .shape(shapes::unchanged)
      .grad(cast_grad)
      .cpu<Cast>();

  r.add("Complex")
      .in("real: T")
      .in("imag: T")
      .out("out: Tout")
      .attr("T: {float, double} = DT_FLOAT")
      .attr("Tout: {complex64, complex128} = DT_COMPLEX64")
      .doc("A complex number from its parts, with broadcasting.")
      .shape(shapes::broadcast_binary)
      .grad(complex_grad)
      .traits(broadcasting(Binary::kComplex))
      .kernel("CPU", binary(Binary::kComplex), {types<float>("T"), types<complex64>("Tout")})
      .kernel("CPU", binary(Binary::kComplex), {types<double>("T"), types<complex128>("Tout")});

  r.add("ComplexAbs")
      .in("x: T")
      .out("y: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT")
      .doc("The absolute value of a complex number.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads {
        return {binary("DivNoNan", complex(g.dy(), zeros_like(g.dy())) * g.x(), complex(g.y(), zeros_like(g.y())))};
      })
      .traits(elementwise(Unary::kComplexAbs))
      .kernel("CPU", unary(Unary::kComplexAbs), {types<complex64>("T"), types<float>("Tout")})
      .kernel("CPU", unary(Unary::kComplexAbs), {types<complex128>("T"), types<double>("Tout")});

  r.add("Conj")
      .in("input: T")
      .out("output: T")
      .attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
      .doc("The complex conjugate.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {unary("Conj", g.dy())}; })
      .traits(elementwise(Unary::kConj))
      .kernel("CPU", unary(Unary::kConj), {types<WEFT_COMPLEX>("T")});

  r.add("Imag")
      .in("input: T")
      .out("output: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT")
      .doc("The imaginary part.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {complex(zeros_like(g.dy()), g.dy())}; })
      .traits(elementwise(Unary::kImag))
      .kernel("CPU", unary(Unary::kImag), {types<complex64>("T"), types<float>("Tout")})
      .kernel("CPU", unary(Unary::kImag), {types<complex128>("T"), types<double>("Tout")});

  r.add("Real")
      .in("input: T")
      .out("output: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT")
      .doc("The real part.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {complex(g.dy(), zeros_like(g.dy()))}; })
      .traits(elementwise(Unary::kReal))
      .kernel("CPU", unary(Unary::kReal), {types<complex64>("T"), types<float>("Tout")})
      .kernel("CPU", unary(Unary::kReal), {types<complex128>("T"), types<double>("Tout")});

  set_api_trait(r, {"Cast"}, ApiTrait::kOnSparseValues);
  set_api_trait(r, {"Bitcast"}, ApiTrait::kDispatchesAsUnary);
}

}  // namespace weft_engine::ops

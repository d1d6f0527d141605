// _WeftInt8Product: a quantised layer in one op. It is what UniformQuantizedDot and UniformQuantizedConvolution become together with what follows them
// (quantized_product_fuse.cc): the 8-bit product, its totals as floats, bias, activation, and these again as 8-bit numbers where another layer reads them.
#include "kernels/cpu/int8_gemm.h"
#include "op/registry.h"
#include "ops/nn/conv_common.h"
#include "ops/quantized/quantized_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::Int8Activation;

struct Int8Product {
  WindowAttrs attrs;
  std::vector<int64_t> weights;  // [k, n], or [height, width, depth, n]
  int32_t x_zero;
  kernels::Int8Finish finish;

  bool conv() const { return weights.size() == 4; }
  int64_t depth() const { return weights[weights.size() - 2]; }
  int64_t columns() const { return weights.back(); }
  int64_t k() const { return conv() ? weights[0] * weights[1] * weights[2] : weights[0]; }

  static Result<Int8Product> make(const NodeInfo& node) {
    Int8Product p{};
    p.weights = node.attr<std::vector<int64_t>>("weights");
    if (p.weights.size() != 2 && p.weights.size() != 4) return invalid_argument("weights must name 2 or 4 sizes, got ", p.weights.size());
    for (int64_t d : p.weights) {
      if (d < 1 || d > std::numeric_limits<int32_t>::max()) return invalid_argument("sizes of weights must be positive, got ", d);
    }
    WEFT_RETURN_IF_ERROR(Shape::make(p.weights).status());
    if (p.conv()) {
      WEFT_ASSIGN(p.attrs, read_conv_attrs(node, ConvKind::kConv2D));
    }
    const int64_t zero = node.attr<int64_t>("x_zero"), out_zero = node.attr<int64_t>("y_zero");
    for (int64_t z : {zero, out_zero}) {
      if (z < -128 || z > 127) return invalid_argument("zero points must be 8-bit numbers, got ", z);
    }
    p.x_zero = int32_t(zero);
    const std::string& f = node.attr<std::string>("activation");
    p.finish.activation = f == "Relu" ? Int8Activation::kRelu : f == "Relu6" ? Int8Activation::kRelu6 : Int8Activation::kNone;
    p.finish.inverse = 1.0f / node.attr<float>("y_scale");
    p.finish.zero = int32_t(out_zero);
    return p;
  }

  Status run(KernelContext& c) const {
    const Tensor &x = c.input(0), &packed = c.input(1), &scale = c.input(2), &bias = c.input(3);
    if (packed.num_elements() != kernels::int8_packed_bytes(k(), columns()))
      return invalid_argument("packed must have ", kernels::int8_packed_bytes(k(), columns()), " bytes, got ", packed.num_elements());
    for (const Tensor* t : {&scale, &bias}) {
      if (t->rank() != 1 || t->dim(0) != columns()) return invalid_argument("scale and bias must have shape [", columns(), "], got ", t->shape());
    }
    kernels::ConvGeometry g;
    WEFT_ASSIGN(Shape shape, output_shape(x.shape(), g));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    if (out->num_elements() == 0) return {};
    kernels::Int8Finish f = finish;
    f.scale = scale.data<float>(), f.bias = bias.data<float>();
    const int64_t n = columns();
    const bool bytes = out->dtype() == DType::kQint8;
    const auto done = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1, const int32_t* totals, int64_t step) {
      if (bytes) WEFT_BEST_ISA(int8_finish_bytes)(f, j0, totals, step, i1 - i0, j1 - j0, out->data<int8_t>() + i0 * n + j0, n);
      else WEFT_BEST_ISA(int8_finish_float)(f, j0, totals, step, i1 - i0, j1 - j0, out->data<float>() + i0 * n + j0, n);
    };
    if (!conv()) {
      const int64_t m = x.dim(0);
      kernels::int8_matmul({m, n, k(), packed.raw(), x_zero, 0}, {x.raw(), true, false, k()}, done, c.pool());
      return {};
    }
    WEFT_ASSIGN(Tensor shifted, c.temp(DType::kUint8, x.shape()));
    kernels::int8_shift(x.raw(), shifted.raw(), x.num_elements(), c.pool());
    kernels::int8_conv(g, kernels::int8_conv_sizes(g, packed.raw(), x_zero + 128, 0), shifted.data<uint8_t>(), done, c.pool());
    return {};
  }

  Result<Shape> output_shape(const Shape& x, kernels::ConvGeometry& g) const {
    if (conv()) {
      WEFT_ASSIGN(g, conv_geometry(attrs, x, Shape(weights)));
      if (g.groups != 1) return unimplemented("_WeftInt8Product serves convolutions with one group, got ", g.groups);
      return conv_output_shape(attrs, g);
    }
    if (x.rank() != 2 || x.dim(1) != weights[0]) return invalid_argument("x must have shape [?,", weights[0], "], got ", x);
    const int64_t dims[] = {x.dim(0), columns()};
    return Shape::make(dims);
  }
};

Status product_shape(ShapeContext& c) {
  const auto& weights = c.attr<std::vector<int64_t>>("weights");
  if (weights.size() == 2) {
    WEFT_ASSIGN(PartialShape x, c.with_rank(0, 2));
    c.output(0, PartialShape::matrix(x.has_rank() ? x.dim(0) : -1, weights[1]));
    return {};
  }
  if (weights.size() != 4) return invalid_argument("weights must name 2 or 4 sizes, got ", weights.size());
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 4));
  WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(c.node(), ConvKind::kConv2D, true));
  PartialShape out = PartialShape::unknown_of_rank(4);
  out.set_dim(0, x.dim(0));
  out.set_dim(3, weights[3]);
  for (int i = 0; i < 2; ++i) {
    WEFT_ASSIGN(int64_t d, a.out_dim(i, x.dim(a.axis(i)), weights[size_t(i)]));
    out.set_dim(a.axis(i), d);
  }
  c.output(0, std::move(out));
  return {};
}

}  // namespace

void add_int8_product(Registry& r) {
  // y = f((x - x_zero) w * scale + bias) with x and w of 8 bits; as a qint8, floor(y / y_scale + 0.5) + y_zero. `packed` is w as kernels/cpu/int8_gemm.h
  // packs it, `weights` its shape: [k, n] for a product, [height, width, depth, n] for a convolution, whose attributes are those of Conv2D.
  r.add("_WeftInt8Product")
      .in("x: qint8")
      .in("packed: uint8")
      .in("scale: float")
      .in("bias: float")
      .out("y: T")
      .attr("T: {float, qint8}")
      .attr("weights: list(int)")
      .attr("x_zero: int = 0")
      .attr("activation: {'', 'Relu', 'Relu6'} = ''")
      .attr("y_scale: float = 1.0")
      .attr("y_zero: int = 0")
      .attr("strides: list(int) = [1, 1, 1, 1]")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'} = 'VALID'")
      .attr("explicit_paddings: list(int) = []")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("A product or convolution of 8-bit numbers with a scale, a bias and an activation behind it.")
      .shape(product_shape)
      .cpu<Int8Product>();
}

}  // namespace weft_engine::ops

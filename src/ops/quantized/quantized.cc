// Arithmetic on quantised numbers.
#include "kernels/cpu/int8_gemm.h"
#include "kernels/cpu/quantize.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/quantized/quantized_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// How two shapes meet: dimensions that both share, or that one repeats, joined where they follow each
// other, as TensorFlow's BCast joins them.
struct Joined {
  int dims = 0;
  Shape out;
};

Result<Joined> join_shapes(const Shape& x, const Shape& y) {
  Joined j;
  const int rank = std::max(x.rank(), y.rank());
  std::vector<int64_t> out(static_cast<size_t>(rank));
  int previous = -1;
  for (int i = 0; i < rank; ++i) {
    const int ix = i - (rank - x.rank()), iy = i - (rank - y.rank());
    const int64_t a = ix < 0 ? 1 : x.dim(ix), b = iy < 0 ? 1 : y.dim(iy);
    if (a != b && a != 1 && b != 1) return invalid_argument("Incompatible shapes: ", x, " vs. ", y);
    out[size_t(i)] = a == 1 ? b : a;
    const int kind = a == b ? 0 : a == 1 ? 1 : 2;
    if (kind == 0 && a == 1) continue;
    if (kind != previous) ++j.dims;
    previous = kind;
  }
  j.out = Shape(out);
  return j;
}

struct Ranges {
  float min_x, max_x, min_y, max_y;
};

// Output 0 = f(x element, y element) in the patterns that TensorFlow knows; f is also told whether
// x or y is a single number (1 or 2), or neither (0).
template <class F>
Status combine(KernelContext& c, F&& f) {
  const Tensor &x = c.input(0), &y = c.input(1);
  WEFT_ASSIGN(Joined j, join_shapes(x.shape(), y.shape()));
  WEFT_ASSIGN(Tensor* z, c.allocate(0, j.out));
  const int64_t n = z->num_elements(), nx = x.num_elements(), ny = y.num_elements();
  if (n == 0) return {};
  if (j.dims > 2 || (j.dims == 2 && std::max(nx, ny) != n))
    return unimplemented("Broadcast between ", x.shape(), " and ", y.shape(), " is not supported yet.");
  const int scalar = j.dims > 1 ? 0 : nx == 1 ? 1 : ny == 1 ? 2 : 0;
  const uint8_t *a = x.data<uint8_t>(), *b = y.data<uint8_t>();
  int32_t* to = z->data<int32_t>();
  // With two joined dimensions the shorter input is repeated from its start, whichever of the two
  // dimensions it lacks: TensorFlow's answer also for a column.
  c.pool().parallel_for(n, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = f(a[i % nx], b[i % ny], scalar);
  });
  return {};
}

Result<Ranges> read_ranges(KernelContext& c) {
  Ranges r;
  WEFT_ASSIGN(r.min_x, read_range(c, 2, "min_x"));
  WEFT_ASSIGN(r.max_x, read_range(c, 3, "max_x"));
  WEFT_ASSIGN(r.min_y, read_range(c, 4, "min_y"));
  WEFT_ASSIGN(r.max_y, read_range(c, 5, "max_y"));
  return r;
}

Status run_add(KernelContext& c) {
  WEFT_ASSIGN(Ranges r, read_ranges(c));
  WEFT_RETURN_IF_ERROR(join_shapes(c.input(0).shape(), c.input(1).shape()).status());
  if (!(r.max_x > r.min_x)) return invalid_argument("max_x must be larger than min_x.");
  if (!(r.max_y > r.min_y)) return invalid_argument("max_y must be larger than min_y.");
  // Symmetric, so that adding zero changes nothing, and wide enough for the sum.
  const float range = std::max(std::abs(std::min(r.min_x, r.min_y)), std::abs(std::max(r.max_x, r.max_y))) * float(1 << 14);
  const kernels::RequantizeUp x(r.min_x, r.max_x, -range, range), y(r.min_y, r.max_y, -range, range);
  WEFT_RETURN_IF_ERROR(combine(c, [&](uint8_t a, uint8_t b, int scalar) {
    const int32_t left = scalar == 1 ? kernels::quantize<int32_t>(kernels::dequantize<uint8_t>(a, r.min_x, r.max_x), -range, range) : x(a);
    const int32_t right = scalar == 2 ? kernels::quantize<int32_t>(kernels::dequantize<uint8_t>(b, r.min_y, r.max_y), -range, range) : y(b);
    return kernels::wrap_add(left, right);
  }));
  return write_range(c, 1, -range, range);
}

Status run_mul(KernelContext& c) {
  WEFT_ASSIGN(Ranges r, read_ranges(c));
  WEFT_RETURN_IF_ERROR(join_shapes(c.input(0).shape(), c.input(1).shape()).status());
  if (!(r.max_x > r.min_x)) return invalid_argument("max_x must be larger than min_a.");
  if (!(r.max_y > r.min_y)) return invalid_argument("max_x must be larger than min_b.");
  const int32_t zero_x = int32_t(kernels::quantize_unclamped<uint8_t>(0, r.min_x, r.max_x));
  const int32_t zero_y = int32_t(kernels::quantize_unclamped<uint8_t>(0, r.min_y, r.max_y));
  WEFT_RETURN_IF_ERROR(combine(c, [&](uint8_t a, uint8_t b, int) {
    return kernels::wrap_mul(kernels::wrap_add(a, int32_t(0u - uint32_t(zero_x))), kernels::wrap_add(b, int32_t(0u - uint32_t(zero_y))));
  }));
  float low, high;
  kernels::product_range<uint8_t, uint8_t>(r.min_x, r.max_x, r.min_y, r.max_y, low, high);
  return write_range(c, 1, low, high);
}

Status run_bias_add(KernelContext& c) {
  const Tensor &in = c.input(0), &bias = c.input(1);
  WEFT_ASSIGN(float min_in, read_range(c, 2, "min_input"));
  WEFT_ASSIGN(float max_in, read_range(c, 3, "max_input"));
  WEFT_ASSIGN(float min_bias, read_range(c, 4, "min_bias"));
  WEFT_ASSIGN(float max_bias, read_range(c, 5, "max_bias"));
  if (in.rank() < 2) return invalid_argument("Input tensor must be at least 2D: ", in.shape());
  if (bias.rank() != 1) return invalid_argument("Biases must be 1D: ", bias.shape());
  if (bias.dim(0) != in.dim(in.rank() - 1))
    return invalid_argument("Must provide as many biases as the last dimension of the input tensor: ", bias.shape(), " vs. ", in.shape());
  if (in.dtype() != bias.dtype()) return unimplemented("QuantizedBiasAdd needs input and bias of one type");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const float range = std::max(max_in, std::max(-min_in, std::max(max_bias, -min_bias))) * float(1 << 17);
  const int64_t n = bias.dim(0);
  const kernels::Quantizer<int32_t> total(-range, range);
  const int32_t zero = kernels::quantize<int32_t>(0, -range, range);
  WEFT_RETURN_IF_ERROR(dispatch_quantized(in.dtype(), [&]<class I>(Tag<I>) {
    const kernels::Dequantizer<I> x(min_in, max_in), y(min_bias, max_bias);
    c.pool().parallel_for(in.num_elements(), 5, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int32_t bias_value = kernels::wrap_add(total(y(bias.data<I>()[i % n])), zero);
        out->data<int32_t>()[i] = kernels::wrap_add(total(x(in.data<I>()[i])), bias_value);
      }
    });
    return Status();
  }));
  return write_range(c, 1, -range, range);
}

Status run_relu(KernelContext& c, float most) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(float low, read_range(c, 1, "min_input"));
  WEFT_ASSIGN(float high, read_range(c, 2, "max_input"));
  if (c.output_type(0) != in.dtype()) return unimplemented("quantised activations keep their type");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  WEFT_RETURN_IF_ERROR(dispatch_quantized(in.dtype(), [&]<class I>(Tag<I>) {
    const I floor = kernels::quantize<I>(0, low, high), ceiling = most > 0 ? kernels::quantize<I>(most, low, high) : I(kernels::kHighest<I>);
    for (int64_t i = 0; i < in.num_elements(); ++i) out->data<I>()[i] = std::min(std::max(in.data<I>()[i], floor), ceiling);
    return Status();
  }));
  return write_range(c, 1, low, high);
}

Status run_relu0(KernelContext& c) { return run_relu(c, 0); }
Status run_relu6(KernelContext& c) { return run_relu(c, 6); }

Result<float> matmul_range(const KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  if (t.rank() != 0) return invalid_argument(name, " must be a scalar, but got shape", t.shape());
  return t.data<float>()[0];
}

Status run_matmul(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  WEFT_ASSIGN(float min_a, matmul_range(c, 2, "min_a"));
  WEFT_ASSIGN(float max_a, matmul_range(c, 3, "max_a"));
  WEFT_ASSIGN(float min_b, matmul_range(c, 4, "min_b"));
  WEFT_ASSIGN(float max_b, matmul_range(c, 5, "max_b"));
  if (!(max_a > min_a)) return invalid_argument("max_a must be larger than min_a.");
  if (!(max_b > min_b)) return invalid_argument("max_b must be larger than min_b.");
  if (a.rank() != 2) return invalid_argument("In[0] is not a matrix");
  if (b.rank() != 2) return invalid_argument("In[1] is not a matrix");
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  const int64_t m = a.dim(ta ? 1 : 0), k = a.dim(ta ? 0 : 1), n = b.dim(tb ? 0 : 1);
  if (k != b.dim(tb ? 1 : 0)) return invalid_argument("Matrix size-incompatible: In[0]: ", a.shape(), ", In[1]: ", b.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({m, n})));
  const int32_t zero_a = int32_t(kernels::quantize_unclamped<uint8_t>(0, min_a, max_a)),
                zero_b = int32_t(kernels::quantize_unclamped<uint8_t>(0, min_b, max_b));
  kernels::int8_matmul(m, n, k, {a.raw(), false, ta, ta ? m : k}, {b.raw(), false, tb, tb ? k : n}, zero_a, zero_b, out->data<int32_t>(), c.pool());
  float low, high;
  kernels::product_range<uint8_t, uint8_t>(min_a, max_a, min_b, max_b, low, high);
  return write_range(c, 1, low, high);
}

Status binary_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, shapes::broadcast(c.input(0), c.input(1)));
  c.output(0, std::move(s));
  c.output(1, PartialShape::scalar());
  c.output(2, PartialShape::scalar());
  return {};
}

Status matmul_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape a, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape b, c.with_rank(1, 2));
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  WEFT_RETURN_IF_ERROR(c.merge_dim(a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0)).status());
  c.output(0, PartialShape::matrix(a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)));
  c.output(1, PartialShape::scalar());
  c.output(2, PartialShape::scalar());
  return {};
}

}  // namespace

Status unchanged_with_range(ShapeContext& c) {
  c.output(0, c.input(0));
  for (int i = 1; i < c.num_outputs(); ++i) c.output(i, PartialShape::scalar());
  return {};
}

void quantized(Registry& r) {
  r.add("QuantizedAdd")
      .in("x: T1")
      .in("y: T2")
      .in("min_x: float")
      .in("max_x: float")
      .in("min_y: float")
      .in("max_y: float")
      .out("z: Toutput")
      .out("min_z: float")
      .out("max_z: float")
      .attr("T1: {qint8, quint8, qint32, qint16, quint16}")
      .attr("T2: {qint8, quint8, qint32, qint16, quint16}")
      .attr("Toutput: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32")
      .doc("Sum of two quantised arrays in 32 bits.")
      .shape(binary_shape)
      .cpu(run_add, types<quint8>("T1"), types<quint8>("T2"), types<qint32>("Toutput"));

  r.add("QuantizedBiasAdd")
      .in("input: T1")
      .in("bias: T2")
      .in("min_input: float")
      .in("max_input: float")
      .in("min_bias: float")
      .in("max_bias: float")
      .out("output: out_type")
      .out("min_out: float")
      .out("max_out: float")
      .attr("T1: {qint8, quint8, qint32, qint16, quint16}")
      .attr("T2: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16}")
      .doc("Adds a quantised bias to the last dimension.")
      .shape(unchanged_with_range)
      .cpu(run_bias_add, types<quint8, qint8>("T1"), types<quint8, qint8>("T2"), types<qint32>("out_type"));

  r.add("QuantizedMatMul")
      .in("a: T1")
      .in("b: T2")
      .in("min_a: float")
      .in("max_a: float")
      .in("min_b: float")
      .in("max_b: float")
      .out("out: Toutput")
      .out("min_out: float")
      .out("max_out: float")
      .attr("T1: {qint8, quint8, qint32, qint16, quint16}")
      .attr("T2: {qint8, quint8, qint32, qint16, quint16}")
      .attr("Toutput: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("Tactivation: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8")
      .doc("Product of two quantised matrices in 32 bits.")
      .shape(matmul_shape)
      .cpu(run_matmul, types<quint8>("T1"), types<quint8>("T2"), types<qint32>("Toutput"));

  r.add("QuantizedMul")
      .in("x: T1")
      .in("y: T2")
      .in("min_x: float")
      .in("max_x: float")
      .in("min_y: float")
      .in("max_y: float")
      .out("z: Toutput")
      .out("min_z: float")
      .out("max_z: float")
      .attr("T1: {qint8, quint8, qint32, qint16, quint16}")
      .attr("T2: {qint8, quint8, qint32, qint16, quint16}")
      .attr("Toutput: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32")
      .doc("Product of two quantised arrays in 32 bits, element by element.")
      .shape(binary_shape)
      .cpu(run_mul, types<quint8>("T1"), types<quint8>("T2"), types<qint32>("Toutput"));

  r.add("QuantizedRelu")
      .in("features: Tinput")
      .in("min_features: float")
      .in("max_features: float")
      .out("activations: out_type")
      .out("min_activations: float")
      .out("max_activations: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8")
      .doc("Quantised numbers, those below zero lifted to zero.")
      .shape(unchanged_with_range)
      .cpu(run_relu0, types<quint8, qint32>("Tinput"), types<quint8, qint32>("out_type"));

  r.add("QuantizedRelu6")
      .in("features: Tinput")
      .in("min_features: float")
      .in("max_features: float")
      .out("activations: out_type")
      .out("min_activations: float")
      .out("max_activations: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8")
      .doc("Quantised numbers clamped to the range 0 to 6.")
      .shape(unchanged_with_range)
      .cpu(run_relu6, types<quint8, qint32>("Tinput"), types<quint8, qint32>("out_type"));
}

}  // namespace weft_engine::ops

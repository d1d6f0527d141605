// Quantised convolutions and matrix products with what follows them in one op: bias, a summand, Relu, requantisation. TensorFlow runs them by
// oneDNN, whose steps are here one by one, each in float: the integers must come out equal.
//
// TensorFlow's own CPU kernels of the convolutions want a constant filter (so a graph); here the filter may be any tensor.
#include "kernels/cpu/int8_gemm.h"
#include "kernels/cpu/quantize.h"
#include "op/registry.h"
#include "ops/nn/conv_common.h"
#include "ops/quantized/quantized_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

enum class Sum { kNone, kFloat, kUnsigned, kSigned };

struct Fusion {
  std::string_view name, doc;
  bool bias = false, relu = false, requantize = false;
  Sum sum = Sum::kNone;
  bool depthwise = false, padding_list = true, signed_input = false;
  DType out = DType::kQint32;
};

constexpr Fusion kConvs[] = {
    {"QuantizedConv2D", "", false, false, false, Sum::kNone, false, false},  // registered with the other image ops
    {"QuantizedConv2DAndRelu", "QuantizedConv2D and Relu.", false, true},
    {"QuantizedConv2DAndReluAndRequantize", "QuantizedConv2D and Relu in 8 bits.", false, true, true, Sum::kNone, false, true, false, DType::kQuint8},
    {"QuantizedConv2DAndRequantize", "QuantizedConv2D in 8 bits.", false, false, true, Sum::kNone, false, true, false, DType::kQint8},
    {"QuantizedConv2DPerChannel", "QuantizedConv2D with a range for each output channel.", false, false, false, Sum::kNone, false, false},
    {"QuantizedConv2DWithBias", "QuantizedConv2D and a bias.", true, false, false, Sum::kNone, false, true, true},
    {"QuantizedConv2DWithBiasAndRelu", "QuantizedConv2D, a bias and Relu.", true, true, false, Sum::kNone, false, true, true},
    {"QuantizedConv2DWithBiasAndReluAndRequantize", "QuantizedConv2D, a bias and Relu in 8 bits.", true, true, true, Sum::kNone, false, true, true,
     DType::kQuint8},
    {"QuantizedConv2DWithBiasAndRequantize", "QuantizedConv2D and a bias in 8 bits.", true, false, true, Sum::kNone, false, true, true,
     DType::kQint8},
    {"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", "QuantizedConv2D, a bias, a signed summand and Relu in 8 bits.", true, true, true,
     Sum::kSigned, false, true, false, DType::kQuint8},
    {"QuantizedConv2DWithBiasSumAndRelu", "QuantizedConv2D, a bias, a summand and Relu.", true, true, false, Sum::kFloat},
    {"QuantizedConv2DWithBiasSumAndReluAndRequantize", "QuantizedConv2D, a bias, a summand and Relu in 8 bits.", true, true, true, Sum::kUnsigned,
     false, true, false, DType::kQuint8},
    {"QuantizedDepthwiseConv2D", "Depthwise QuantizedConv2D.", false, false, false, Sum::kNone, true, false},
    {"QuantizedDepthwiseConv2DWithBias", "Depthwise QuantizedConv2D and a bias.", true, false, false, Sum::kNone, true, false},
    {"QuantizedDepthwiseConv2DWithBiasAndRelu", "Depthwise QuantizedConv2D, a bias and Relu.", true, true, false, Sum::kNone, true},
    {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", "Depthwise QuantizedConv2D, a bias and Relu in 8 bits.", true, true, true, Sum::kNone,
     true, true, false, DType::kQuint8},
};

constexpr Fusion kProducts[] = {
    {"QuantizedMatMulWithBias", "QuantizedMatMul and a bias.", true},
    {"QuantizedMatMulWithBiasAndDequantize", "QuantizedMatMul and a bias as floats.", true, false, true, Sum::kNone, false, false, false,
     DType::kFloat},
    {"QuantizedMatMulWithBiasAndRelu", "QuantizedMatMul, a bias and Relu.", true, true},
    {"QuantizedMatMulWithBiasAndReluAndRequantize", "QuantizedMatMul, a bias and Relu in 8 bits.", true, true, true, Sum::kNone, false, false, false,
     DType::kQuint8},
    {"QuantizedMatMulWithBiasAndRequantize", "QuantizedMatMul and a bias in 8 bits.", true, false, true, Sum::kNone, false, false, false,
     DType::kQuint8},
};

template <size_t N>
const Fusion& fusion_of(const Fusion (&all)[N], std::string_view op) {
  for (const Fusion& f : all) {
    if (f.name == op) return f;
  }
  return all[0];
}

// --- the steps after the integers are summed up ---

float magnitude(float low, float high) { return std::max(std::abs(low), std::abs(high)); }

// Rounds half to even within [low, high]; a NaN becomes the lowest number.
int32_t saturate(float v, float low, float high) {
  v = v > high ? high : v < low ? low : v;
  return std::max(kernels::to_int32(std::nearbyint(v)), int32_t(low));
}

struct Epilogue {
  std::vector<float> scale;  // of a sum of products, for all channels or for each
  std::vector<float> bias;   // for each channel, or none
  const void* summand = nullptr;
  Sum sum = Sum::kNone;
  float sum_scale = 1, out_scale = 1;
  bool relu = false;

  float value(int32_t total, int64_t at, size_t channel) const {
    float v = float(total) * scale[scale.size() == 1 ? 0 : channel];
    if (!bias.empty()) v += bias[channel];
    if (sum == Sum::kFloat) v += sum_scale * static_cast<const float*>(summand)[at];
    else if (sum == Sum::kUnsigned) v += sum_scale * float(static_cast<const uint8_t*>(summand)[at]);
    else if (sum == Sum::kSigned) v += sum_scale * float(static_cast<const int8_t*>(summand)[at]);
    return relu && v < 0 ? 0.0f : v;
  }

  // From the totals of all elements to output 0.
  void finish(const int32_t* totals, Tensor& out, int64_t channels, ThreadPool& pool) const {
    const float factor = 1.0f / out_scale;
    pool.parallel_for(out.num_elements(), 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float v = value(totals[i], i, size_t(i % channels));
        switch (out.dtype()) {
          case DType::kQint8: out.data<int8_t>()[i] = int8_t(saturate(v * factor, -128, 127)); break;
          // Beside a signed summand, oneDNN writes signed numbers.
          case DType::kQuint8: out.data<uint8_t>()[i] = uint8_t(saturate(v * factor, 0, sum == Sum::kSigned ? 127 : 255)); break;
          case DType::kQint32: out.data<int32_t>()[i] = saturate(v * factor, -2147483648.0f, 2147483520.0f); break;
          default: out.data<float>()[i] = v; break;
        }
      }
    });
  }
};

// How far one step of a quantised number reaches; signed ones leave out the lowest integer.
float one_step(float low, float high, bool is_signed) { return (high - low) / (is_signed ? 254.0f : 255.0f); }

// --- convolution ---

// The totals of output rows [begin, end) of a depthwise convolution; I: int8_t or uint8_t.
template <class I>
void convolve_depthwise(const ConvGeometry& g, const I* in, const int8_t* filter, uint32_t* totals, int64_t begin, int64_t end) {
  const WindowDim &dh = g.dim[1], &dw = g.dim[2];
  const int64_t depth = g.in_channels, n = g.out_channels, each = n / depth;
  for (int64_t row = begin; row < end; ++row) {
    const I* image = in + row / dh.out * dh.in * dw.in * depth;
    const int64_t sh = dh.start(row % dh.out);
    const auto th = dh.taps(sh);
    for (int64_t w = 0; w < dw.out; ++w) {
      uint32_t* to = totals + (row * dw.out + w) * n;
      std::fill(to, to + n, 0u);
      const int64_t sw = dw.start(w);
      const auto tw = dw.taps(sw);
      for (int64_t i = th.begin; i < th.end; ++i) {
        for (int64_t j = tw.begin; j < tw.end; ++j) {
          const I* x = image + ((sh + i * dh.dilation) * dw.in + sw + j * dw.dilation) * depth;
          const int8_t* y = filter + (i * dw.window + j) * n;
          for (int64_t d = 0; d < depth; ++d) {
            const int32_t v = x[d];
            for (int64_t o = 0; o < each; ++o) to[d * each + o] += uint32_t(v * y[d * each + o]);
          }
        }
      }
    }
  }
}

struct FusedConv {
  Fusion fusion;
  WindowAttrs attrs;

  static Result<FusedConv> make(const NodeInfo& node) {
    FusedConv k{fusion_of(kConvs, node.op()), {}};
    WEFT_ASSIGN(k.attrs, read_conv_attrs(node, k.fusion.depthwise ? ConvKind::kDepthwise : ConvKind::kConv2D));
    return k;
  }

  Result<ConvGeometry> geometry(const Shape& in, const Shape& filter) const {
    if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in);
    if (filter.rank() != 4) return invalid_argument("filter must be 4-dimensional: ", filter);
    if (filter.num_elements() == 0) return invalid_argument("filter must not have zero elements (i.e. all dimensions must be non-zero)");
    if (in.dim(3) != filter.dim(2)) return invalid_argument("input and filter must have the same depth: ", in.dim(3), " vs ", filter.dim(2));
    ConvGeometry g;
    g.batch = in.dim(0);
    g.in_channels = in.dim(3);
    g.out_channels = fusion.depthwise ? shapes::mul_dim(in.dim(3), filter.dim(3)) : filter.dim(3);
    WEFT_ASSIGN(g.dim[1], attrs.window(0, in.dim(1), filter.dim(0)));
    WEFT_ASSIGN(g.dim[2], attrs.window(1, in.dim(2), filter.dim(1)));
    return g;
  }

  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    WEFT_ASSIGN(ConvGeometry g, geometry(in.shape(), filter.shape()));
    const int at = fusion.bias ? 3 : 2;
    const bool is_signed = in.dtype() == DType::kQint8;
    WEFT_ASSIGN(float min_in, read_range(c, at, "min_input"));
    WEFT_ASSIGN(float max_in, read_range(c, at + 1, "max_input"));
    const Tensor &lows = c.input(at + 2), &highs = c.input(at + 3);
    if (lows.num_elements() == 0 || lows.shape() != highs.shape())
      return invalid_argument("`min_ and max_filter` must have sameshape and contain at least one element.");
    if (lows.num_elements() != 1 && lows.num_elements() != g.out_channels)
      return invalid_argument("min_filter and max_filter must have one element or one for each of the ", g.out_channels, " output channels, got ",
                              lows.num_elements());
    const std::span<const float> low = lows.span<float>(), high = highs.span<float>();

    Epilogue e;
    e.relu = fusion.relu;
    const float range_in = magnitude(min_in, max_in), scale_in = range_in / (is_signed ? 127.0f : 255.0f);
    float least = low[0], most = high[0];
    for (size_t k = 0; k < low.size(); ++k) {
      e.scale.push_back(scale_in * (magnitude(low[k], high[k]) / 127.0f));
      least = std::min(least, low[k]), most = std::max(most, high[k]);
    }
    e.out_scale = magnitude(least, most) / 127.0f * scale_in;
    if (fusion.requantize) {
      WEFT_ASSIGN(float a, read_range(c, at + 4, "min_freezed_output"));
      WEFT_ASSIGN(float b, read_range(c, at + 5, "max_freezed_output"));
      e.out_scale = magnitude(a, b) / (fusion.out == DType::kQint8 ? 127.0f : 255.0f);
    }
    if (fusion.bias) {
      const Tensor& bias = c.input(2);
      if (bias.rank() != 1 || bias.dim(0) != g.out_channels)
        return invalid_argument("bias must have one element for each of the ", g.out_channels, " output channels, got shape ", bias.shape());
      for (int64_t k = 0; k < g.out_channels; ++k) {
        if (bias.dtype() == DType::kFloat) {
          e.bias.push_back(bias.data<float>()[k]);
        } else {  // in steps of a product of input and filter
          const size_t f = low.size() == 1 ? 0 : size_t(k);
          e.bias.push_back(float(bias.data<int32_t>()[k]) *
                           (1.0f / ((is_signed ? 127.0f * 127.0f : 255.0f * 127.0f) / (range_in * magnitude(low[f], high[f])))));
        }
      }
    }
    const Shape shape({g.batch, g.dim[1].out, g.dim[2].out, g.out_channels});
    if (fusion.sum != Sum::kNone) {
      const int s = fusion.requantize ? at + 6 : at + 4;
      const Tensor& summand = c.input(s);
      if (summand.shape() != shape) return invalid_argument("summand must have the shape of the convolution, ", shape, ", got ", summand.shape());
      e.sum = fusion.sum;
      e.summand = summand.raw();
      if (fusion.requantize) {
        WEFT_ASSIGN(float a, read_range(c, s + 1, "min_freezed_summand"));
        WEFT_ASSIGN(float b, read_range(c, s + 2, "max_freezed_summand"));
        e.sum_scale = magnitude(a, b) / (fusion.sum == Sum::kSigned ? 127.0f : 255.0f);
      }
    }

    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    WEFT_RETURN_IF_ERROR(convolve(c, g, in, filter, e, *out));
    if (fusion.requantize) return write_range(c, 1, c.input(at + 4).data<float>()[0], c.input(at + 5).data<float>()[0]);
    WEFT_ASSIGN(Tensor* out_low, c.allocate(1, lows.shape()));
    WEFT_ASSIGN(Tensor* out_high, c.allocate(2, lows.shape()));
    for (size_t k = 0; k < low.size(); ++k) {
      const float step = one_step(min_in, max_in, is_signed) * one_step(low[k], high[k], true);
      out_low->data<float>()[k] = step * -2147483648.0f;
      out_high->data<float>()[k] = step * 2147483648.0f;
    }
    return {};
  }

  Status convolve(KernelContext& c, const ConvGeometry& g, const Tensor& in, const Tensor& filter, const Epilogue& e, Tensor& out) const {
    if (out.num_elements() == 0) return {};
    WEFT_ASSIGN(Tensor totals, c.temp(DType::kInt32, out.shape()));
    if (!fusion.depthwise) {
      kernels::int8_conv(g, {in.raw(), in.dtype() == DType::kQint8}, {filter.raw(), true}, 0, 0, totals.data<int32_t>(), c.pool());
      e.finish(totals.data<int32_t>(), out, g.out_channels, c.pool());
      return {};
    }
    const double cost = double(g.dim[2].out) * double(g.dim[1].window * g.dim[2].window) * double(g.out_channels);
    c.pool().parallel_for(g.batch * g.dim[1].out, cost, [&](int64_t b, int64_t end) {
      uint32_t* to = totals.data<uint32_t>();
      if (in.dtype() == DType::kQint8) convolve_depthwise(g, in.data<int8_t>(), filter.data<int8_t>(), to, b, end);
      else convolve_depthwise(g, in.data<uint8_t>(), filter.data<int8_t>(), to, b, end);
    });
    e.finish(totals.data<int32_t>(), out, g.out_channels, c.pool());
    return {};
  }
};

}  // namespace

Status quantized_conv_shape(ShapeContext& c) {
  const Fusion& f = fusion_of(kConvs, c.node().op());
  WEFT_RETURN_IF_ERROR(conv_shape(c, f.depthwise ? ConvKind::kDepthwise : ConvKind::kConv2D));
  c.output(1, PartialShape::unknown());
  c.output(2, PartialShape::unknown());
  if (f.depthwise) return {};
  if (f.bias) WEFT_RETURN_IF_ERROR(c.with_rank(2, 1).status());
  const int at = f.bias ? 3 : 2;
  for (int i : {at, at + 1}) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  PartialShape range;
  for (int i : {at + 2, at + 3}) {
    if (f.name == "QuantizedConv2DAndRequantize" || f.name == "QuantizedConv2D") WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
    WEFT_ASSIGN(range, c.with_rank_at_most(i, 1));
  }
  if (f.requantize) {
    for (int i : {at + 4, at + 5}) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
    range = PartialShape::scalar();
  }
  c.output(1, range);
  c.output(2, range);
  return {};
}

namespace {

// --- matrix product ---

Status run_product(KernelContext& c) {
  const Fusion& fusion = fusion_of(kProducts, c.node().op());
  const Tensor &a = c.input(0), &b = c.input(1), &bias = c.input(2);
  WEFT_ASSIGN(float min_a, read_range(c, 3, "min_a"));
  WEFT_ASSIGN(float max_a, read_range(c, 4, "max_a"));
  WEFT_ASSIGN(float min_b, read_range(c, 5, "min_b"));
  WEFT_ASSIGN(float max_b, read_range(c, 6, "max_b"));
  if (a.rank() != 2) return invalid_argument("In[0] is not a matrix");
  if (b.rank() != 2) return invalid_argument("In[1] is not a matrix");
  // TensorFlow's kernels do not read transpose_a and transpose_b.
  const int64_t m = a.dim(0), depth = a.dim(1), n = b.dim(1);
  if (depth != b.dim(0)) return invalid_argument("Matrix size-incompatible: In[0]: ", a.shape(), ", In[1]: ", b.shape());
  if (bias.rank() != 1 || bias.dim(0) != n)
    return invalid_argument("bias must have one element for each of the ", n, " columns, got shape ", bias.shape());

  // Only AndDequantize knows the mode SCALED; TensorFlow runs the other ops as MIN_FIRST whatever the attribute says.
  const bool min_first = fusion.out != DType::kFloat || c.attr<std::string>("input_quant_mode") == "MIN_FIRST";
  const float range_b = magnitude(min_b, max_b), scale_b = range_b / 127.0f;
  const float scale_a = (min_first ? max_a - min_a : magnitude(min_a, max_a)) / 255.0f;
  Epilogue e;
  e.relu = fusion.relu;
  e.scale = {scale_a * scale_b};
  e.out_scale = scale_a * scale_b;
  if (fusion.requantize) {
    WEFT_ASSIGN(float low, read_range(c, 7, "min_freezed_output"));
    WEFT_ASSIGN(float high, read_range(c, 8, "max_freezed_output"));
    e.out_scale = magnitude(low, high) / 255.0f;
  }
  const int8_t* right = b.data<int8_t>();
  const float steps = float(255.0 * 127.0 / double((min_first ? max_a - min_a : max_a) * range_b)), shift = 255.0f * min_a / (max_a - min_a);
  for (int64_t j = 0; j < n; ++j) {
    if (bias.dtype() == DType::kQint32) {
      const float v = float(bias.data<int32_t>()[j]);
      e.bias.push_back(min_first ? v / steps : v * (1.0f / steps));
      continue;
    }
    uint32_t column = 0;
    for (int64_t k = 0; k < depth; ++k) column += uint32_t(int32_t(right[k * n + j]));
    e.bias.push_back(min_first ? bias.data<float>()[j] + float(int32_t(column)) * shift : bias.data<float>()[j]);
  }

  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({m, n})));
  if (out->num_elements() > 0) {
    WEFT_ASSIGN(Tensor totals, c.temp(DType::kInt32, out->shape()));
    kernels::int8_matmul(m, n, depth, {a.raw(), false, false, depth}, {right, true, false, n}, 0, 0, totals.data<int32_t>(), c.pool());
    e.finish(totals.data<int32_t>(), *out, n, c.pool());
  }
  if (fusion.out == DType::kFloat) return {};
  if (fusion.requantize) return write_range(c, 1, c.input(7).data<float>()[0], c.input(8).data<float>()[0]);
  const float step = one_step(min_a, max_a, false) * one_step(min_b, max_b, true);
  return write_range(c, 1, step * -2147483648.0f, step * 2147483648.0f);
}

Status product_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape a, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape b, c.with_rank(1, 2));
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  WEFT_RETURN_IF_ERROR(c.merge_dim(a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0)).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 1).status());
  for (int i = 3; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  c.output(0, PartialShape::matrix(a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)));
  for (int i = 1; i < c.num_outputs(); ++i) c.output(i, PartialShape::scalar());
  return {};
}

void add_conv(Registry& r, const Fusion& f) {
  OpBuilder b = r.add(f.name);
  b.in("input: Tinput").in("filter: Tfilter");
  const bool any_bias = f.bias && f.requantize;
  if (f.bias) b.in(any_bias ? "bias: Tbias" : "bias: float");
  b.in("min_input: float").in("max_input: float").in("min_filter: float").in("max_filter: float");
  if (f.requantize) b.in("min_freezed_output: float").in("max_freezed_output: float");
  if (f.sum == Sum::kFloat) b.in("summand: float");
  else if (f.sum != Sum::kNone) b.in("summand: Tsummand").in("min_summand: float").in("max_summand: float");
  b.out("output: out_type").out("min_output: float").out("max_output: float");
  b.attr("Tinput: {qint8, quint8, qint32, qint16, quint16}").attr("Tfilter: {qint8, quint8, qint32, qint16, quint16}");
  if (any_bias) b.attr("Tbias: {float, qint32}");
  if (f.requantize && f.sum != Sum::kNone) b.attr("Tsummand: {qint8, quint8, qint32, qint16, quint16}");
  b.attr(f.out == DType::kQint32   ? "out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32"
         : f.out == DType::kQuint8 ? "out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8"
                                   : "out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QINT8");
  b.attr("strides: list(int)").attr("padding: {'SAME', 'VALID'}").attr("dilations: list(int) = [1, 1, 1, 1]");
  if (f.padding_list) b.attr("padding_list: list(int) = []");
  b.doc(f.doc).shape(quantized_conv_shape);
  std::vector<TypeConstraint> types_of = {f.signed_input ? types<quint8, qint8>("Tinput") : types<quint8>("Tinput"), types<qint8>("Tfilter"),
                                          f.out == DType::kQint32   ? types<qint32>("out_type")
                                          : f.out == DType::kQuint8 ? types<quint8>("out_type")
                                                                    : types<qint8>("out_type")};
  if (f.requantize && f.sum != Sum::kNone) types_of.push_back(f.sum == Sum::kSigned ? types<qint8>("Tsummand") : types<quint8>("Tsummand"));
  b.kernel("CPU", &StructKernel<FusedConv>::create, std::move(types_of));
}

void add_product(Registry& r, const Fusion& f) {
  OpBuilder b = r.add(f.name);
  const bool any_bias = !(f.relu && !f.requantize);
  b.in("a: T1").in("b: T2").in(any_bias ? "bias: Tbias" : "bias: float");
  b.in("min_a: float").in("max_a: float").in("min_b: float").in("max_b: float");
  if (f.requantize) b.in("min_freezed_output: float").in("max_freezed_output: float");
  b.out("out: Toutput");
  if (f.out != DType::kFloat) b.out("min_out: float").out("max_out: float");
  b.attr("T1: {qint8, quint8, qint32, qint16, quint16}").attr("T2: {qint8, quint8, qint32, qint16, quint16}");
  if (any_bias) b.attr("Tbias: {float, qint32}");
  b.attr(f.out == DType::kFloat    ? "Toutput: {float}"
         : f.out == DType::kQint32 ? "Toutput: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32"
                                   : "Toutput: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8");
  b.attr("transpose_a: bool = false").attr("transpose_b: bool = false").attr("input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'");
  b.doc(f.doc).shape(product_shape);
  b.cpu(run_product, types<quint8>("T1"), types<qint8>("T2"),
        f.out == DType::kFloat    ? types<float>("Toutput")
        : f.out == DType::kQint32 ? types<qint32>("Toutput")
                                  : types<quint8>("Toutput"));
}

}  // namespace

Result<std::unique_ptr<Kernel>> make_signed_filter_conv(const NodeInfo& node) { return StructKernel<FusedConv>::create(node); }

void quantized_fused(Registry& r) {
  for (const Fusion& f : kConvs) {
    if (!f.doc.empty()) add_conv(r, f);
  }
  for (const Fusion& f : kProducts) add_product(r, f);
  add_int8_product(r);
}

}  // namespace weft_engine::ops

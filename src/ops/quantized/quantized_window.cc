// Quantised images: convolution, pools, normalisation, resizing.
#include <cstring>

#include "kernels/cpu/pool.h"
#include "kernels/cpu/quantize.h"
#include "op/registry.h"
#include "ops/quantized/quantized_common.h"
#include "ops/nn/window.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct ConvSizes {
  int64_t batch, depth, out_depth;
  WindowDim h, w;
};

Result<ConvSizes> conv_sizes(const NodeInfo& node, const Shape& in, const Shape& filter) {
  const auto& strides = node.attr<std::vector<int64_t>>("strides");
  const auto& dilations = node.attr<std::vector<int64_t>>("dilations");
  WEFT_RETURN_IF_ERROR(check_int32_attr("strides", strides));
  if (strides.size() != 4) return invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (strides[1] != strides[2])
    return invalid_argument("Current implementation only supports equal length strides in the row and column dimensions.");
  if (strides[0] != 1 || strides[3] != 1)
    return invalid_argument("Current implementation does not yet support strides in the batch and depth dimensions.");
  for (int64_t v : dilations) {
    if (v != 1) return invalid_argument("Current implementation only supports dilated rate as 1 in the row and column dimensions.");
  }
  if (in.rank() != 4) return invalid_argument("input must be rank 4 but is rank ", in.rank());
  if (filter.rank() != 4) return invalid_argument("filter must be rank 4 but is rank ", filter.rank());
  if (in.dim(3) != filter.dim(2)) return invalid_argument("input and filter must have the same depth: ", in.dim(3), " vs ", filter.dim(2));
  const std::string& padding = node.attr<std::string>("padding");
  ConvSizes s{in.dim(0), in.dim(3), filter.dim(3), {}, {}};
  WEFT_ASSIGN(s.h, make_window(in.dim(1), filter.dim(0), strides[1], 1, padding));
  WEFT_ASSIGN(s.w, make_window(in.dim(2), filter.dim(1), strides[2], 1, padding));
  // What VALID leaves over is shared between both sides, as in TensorFlow's kernel.
  const int64_t up = padding == "VALID" ? 1 : 0;
  for (WindowDim* d : {&s.h, &s.w}) d->before = d->out > 0 ? ((d->out - 1) * d->stride + d->window - d->in + up) / 2 : 0;
  return s;
}

void convolve(const ConvSizes& s, const uint8_t* in, int32_t zero_in, const uint8_t* filter, int32_t zero_filter, uint32_t* out, ThreadPool& pool) {
  const int64_t n = s.out_depth;
  pool.parallel_for(s.batch * s.h.out, double(s.w.out) * double(s.h.window * s.w.window) * double(s.depth) * double(n),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t row = begin; row < end; ++row) {
                        const uint8_t* image = in + row / s.h.out * s.h.in * s.w.in * s.depth;
                        const int64_t sh = s.h.start(row % s.h.out);
                        const auto th = s.h.taps(sh);
                        for (int64_t w = 0; w < s.w.out; ++w) {
                          uint32_t* to = out + (row * s.w.out + w) * n;
                          std::fill(to, to + n, 0u);
                          const int64_t sw = s.w.start(w);
                          const auto tw = s.w.taps(sw);
                          for (int64_t i = th.begin; i < th.end; ++i) {
                            for (int64_t j = tw.begin; j < tw.end; ++j) {
                              const uint8_t* x = image + ((sh + i) * s.w.in + sw + j) * s.depth;
                              const uint8_t* y = filter + (i * s.w.window + j) * s.depth * n;
                              for (int64_t d = 0; d < s.depth; ++d) {
                                const uint32_t v = uint32_t(x[d]) - uint32_t(zero_in);
                                for (int64_t o = 0; o < n; ++o) to[o] += v * (uint32_t(y[d * n + o]) - uint32_t(zero_filter));
                              }
                            }
                          }
                        }
                      }
                    });
}

Status run_conv(KernelContext& c) {
  const Tensor &in = c.input(0), &filter = c.input(1);
  WEFT_ASSIGN(ConvSizes s, conv_sizes(c.node(), in.shape(), filter.shape()));
  WEFT_ASSIGN(float min_in, read_range(c, 2, "min_input"));
  WEFT_ASSIGN(float max_in, read_range(c, 3, "max_input"));
  WEFT_ASSIGN(float min_filter, read_range(c, 4, "min_filter"));
  WEFT_ASSIGN(float max_filter, read_range(c, 5, "max_filter"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({s.batch, s.h.out, s.w.out, s.out_depth})));
  const int32_t zero_in = int32_t(kernels::quantize_unclamped<uint8_t>(0, min_in, max_in));
  const int32_t zero_filter = int32_t(kernels::quantize_unclamped<uint8_t>(0, min_filter, max_filter));
  if (out->num_elements() > 0) convolve(s, in.data<uint8_t>(), zero_in, filter.data<uint8_t>(), zero_filter, out->data<uint32_t>(), c.pool());
  float low = 0, high = 0;
  kernels::product_range<uint8_t, uint8_t>(min_in, max_in, min_filter, max_filter, low, high);
  return write_range(c, 1, low, high);
}

// --- pools ---

Result<kernels::PoolGeometry> pool_geometry(const NodeInfo& node, const Shape& in) {
  WindowAttrs a;
  a.strides = node.attr<std::vector<int64_t>>("strides");
  a.padding = node.attr<std::string>("padding");
  const auto& ksize = node.attr<std::vector<int64_t>>("ksize");
  WEFT_RETURN_IF_ERROR(check_int32_attr("ksize", ksize));
  WEFT_RETURN_IF_ERROR(check_int32_attr("strides", a.strides));
  if (ksize.size() != 4) return invalid_argument("Sliding window ksize field must specify 4 dimensions");
  if (a.strides.size() != 4) return invalid_argument("Sliding window strides field must specify 4 dimensions");
  for (int64_t k : ksize) {
    if (k <= 0) return invalid_argument("Sliding window ksize must be positive. The specified or inferred ksize is: ", join(ksize));
  }
  if (ksize[0] != 1 || a.strides[0] != 1) return unimplemented("Pooling is not yet supported on the batch dimension.");
  if (in.rank() != 4) return invalid_argument("tensor_in_shape must have 2 spatial dimensions. ", in.rank(), " 0");
  if (ksize[3] != 1) return unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)");
  kernels::PoolGeometry g{.batch = in.dim(0), .channels = in.dim(3), .dim = {}};
  WEFT_ASSIGN(g.dim[1], a.window(0, in.dim(1), ksize[1]));
  WEFT_ASSIGN(g.dim[2], a.window(1, in.dim(2), ksize[2]));
  return g;
}

template <class I>
void average(const kernels::PoolGeometry& g, const I* in, I* out, ThreadPool& pool) {
  pool.parallel_for(g.batch * g.out_positions(), 10.0 * double(g.channels), [&](int64_t begin, int64_t end) {
    kernels::for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto, auto h, auto w) {
      const int64_t count = std::max<int64_t>(1, h.size() * w.size());
      for (int64_t c = 0; c < g.channels; ++c) {
        int64_t sum = 0;
        for (int64_t y = h.begin; y < h.end; ++y) {
          for (int64_t x = w.begin; x < w.end; ++x) sum += in[b * g.in_size() + (y * g.dim[2].in + x) * g.channels + c];
        }
        out[p * g.channels + c] = I(std::nearbyint(float(sum) / float(count)));
      }
    });
  });
}

template <bool kMax>
Status run_pool(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(kernels::PoolGeometry g, pool_geometry(c.node(), in.shape()));
  WEFT_ASSIGN(float low, read_range(c, 1, "min_input"));
  WEFT_ASSIGN(float high, read_range(c, 2, "max_input"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({g.batch, g.dim[1].out, g.dim[2].out, g.channels})));
  if (out->num_elements() > 0) {
    WEFT_RETURN_IF_ERROR(dispatch_quantized(in.dtype(), [&]<class I>(Tag<I>) {
      if constexpr (sizeof(I) == 1) {
        if (kMax) kernels::max_pool(g, in.data<I>(), out->data<I>(), c.pool());
        else average(g, in.data<I>(), out->data<I>(), c.pool());
        return Status();
      } else {
        return unimplemented("no kernel for this type");
      }
    }));
  }
  return write_range(c, 1, low, high);
}

Status pool_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  PartialShape out({in.dim(0), kUnknownDim, kUnknownDim, in.dim(3)});
  if (const auto s = in.concrete()) {
    WEFT_ASSIGN(kernels::PoolGeometry g, pool_geometry(c.node(), *s));
    out.set_dim(1, g.dim[1].out);
    out.set_dim(2, g.dim[2].out);
  }
  c.output(0, std::move(out));
  c.output(1, PartialShape::scalar());
  c.output(2, PartialShape::scalar());
  return {};
}

// --- normalisation ---

Status run_instance_norm(KernelContext& c) {
  const Tensor& in = c.input(0);
  const float epsilon = c.attr<float>("variance_epsilon"), separation = c.attr<float>("min_separation");
  const bool given = c.attr<bool>("output_range_given");
  float low = c.attr<float>("given_y_min"), high = c.attr<float>("given_y_max");
  if (given && !(low < high)) return invalid_argument("given_y_min must be less than given_y_max : ", low, " >= ", high);
  WEFT_ASSIGN(float min, read_range(c, 1, "x_min"));
  WEFT_ASSIGN(float max, read_range(c, 2, "x_max"));
  if (!(min < max)) return invalid_argument("input_min must be less than input_max : ", min, " >= ", max);
  if (in.rank() != 4) return invalid_argument("x must be rank 4 but is rank ", in.rank());
  const float scale = (max - min) / 255.0f;
  const int64_t channels = in.dim(3), positions = in.dim(1) * in.dim(2);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  WEFT_ASSIGN(Tensor normed, c.temp(DType::kFloat, in.shape()));
  const uint8_t* x = in.data<uint8_t>();
  float *y = normed.data<float>(), least = std::numeric_limits<float>::infinity(), most = -least;
  for (int64_t b = 0; in.num_elements() > 0 && b < in.dim(0); ++b) {
    for (int64_t ch = 0; ch < channels; ++ch) {
      const int64_t base = b * positions * channels + ch;
      float sum = 0, squares = 0;
      for (int64_t p = 0; p < positions; ++p) sum += float(x[base + p * channels]);
      const float mean = sum / float(positions);
      for (int64_t p = 0; p < positions; ++p) {
        const float v = scale * (float(x[base + p * channels]) - mean);
        squares += v * v;
      }
      const float inverse = 1.0f / std::sqrt(squares / float(positions) + epsilon);
      for (int64_t p = 0; p < positions; ++p) {
        const float v = scale * (float(x[base + p * channels]) - mean) * inverse;
        y[base + p * channels] = v;
        least = std::min(least, v), most = std::max(most, v);
      }
    }
  }
  if (!given) low = least, high = most;
  if (high - low < separation) high = low + separation;
  const kernels::Quantizer<uint8_t> q(low, high);
  for (int64_t i = 0; i < in.num_elements(); ++i) out->data<uint8_t>()[i] = q(y[i]);
  return write_range(c, 1, low, high);
}

Status run_batch_norm(KernelContext& c) {
  static constexpr const char* kNames[] = {"input", "mean", "var", "beta", "gamma"};
  float low[5], high[5];
  for (int i = 0; i < 5; ++i) {
    WEFT_ASSIGN(low[i], read_range(c, 3 * i + 1, cat(kNames[i], "_min")));
    WEFT_ASSIGN(high[i], read_range(c, 3 * i + 2, cat(kNames[i], "_max")));
  }
  const Tensor& in = c.input(0);
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in.shape());
  const int64_t depth = in.dim(3);
  for (int i = 1; i < 5; ++i) {
    const Tensor& t = c.input(3 * i);
    if (t.rank() != 1) return invalid_argument(kNames[i], " must be 1-dimensional", t.shape());
    if (t.dim(0) != depth)
      return invalid_argument("Must provide as many ", kNames[i], "s as the last dimension of the input tensor: ", t.shape(), " vs. ", in.shape());
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  // Fixed point with ten bits behind the point: typical numbers fit without loss.
  const float range = float(1 << 20);
  const float epsilon = c.attr<float>("variance_epsilon");
  const bool use_gamma = c.attr<bool>("scale_after_normalization");
  const int32_t one = kernels::quantize<int32_t>(1.0f, -range, range);
  auto value = [&](int i, int64_t ch) { return kernels::dequantize<uint8_t>(c.input(3 * i).data<uint8_t>()[ch], low[i], high[i]); };
  const int64_t rows = depth > 0 ? in.num_elements() / depth : 0;
  for (int64_t ch = 0; ch < depth; ++ch) {
    float scale = 1.0f / std::sqrt(value(2, ch) + epsilon);
    if (use_gamma) scale *= value(4, ch);
    const float offset = -value(1, ch) * scale + value(3, ch);
    const int32_t a = kernels::quantize<int32_t>(scale, -range, range), b = kernels::quantize<int32_t>(offset, -range, range);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = r * depth + ch;
      const int32_t x = kernels::quantize<int32_t>(kernels::dequantize<uint8_t>(in.data<uint8_t>()[at], low[0], high[0]), -range, range);
      out->data<int32_t>()[at] = kernels::wrap_add(kernels::wrap_mul(x, a) / one, b);
    }
  }
  return write_range(c, 1, -range, range);
}

// --- resizing ---

struct Lerp {
  int64_t lower, upper;
  float fraction;
};

std::vector<Lerp> lerps(int64_t out, int64_t in, bool align_corners, bool half_pixel) {
  const float scale = align_corners && out > 1 ? float(in - 1) / float(out - 1) : float(in) / float(out);
  std::vector<Lerp> result(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float x = half_pixel ? (float(i) + 0.5f) * scale - 0.5f : float(i) * scale, floor = std::floor(x);
    const int64_t upper = std::min(int64_t(std::ceil(x)), in - 1), lower = std::max<int64_t>(int64_t(floor), 0);
    result[size_t(i)] = {std::min(lower, upper), upper, x - floor};
  }
  return result;
}

// Integers are mixed in fixed point with kBits bits of fraction.
template <int kBits>
int64_t mix(int64_t tl, int64_t tr, int64_t bl, int64_t br, float fx, float fy) {
  constexpr int64_t kOne = int64_t(1) << kBits;
  const int64_t x = int64_t(fx * float(kOne)), y = int64_t(fy * float(kOne));
  const int64_t top = tl * kOne + (tr - tl) * x, bottom = bl * kOne + (br - bl) * x;
  return (top + (bottom - top) / kOne * y + kOne / 2) / kOne;
}

template <class T>
T blend(T tl, T tr, T bl, T br, float fx, float fy) {
  if constexpr (std::is_same_v<T, float>) {
    const float top = tl + (tr - tl) * fx, bottom = bl + (br - bl) * fx;
    return top + (bottom - top) * fy;
  } else if constexpr (sizeof(T) == 1) {
    return T(mix<7>(tl, tr, bl, br, fx, fy));
  } else {
    // TensorFlow's qint32 turns into an integer by way of a float, which keeps 24 bits.
    auto f = [](T v) { return int64_t(float(v)); };
    return T(mix<30>(f(tl), f(tr), f(bl), f(br), fx, fy));
  }
}

Status run_resize(KernelContext& c) {
  const Tensor &in = c.input(0), &size = c.input(1);
  if (c.input(2).rank() != 0) return invalid_argument("min must be a scalar");
  if (c.input(3).rank() != 0) return invalid_argument("max must be a scalar");
  const float low = c.input(2).data<float>()[0], high = c.input(3).data<float>()[0];
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in.shape());
  if (size.rank() != 1) return invalid_argument("shape_t must be 1-dimensional", size.shape());
  if (size.num_elements() != 2) return invalid_argument("shape_t must have two elements", size.shape());
  const int64_t h = size.data<int32_t>()[0], w = size.data<int32_t>()[1], depth = in.dim(3);
  if (h <= 0 || w <= 0) return invalid_argument("output dimensions must be positive");
  if (in.dim(1) <= 0 || in.dim(2) <= 0 || depth <= 0) return invalid_argument("input image must be of non-zero size");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({in.dim(0), h, w, depth})));
  WEFT_RETURN_IF_ERROR(write_range(c, 1, low, high));
  if (out->num_elements() == 0) return {};
  if (h == in.dim(1) && w == in.dim(2)) {
    std::memcpy(out->raw(), in.raw(), in.byte_size());
    return {};
  }
  const bool align = c.attr<bool>("align_corners"), half_pixel = c.attr<bool>("half_pixel_centers");
  const auto ys = lerps(h, in.dim(1), align, half_pixel), xs = lerps(w, in.dim(2), align, half_pixel);
  auto run = [&]<class T>(Tag<T>) {
    c.pool().parallel_for(in.dim(0) * h, 10.0 * double(w * depth), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const Lerp& y = ys[size_t(row % h)];
        const T* image = in.data<T>() + row / h * in.dim(1) * in.dim(2) * depth;
        const T *top = image + y.lower * in.dim(2) * depth, *bottom = image + y.upper * in.dim(2) * depth;
        T* to = out->data<T>() + row * w * depth;
        for (const Lerp& x : xs) {
          for (int64_t d = 0; d < depth; ++d) {
            const int64_t l = x.lower * depth + d, r = x.upper * depth + d;
            *to++ = blend<T>(top[l], top[r], bottom[l], bottom[r], x.fraction, y.fraction);
          }
        }
      }
    });
    return Status();
  };
  if (in.dtype() == DType::kFloat) return run(Tag<float>{});
  if (in.dtype() == DType::kQuint8) return run(Tag<uint8_t>{});
  return run(Tag<int32_t>{});
}

Status resize_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 4));
  PartialShape out({in.dim(0), kUnknownDim, kUnknownDim, in.dim(3)});
  if (const auto size = c.constant_ints(1); size && size->size() == 2 && (*size)[0] >= 0 && (*size)[1] >= 0) {
    out.set_dim(1, (*size)[0]);
    out.set_dim(2, (*size)[1]);
  }
  c.output(0, std::move(out));
  c.output(1, PartialShape::scalar());
  c.output(2, PartialShape::scalar());
  return {};
}

}  // namespace

void quantized_window(Registry& r) {
  r.add("QuantizedAvgPool")
      .in("input: T")
      .in("min_input: float")
      .in("max_input: float")
      .out("output: T")
      .out("min_output: float")
      .out("max_output: float")
      .attr("T: {qint8, quint8, qint32, qint16, quint16}")
      .attr("ksize: list(int)")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("AvgPool of quantised numbers.")
      .shape(pool_shape)
      .cpu(run_pool<false>, types<quint8, qint8>("T"));

  r.add("QuantizedBatchNormWithGlobalNormalization")
      .in("t: Tinput")
      .in("t_min: float")
      .in("t_max: float")
      .in("m: Tinput")
      .in("m_min: float")
      .in("m_max: float")
      .in("v: Tinput")
      .in("v_min: float")
      .in("v_max: float")
      .in("beta: Tinput")
      .in("beta_min: float")
      .in("beta_max: float")
      .in("gamma: Tinput")
      .in("gamma_min: float")
      .in("gamma_max: float")
      .out("result: out_type")
      .out("result_min: float")
      .out("result_max: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16}")
      .attr("variance_epsilon: float")
      .attr("scale_after_normalization: bool")
      .doc("Batch normalisation of quantised images in fixed point.")
      .shape(unchanged_with_range)
      .cpu(run_batch_norm, types<quint8>("Tinput"), types<qint32>("out_type"));

  r.add("QuantizedConv2D")
      .in("input: Tinput")
      .in("filter: Tfilter")
      .in("min_input: float")
      .in("max_input: float")
      .in("min_filter: float")
      .in("max_filter: float")
      .out("output: out_type")
      .out("min_output: float")
      .out("max_output: float")
      .attr("Tinput: {qint8, quint8, qint32, qint16, quint16}")
      .attr("Tfilter: {qint8, quint8, qint32, qint16, quint16}")
      .attr("out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Conv2D of quantised images in 32 bits.")
      .shape(quantized_conv_shape)
      .cpu(run_conv, types<quint8>("Tinput"), types<quint8>("Tfilter"), types<qint32>("out_type"))
      .cpu_make(make_signed_filter_conv, types<quint8>("Tinput"), types<qint8>("Tfilter"), types<qint32>("out_type"));

  r.add("QuantizedInstanceNorm")
      .in("x: T")
      .in("x_min: float")
      .in("x_max: float")
      .out("y: T")
      .out("y_min: float")
      .out("y_max: float")
      .attr("T: {qint8, quint8, qint32, qint16, quint16}")
      .attr("output_range_given: bool = false")
      .attr("given_y_min: float = 0")
      .attr("given_y_max: float = 0")
      .attr("variance_epsilon: float = 1e-05")
      .attr("min_separation: float = 0.001")
      .doc("Normalises each channel of each quantised image.")
      .shape(unchanged_with_range)
      .cpu(run_instance_norm, types<quint8>("T"));

  r.add("QuantizedMaxPool")
      .in("input: T")
      .in("min_input: float")
      .in("max_input: float")
      .out("output: T")
      .out("min_output: float")
      .out("max_output: float")
      .attr("T: {qint8, quint8, qint32, qint16, quint16}")
      .attr("ksize: list(int)")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("MaxPool of quantised numbers.")
      .shape(pool_shape)
      .cpu(run_pool<true>, types<quint8, qint8>("T"));

  r.add("QuantizedResizeBilinear")
      .in("images: T")
      .in("size: int32")
      .in("min: float")
      .in("max: float")
      .out("resized_images: T")
      .out("out_min: float")
      .out("out_max: float")
      .attr("T: {quint8, qint32, float}")
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .doc("Bilinear resizing of quantised images.")
      .shape(resize_shape)
      .cpu(run_resize);
}

}  // namespace weft_engine::ops

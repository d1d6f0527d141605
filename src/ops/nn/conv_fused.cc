// Convolutions joined with what is before them (mirror padding, bilinear resizing) or after them
// (bias or normalisation, and an activation).
#include <cmath>

#include "op/registry.h"
#include "ops/nn/conv_common.h"
#include "ops/nn/epilogue.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The sizes after mirror padding, and the padding in front of each dimension.
Status check_mirror(const Tensor& paddings, const Shape& in, bool reflect, Shape& out, int64_t before[4]) {
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in);
  if (paddings.rank() != 2 || paddings.dim(1) != 2) return invalid_argument("paddings must be a matrix with 2 columns: ", paddings.shape());
  if (paddings.dim(0) != 4) return invalid_argument("The first dimension of paddings must be the rank of inputs: 4 ", paddings.shape(), " ", in);
  out = in;
  for (int i = 0; i < 4; ++i) {
    const int64_t a = paddings.data<int32_t>()[2 * i], b = paddings.data<int32_t>()[2 * i + 1], size = in.dim(i);
    if (a < 0 || b < 0) return invalid_argument("paddings must be non-negative: ", a, " ", b);
    if (reflect && (a >= size || b >= size) && (a || b))
      return invalid_argument("paddings must be less than the dimension size: ", a, ", ", b, " not less than ", size);
    if (!reflect && (a > size || b > size))
      return invalid_argument("paddings must be no greater than the dimension size: ", a, ", ", b, " greater than ", size);
    if ((i == 0 || i == 3) && (a || b))
      return invalid_argument("Fused mirror padding only support spatial padding, not ", i == 0 ? "batches" : "channels", ": ", paddings.shape());
    before[i] = a;
    out.set_dim(i, size + a + b);
  }
  return {};
}

int64_t mirrored(int64_t i, int64_t size, int64_t offset) {
  if (i < 0) return -i - 1 + offset;
  if (i >= size) return 2 * size - 1 - i - offset;
  return i;
}

template <class T>
void mirror_pad(const Tensor& in, Tensor& out, const int64_t before[4], int64_t offset, ThreadPool& pool) {
  const int64_t depth = in.dim(3), h = in.dim(1), w = in.dim(2), out_h = out.dim(1), out_w = out.dim(2);
  pool.parallel_for(in.dim(0) * out_h, double(out_w) * double(depth), [&](int64_t b, int64_t e) {
    for (int64_t row = b; row < e; ++row) {
      const int64_t y = mirrored(row % out_h - before[1], h, offset);
      const T* from = in.data<T>() + (row / out_h * h + y) * w * depth;
      T* to = out.data<T>() + row * out_w * depth;
      for (int64_t i = 0; i < out_w; ++i) {
        const int64_t x = mirrored(i - before[2], w, offset);
        std::copy(from + x * depth, from + (x + 1) * depth, to + i * depth);
      }
    }
  });
}

// Bilinear, in the type of the image, as ResizeBilinear without half pixel centres.
template <class T>
void resize(const Tensor& in, Tensor& out, bool align_corners, ThreadPool& pool) {
  const int64_t depth = in.dim(3), h = in.dim(1), w = in.dim(2), out_h = out.dim(1), out_w = out.dim(2);
  auto scale = [&](int64_t from, int64_t to) { return align_corners && to > 1 ? float(from - 1) / float(to - 1) : float(from) / float(to); };
  const float sh = scale(h, out_h), sw = scale(w, out_w);
  pool.parallel_for(in.dim(0) * out_h, double(out_w) * double(depth) * 4, [&](int64_t b, int64_t e) {
    for (int64_t row = b; row < e; ++row) {
      const float y = float(row % out_h) * sh;
      const int64_t y0 = std::min(int64_t(std::floor(y)), h - 1), y1 = std::min(int64_t(std::ceil(y)), h - 1);
      const T dy = T(y - float(y0));
      const T* image = in.data<T>() + row / out_h * h * w * depth;
      for (int64_t i = 0; i < out_w; ++i) {
        const float x = float(i) * sw;
        const int64_t x0 = std::min(int64_t(std::floor(x)), w - 1), x1 = std::min(int64_t(std::ceil(x)), w - 1);
        const T dx = T(x - float(x0));
        T* to = out.data<T>() + (row * out_w + i) * depth;
        for (int64_t d = 0; d < depth; ++d) {
          const T a = image[(y0 * w + x0) * depth + d], b1 = image[(y0 * w + x1) * depth + d];
          const T c0 = image[(y1 * w + x0) * depth + d], d1 = image[(y1 * w + x1) * depth + d];
          const T top = a + (b1 - a) * dx, bottom = c0 + (d1 - c0) * dx;
          to[d] = top + (bottom - top) * dy;
        }
      }
    }
  });
}

Status pad_and_convolve(KernelContext& c, Tensor in, const Tensor& paddings, const Tensor& filter) {
  WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(c.node(), ConvKind::kConv2D));
  const bool reflect = c.attr<std::string>("mode") == "REFLECT";
  Shape shape;
  int64_t before[4];
  WEFT_RETURN_IF_ERROR(check_mirror(paddings, in.shape(), reflect, shape, before));
  if (filter.rank() != 4) return invalid_argument("filter must be 4-dimensional: ", filter.shape());
  if (in.dim(3) != filter.dim(2)) return invalid_argument("input and filter must have the same depth: ", in.dim(3), " vs ", filter.dim(2));
  WEFT_ASSIGN(Tensor padded, c.temp(in.dtype(), shape));
  if (padded.num_elements() > 0) {
    WEFT_RETURN_IF_ERROR((dispatch<WEFT_FLOATS>(in.dtype(), [&]<class T>(Tag<T>) {
      mirror_pad<T>(in, padded, before, reflect ? 1 : 0, c.pool());
      return Status();
    })));
  }
  return convolve(c, a, padded, filter);
}

Status run_pad_conv(KernelContext& c) { return pad_and_convolve(c, c.input(0), c.input(1), c.input(2)); }

Status run_resize_pad_conv(KernelContext& c) {
  const Tensor &in = c.input(0), &size = c.input(1);
  WEFT_RETURN_IF_ERROR(read_conv_attrs(c.node(), ConvKind::kConv2D).status());
  if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in.shape());
  if (size.rank() != 1) return invalid_argument("shape_t must be 1-dimensional", size.shape());
  if (size.num_elements() != 2) return invalid_argument("shape_t must have two elements", size.shape());
  const int64_t h = size.data<int32_t>()[0], w = size.data<int32_t>()[1];
  if (h <= 0 || w <= 0) return invalid_argument("output dimensions must be positive");
  if (in.num_elements() == 0) return invalid_argument("Input tensor can't be empty");
  WEFT_ASSIGN(Tensor resized, c.temp(in.dtype(), Shape({in.dim(0), h, w, in.dim(3)})));
  WEFT_RETURN_IF_ERROR((dispatch<half, float, double>(in.dtype(), [&]<class T>(Tag<T>) {
    resize<T>(in, resized, c.attr<bool>("resize_align_corners"), c.pool());
    return Status();
  })));
  return pad_and_convolve(c, resized, c.input(2), c.input(3));
}

// --- _FusedConv2D ---

using kernels::Epilogue;

struct FusedConv2D {
  WindowAttrs attrs;
  bool normalise = false;
  Epilogue activation = Epilogue::kNone;
  kernels::Epilogue epilogue = kernels::Epilogue::kNone;  // the same, for floats
  float epsilon = 0, alpha = 0;

  static Result<FusedConv2D> make(const NodeInfo& node) {
    FusedConv2D k;
    WEFT_ASSIGN(k.attrs, read_conv_attrs(node, ConvKind::kConv2D));
    if (node.attr<std::string>("data_format") == "NCHW_VECT_C" || node.attr<std::string>("filter_format") != "HWIO")
      return unimplemented("_FusedConv2D on the CPU supports only the HWIO filter format and NHWC or NCHW data");
    const auto& fused = node.attr<std::vector<std::string>>("fused_ops");
    if (fused.empty()) return invalid_argument("Fused Conv2D must have at least one fused op.");
    const bool first = fused[0] == "BiasAdd" || fused[0] == "FusedBatchNorm";
    const auto activation = fused.size() == 2 ? epilogue_of(fused[1]) : std::optional(Epilogue::kNone);
    const bool known = first && fused.size() <= 2 && activation && *activation < Epilogue::kGeluExact;
    if (!known) return unimplemented("Fusion is not implemented: [", join(fused), "]");
    k.activation = *activation;
    k.normalise = fused[0] == "FusedBatchNorm";
    k.epsilon = node.attr<float>("epsilon");
    k.alpha = node.attr<float>("leakyrelu_alpha");
    const int64_t args = node.attr<int64_t>("num_args");
    if (args != (k.normalise ? 4 : 1))
      return invalid_argument("Fused Conv2D with ", fused[0], " must have ", k.normalise ? 4 : 1, " extra arguments, got ", args);
    if (node.input_range("args").size() < args)
      return invalid_argument("Fused Conv2D has ", node.input_range("args").size(), " arguments, num_args says ", args);
    for (int i = 0; i < args; ++i) {
      if (node.input_types()[size_t(2 + i)] != node.input_types()[0]) return invalid_argument("arguments of a fused Conv2D must have its type");
    }
    return k;
  }

  template <class T>
  T activate(T x) const {
    switch (activation) {
      case Epilogue::kNone: return x;
      case Epilogue::kRelu: return x < T(0) ? T(0) : x;
      case Epilogue::kRelu6: return x < T(0) ? T(0) : x > T(6) ? T(6) : x;
      case Epilogue::kElu: return x < T(0) ? std::expm1(x) : x;
      case Epilogue::kLeakyRelu: return x < T(0) ? x * T(alpha) : x;
      case Epilogue::kTanh: return std::tanh(x);
      case Epilogue::kSigmoid: return T(1) / (T(1) + std::exp(-x));
      default: break;
    }
    return x;
  }

  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    std::vector<Tensor> args;
    for (int i = 0; i < (normalise ? 4 : 1); ++i) {
      const Tensor& t = c.input(2 + i);
      if (t.rank() != 1) return invalid_argument(normalise ? "batch normalisation arguments" : "bias", " must be 1-dimensional", t.shape());
      if (filter.rank() == 4 && t.dim(0) != filter.dim(3))
        return invalid_argument("bias depth (", t.dim(0), ") does not match the output depth (", filter.dim(3), ")");
      WEFT_ASSIGN(Tensor staged, stage(c, t, false));
      args.push_back(std::move(staged));
    }
    if (in.dtype() == DType::kDouble) return convolve(c, attrs, in, filter, {}, [&](Tensor& out) { return finish_doubles(c, args, out); });
    if (!normalise) return convolve(c, attrs, in, filter, {args[0].data<float>(), activation, alpha});
    // The normalisation's factor goes into the filter, the rest is a bias.
    if (filter.rank() != 4) return convolve(c, attrs, in, filter);  // which refuses it
    const int64_t n = filter.dim(3);
    WEFT_ASSIGN(Tensor wide, stage(c, filter, false));
    WEFT_ASSIGN(Tensor scaled, c.temp(DType::kFloat, filter.shape()));
    WEFT_ASSIGN(Tensor terms, c.temp(DType::kFloat, Shape({2, n})));
    float *scale = terms.data<float>(), *shift = scale + n;
    for (int64_t i = 0; i < n; ++i) {
      scale[i] = args[0].data<float>()[i] / std::sqrt(args[3].data<float>()[i] + epsilon);
      shift[i] = args[1].data<float>()[i] - args[2].data<float>()[i] * scale[i];
    }
    for (int64_t i = 0; i < scaled.num_elements(); i += n) {
      for (int64_t j = 0; j < n; ++j) scaled.data<float>()[i + j] = wide.data<float>()[i + j] * scale[j];
    }
    return convolve(c, attrs, in, scaled, {shift, activation, alpha});
  }

  Status finish_doubles(KernelContext& c, const std::vector<Tensor>& args, Tensor& out) const {
    const int64_t n = out.dim(out.rank() - 1);
    std::vector<double> scale(size_t(n), 1), shift(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      shift[size_t(i)] = args[0].data<double>()[i];
      if (!normalise) continue;
      scale[size_t(i)] = args[0].data<double>()[i] / std::sqrt(args[3].data<double>()[i] + double(epsilon));
      shift[size_t(i)] = args[1].data<double>()[i] - args[2].data<double>()[i] * scale[size_t(i)];
    }
    c.pool().parallel_for(out.num_elements() / n, double(n), [&](int64_t b, int64_t e) {
      for (int64_t row = b; row < e; ++row) {
        double* x = out.data<double>() + row * n;
        for (int64_t i = 0; i < n; ++i) x[i] = activate(normalise ? x[i] * scale[size_t(i)] + shift[size_t(i)] : x[i] + shift[size_t(i)]);
      }
    });
    return {};
  }
};

Status conv2d_shape(ShapeContext& c) { return conv_shape(c, ConvKind::kConv2D); }
Status fused_pad_shape(ShapeContext& c) {
  c.output(0, PartialShape::unknown_of_rank(4));
  return {};
}

}  // namespace

void conv_fused(Registry& r) {
  r.add("FusedPadConv2D")
      .in("input: T")
      .in("paddings: int32")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("Mirror padding, then Conv2D.")
      .shape(fused_pad_shape)
      .cpu(run_pad_conv);

  r.add("FusedResizeAndPadConv2D")
      .in("input: T")
      .in("size: int32")
      .in("paddings: int32")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, float, double}")
      .attr("resize_align_corners: bool = false")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}")
      .doc("Bilinear resizing, mirror padding, then Conv2D.")
      .shape(fused_pad_shape)
      .cpu(run_resize_pad_conv);

  r.add("_FusedConv2D")
      .in("input: T")
      .in("filter: T")
      .in("args: TArgs")
      .in("host_args: num_host_args * float")
      .out("output: T")
      .attr("T: {half, float, double, int8, qint8}")
      .attr("TArgs: list(type) >= 1")
      .attr("num_args: int >= 0")
      .attr("num_host_args: int >= 0 = 0")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .attr("filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("fused_ops: list(string) = []")
      .attr("epsilon: float = 0.0001")
      .attr("leakyrelu_alpha: float = 0.2")
      .doc("Conv2D with a bias or a normalisation and an activation behind it.")
      .shape(conv2d_shape)
      .cpu<FusedConv2D>(types<half, float, double>("T"));
}

}  // namespace weft_engine::ops

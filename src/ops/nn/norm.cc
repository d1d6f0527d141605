// Batch normalisation, local response normalisation, L2 loss.
#include <cmath>
#include <limits>

#include "kernels/cpu/batch_matmul.h"
#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/lrn.h"
#include "kernels/cpu/reduce.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::ChannelArray;

struct Layout {
  bool channels_first = false;
  int rank = 4;
  static Layout of(const NodeInfo& node) {
    const std::string& format = node.attr<std::string>("data_format");
    return {format == "NCHW" || format == "NCDHW", format.size() == 5 ? 5 : 4};
  }
  int axis() const { return channels_first ? 1 : rank - 1; }
  ChannelArray array(const Shape& s) const {
    if (!channels_first) return {s.elements_in(0, rank - 1), s.dim(rank - 1), 1};
    return {s.dim(0), s.dim(1), s.elements_in(2, rank)};
  }
};

// ---- shape rules

Status batch_norm_shape(ShapeContext& c) {
  const Layout layout = Layout::of(c.node());
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, layout.rank));
  int64_t channels = x.dim(layout.axis());
  const int vectors = c.attr<bool>("is_training") ? 3 : 5;  // in training, mean and variance may be empty
  for (int i = 1; i < vectors; ++i) {
    WEFT_ASSIGN(PartialShape v, c.with_rank(i, 1));
    WEFT_ASSIGN(channels, ShapeContext::merge_dim(channels, v.dim(0)));
  }
  x.set_dim(layout.axis(), channels);
  c.output(0, x);
  for (int i = 1; i < std::min(c.num_outputs(), 5); ++i) c.output(i, PartialShape::vector(channels));
  if (c.num_outputs() == 6) c.output(5, PartialShape::vector(kUnknownDim));  // scratch of the device's own
  return {};
}

Status batch_norm_grad_shape(ShapeContext& c) {
  const Layout layout = Layout::of(c.node());
  WEFT_ASSIGN(PartialShape dy, c.with_rank(0, layout.rank));
  WEFT_ASSIGN(PartialShape x, c.with_rank(1, layout.rank));
  WEFT_ASSIGN(int64_t channels, ShapeContext::merge_dim(dy.dim(layout.axis()), x.dim(layout.axis())));
  for (int i = 2; i < 5; ++i) {
    WEFT_ASSIGN(PartialShape v, c.with_rank(i, 1));
    WEFT_ASSIGN(channels, ShapeContext::merge_dim(channels, v.dim(0)));
  }
  dy.set_dim(layout.axis(), channels);
  c.output(0, dy);
  c.output(1, PartialShape::vector(channels));
  c.output(2, PartialShape::vector(channels));
  return {};  // the last two outputs hold nothing; devices differ in their shape
}

// ---- FusedBatchNorm

Result<Tensor> to_float(KernelContext& c, const Tensor& t) {
  if (t.dtype() == DType::kFloat) return t;
  WEFT_ASSIGN(Tensor wide, c.temp(DType::kFloat, t.shape()));
  kernels::widen(t.dtype(), t.raw(), wide.data<float>(), t.num_elements(), c.pool());
  return wide;
}

// What `write` puts into an array of floats goes to `out`, which it is if its type is that.
template <class F>
Status from_float(KernelContext& c, Tensor& out, F write) {
  if (out.dtype() == DType::kFloat) {
    write(out.data<float>());
    return {};
  }
  WEFT_ASSIGN(Tensor wide, c.temp(DType::kFloat, out.shape()));
  write(wide.data<float>());
  kernels::narrow(out.dtype(), wide.data<float>(), out.raw(), out.num_elements(), c.pool());
  return {};
}

Status check_vector(const Tensor& t, std::string_view name) {
  if (t.rank() != 1) return invalid_argument(name, " must be 1-dimensional", t.shape());
  return {};
}

Status check_channels(const Tensor& t, std::string_view name, int64_t channels) {
  if (t.num_elements() != channels) {
    return invalid_argument(name, " must have the same number of elements as the channels of x, got ", t.num_elements(), " and ", channels);
  }
  return {};
}

struct FusedBatchNorm {
  static Result<FusedBatchNorm> make(const NodeInfo& node) {
    FusedBatchNorm f{Layout::of(node), node.attr<bool>("is_training"), node.attr<float>("epsilon"), node.attr<float>("exponential_avg_factor"),
                     false};
    if (node.op() == "_FusedBatchNormEx") {
      const std::string& mode = node.attr<std::string>("activation_mode");
      if (mode != "Identity" && mode != "Relu") return invalid_argument("Unsupported activation mode: ", mode);
      if (node.attr<int64_t>("num_side_inputs") > 1) return invalid_argument("FusedBatchNorm accepts at most one side input.");
      f.relu = mode == "Relu";
    }
    return f;
  }

  Status check(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() != layout.rank) return invalid_argument("input must be ", layout.rank, "-dimensional", x.shape());
    constexpr std::string_view kNames[] = {"scale", "offset", "estimated_mean", "estimated_variance"};
    for (int i = 0; i < 4; ++i) WEFT_RETURN_IF_ERROR(check_vector(c.input(i + 1), kNames[i]));
    const int64_t channels = x.dim(layout.axis());
    WEFT_RETURN_IF_ERROR(check_channels(c.input(1), "scale", channels));
    WEFT_RETURN_IF_ERROR(check_channels(c.input(2), "offset", channels));
    if (!training || factor != 1) {
      const char* why = training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
      WEFT_RETURN_IF_ERROR(check_channels(c.input(3), cat(why, "mean"), channels));
      WEFT_RETURN_IF_ERROR(check_channels(c.input(4), cat(why, "variance"), channels));
    }
    if (c.num_inputs() > 5 && c.input(5).shape() != x.shape()) {
      return invalid_argument("side_input shape must be equal to input shape: ", c.input(5).shape(), " != ", x.shape());
    }
    return {};
  }

  Status run(KernelContext& c) const {
    WEFT_RETURN_IF_ERROR(check(c));
    const Tensor& x = c.input(0);
    const ChannelArray a = layout.array(x.shape());
    const Shape vector({a.channels});
    WEFT_ASSIGN(Tensor* y, c.allocate(0, x.shape()));
    // In order: batch mean and variance (or their running averages), mean and variance that the gradient needs.
    Tensor wide[4];
    for (int i = 0; i < 4; ++i) {
      WEFT_ASSIGN([[maybe_unused]] Tensor* out, c.allocate(i + 1, vector));
      WEFT_ASSIGN(wide[i], c.temp(DType::kFloat, vector));
    }
    if (c.num_outputs() == 6) {
      WEFT_ASSIGN([[maybe_unused]] Tensor* scratch, c.allocate(5, Shape({0})));
    }
    float *mean_out = wide[0].data<float>(), *var_out = wide[1].data<float>(), *mean = wide[2].data<float>(), *variance = wide[3].data<float>();
    if (x.num_elements() == 0) {
      const float nan = std::numeric_limits<float>::quiet_NaN();
      for (int64_t i = 0; i < a.channels; ++i) mean_out[i] = var_out[i] = nan, mean[i] = variance[i] = 0;
    } else {
      WEFT_RETURN_IF_ERROR(compute(c, a, mean_out, var_out, mean, variance, *y));
    }
    for (int i = 0; i < 4; ++i) {
      kernels::narrow(c.output_type(i + 1), wide[i].data<float>(), c.output(i + 1).raw(), a.channels, c.pool());
    }
    return {};
  }

  Status compute(KernelContext& c, const ChannelArray& a, float* mean_out, float* var_out, float* mean, float* variance, Tensor& y) const {
    WEFT_ASSIGN(Tensor x, to_float(c, c.input(0)));
    WEFT_ASSIGN(Tensor scale, to_float(c, c.input(1)));
    WEFT_ASSIGN(Tensor offset, to_float(c, c.input(2)));
    WEFT_ASSIGN(Tensor old_mean, to_float(c, c.input(3)));
    WEFT_ASSIGN(Tensor old_var, to_float(c, c.input(4)));
    if (training) {
      kernels::channel_moments(a, x.data<float>(), mean, variance, c.pool());
      // The variance handed out is the unbiased estimate.
      const float unbias = float(a.per_channel()) / float(std::max<int64_t>(a.per_channel() - 1, 1));
      for (int64_t i = 0; i < a.channels; ++i) {
        const float v = variance[i] * unbias;
        mean_out[i] = factor == 1 ? mean[i] : (1 - factor) * old_mean.data<float>()[i] + factor * mean[i];
        var_out[i] = factor == 1 ? v : (1 - factor) * old_var.data<float>()[i] + factor * v;
      }
    } else {
      for (int64_t i = 0; i < a.channels; ++i) {
        mean_out[i] = mean[i] = old_mean.data<float>()[i];
        var_out[i] = variance[i] = old_var.data<float>()[i];
      }
    }
    std::vector<float> scaling(static_cast<size_t>(a.channels));
    for (int64_t i = 0; i < a.channels; ++i) scaling[size_t(i)] = scale.data<float>()[i] / std::sqrt(variance[i] + epsilon);
    Tensor out = y;
    if (y.dtype() != DType::kFloat) {
      WEFT_ASSIGN(out, c.temp(DType::kFloat, y.shape()));
    }
    kernels::channel_scale(a, x.data<float>(), mean, scaling.data(), offset.data<float>(), out.data<float>(), c.pool());
    WEFT_RETURN_IF_ERROR(finish(c, out));
    if (y.dtype() != DType::kFloat) kernels::narrow(y.dtype(), out.data<float>(), y.raw(), y.num_elements(), c.pool());
    return {};
  }

  // What _FusedBatchNormEx does beyond: adds another input, applies Relu.
  Status finish(KernelContext& c, Tensor& out) const {
    float* y = out.data<float>();
    if (c.num_inputs() > 5) {
      WEFT_ASSIGN(Tensor side, to_float(c, c.input(5)));
      for (int64_t i = 0; i < out.num_elements(); ++i) y[i] += side.data<float>()[i];
    }
    if (relu) {
      for (int64_t i = 0; i < out.num_elements(); ++i) y[i] = y[i] < 0 ? 0 : y[i];
    }
    return {};
  }

  Layout layout;
  bool training;
  float epsilon, factor;
  bool relu;
};

struct FusedBatchNormGrad {
  static Result<FusedBatchNormGrad> make(const NodeInfo& node) {
    return FusedBatchNormGrad{Layout::of(node), node.attr<bool>("is_training"), node.attr<float>("epsilon")};
  }

  Status check(KernelContext& c) const {
    const Tensor &dy = c.input(0), &x = c.input(1);
    for (const Tensor* t : {&dy, &x}) {
      if (t->rank() != layout.rank) return invalid_argument("input must be ", layout.rank, "-dimensional", t->shape());
    }
    WEFT_RETURN_IF_ERROR(check_vector(c.input(2), "scale"));
    WEFT_RETURN_IF_ERROR(check_vector(c.input(3), "saved mean"));
    WEFT_RETURN_IF_ERROR(check_vector(c.input(4), "saved variance"));
    if (x.shape() != dy.shape()) {
      return invalid_argument("x and y_backprop must have same shape, but x has shape ", x.shape(), " and y_backprop has shape ", dy.shape());
    }
    const int64_t channels = x.dim(layout.axis());
    WEFT_RETURN_IF_ERROR(check_channels(c.input(2), "scale", channels));
    WEFT_RETURN_IF_ERROR(check_channels(c.input(3), "reserve_space_1", channels));
    return check_channels(c.input(4), "reserve_space_2", channels);
  }

  Status run(KernelContext& c) const {
    WEFT_RETURN_IF_ERROR(check(c));
    const ChannelArray a = layout.array(c.input(1).shape());
    WEFT_ASSIGN(Tensor* dx, c.allocate(0, c.input(1).shape()));
    WEFT_ASSIGN(Tensor* d_scale, c.allocate(1, Shape({a.channels})));
    WEFT_ASSIGN(Tensor* d_offset, c.allocate(2, Shape({a.channels})));
    for (int i = 3; i < 5; ++i) {
      WEFT_ASSIGN(Tensor* unused, c.allocate(i, Shape({})));
      unused->data<float>()[0] = 0;
    }
    if (dx->num_elements() == 0) {
      std::fill_n(d_scale->data<float>(), a.channels, 0.f);
      std::fill_n(d_offset->data<float>(), a.channels, 0.f);
      return {};
    }
    WEFT_ASSIGN(Tensor dy, to_float(c, c.input(0)));
    WEFT_ASSIGN(Tensor x, to_float(c, c.input(1)));
    const float *scale = c.input(2).data<float>(), *mean = c.input(3).data<float>(), *variance = c.input(4).data<float>();
    const size_t n = size_t(a.channels);
    std::vector<double> sum_dy(n), sum_dy_x(n);
    kernels::channel_grad_sums(a, dy.data<float>(), x.data<float>(), mean, sum_dy.data(), sum_dy_x.data(), c.pool());
    std::vector<float> shift(n), dy_factor(n), x_factor(n);
    const double count = double(a.per_channel());
    for (size_t i = 0; i < n; ++i) {
      const double inverse = 1 / std::sqrt(double(variance[i] + epsilon));
      d_scale->data<float>()[i] = float(sum_dy_x[i] * inverse);
      d_offset->data<float>()[i] = float(sum_dy[i]);
      dy_factor[i] = float(double(scale[i]) * inverse);
      shift[i] = training ? float(sum_dy[i] / count) : 0;
      x_factor[i] = training ? float(-double(scale[i]) * inverse * inverse * inverse * sum_dy_x[i] / count) : 0;
    }
    Tensor out = *dx;
    if (dx->dtype() != DType::kFloat) {
      WEFT_ASSIGN(out, c.temp(DType::kFloat, dx->shape()));
    }
    kernels::channel_grad(a, dy.data<float>(), x.data<float>(), mean, shift.data(), dy_factor.data(), x_factor.data(), out.data<float>(), c.pool());
    if (dx->dtype() != DType::kFloat) kernels::narrow(dx->dtype(), out.data<float>(), dx->raw(), dx->num_elements(), c.pool());
    return {};
  }

  Layout layout;
  bool training;
  float epsilon;
};

// ---- L2Loss

Status run_l2_loss(KernelContext& c) {
  const Tensor& t = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({})));
  const int64_t dims[] = {t.num_elements()};
  const bool reduced[] = {true};
  WEFT_RETURN_IF_ERROR(kernels::reduce(kernels::ReduceOp::kSumSquares, t.dtype(), t.raw(), dims, reduced, out->raw(), c.pool()));
  return dispatch<WEFT_FLOATS>(t.dtype(), [&]<class T>(Tag<T>) {
    T& v = out->data<T>()[0];
    v = T(v * T(0.5f));
    return Status();
  });
}

// ---- LRN

Status lrn_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(0, 4));
  for (int i = 1; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(s, s.merge_with(c.input(i)));
  }
  c.output(0, std::move(s));
  return {};
}

Result<kernels::LrnArgs> lrn_args(const KernelContext& c) {
  const int64_t radius = c.attr<int64_t>("depth_radius");
  if (radius < 0 || radius > std::numeric_limits<int32_t>::max()) return invalid_argument("depth_radius = ", radius, " larger than int max");
  return kernels::LrnArgs{radius, c.attr<float>("bias"), c.attr<float>("alpha"), c.attr<float>("beta")};
}

Status run_lrn(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(kernels::LrnArgs args, lrn_args(c));
  if (in.rank() != 4) return invalid_argument("in must be 4-dimensional");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  WEFT_ASSIGN(Tensor x, to_float(c, in));
  return from_float(c, *out, [&](float* y) { kernels::lrn(args, x.data<float>(), y, in.num_elements() / in.dim(3), in.dim(3), c.pool()); });
}

Status run_lrn_grad(KernelContext& c) {
  const Tensor &grads = c.input(0), &in = c.input(1), &out_image = c.input(2);
  WEFT_ASSIGN(kernels::LrnArgs args, lrn_args(c));
  if (grads.rank() != 4 || in.rank() != 4) return invalid_argument("inputs must be 4-dimensional");
  if (in.shape() != grads.shape() || out_image.shape() != grads.shape()) {
    return invalid_argument("input_grads, input_image, and out_image should have the same shape");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  WEFT_ASSIGN(Tensor g, to_float(c, grads));
  WEFT_ASSIGN(Tensor x, to_float(c, in));
  WEFT_ASSIGN(Tensor y, to_float(c, out_image));
  return from_float(c, *out, [&](float* dx) {
    kernels::lrn_grad(args, g.data<float>(), x.data<float>(), y.data<float>(), dx, in.num_elements() / in.dim(3), in.dim(3), c.pool());
  });
}

// In training the saved mean and variance of the batch, otherwise those that were given.
Grads batch_norm_grad(const GradContext& g, std::string_view op, bool third) {
  const bool training = g.attr<bool>("is_training");
  std::vector<Value> in = {g.dy(0), g.x(0), g.x(1), training ? g.y(3) : g.x(3), training ? g.y(4) : g.x(4)};
  if (third) in.push_back(g.y(5));
  auto out = g.apply(op, in, g.attrs({"epsilon", "data_format", "is_training"}));
  if (out.size() < 3) return g.none();
  return {out[0], out[1], out[2], {}, {}};
}

// ---- gradients -----------------------------------------------------------------------------------------

// With m = mean(dy o), o = x - mean(x), r = 1 / sqrt(var + epsilon), the op computes
//   s r (dy - mean(dy) - r^2 m o),  r sum(dy o),  sum(dy)
// and these are its derivatives, for gradients a, b, c of the three. In inference mean and variance are given.
Grads batch_norm_grad_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const std::string& format = g.attr<std::string>("data_format");
  const bool last = format.back() == 'C';
  const int rank = int(format.size());
  std::vector<int32_t> axes;
  for (int i = 0; i < rank; ++i) {
    if (i != (last ? rank - 1 : 1)) axes.push_back(i);
  }
  const Value all = ints(e, axes);
  auto sum = [&](const Value& v) { return reduce("Sum", v, all, true); };
  auto mean = [&](const Value& v) { return reduce("Mean", v, all, true); };
  std::vector<int32_t> per_channel(size_t(rank), 1);
  per_channel[size_t(last ? rank - 1 : 1)] = -1;
  auto wide = [&](const Value& v) { return reshape(v, ints(e, per_channel)); };
  const DType t = g.x(1).dtype();
  const Value dy = cast(g.x(0), DType::kFloat), x = cast(g.x(1), DType::kFloat), scale = wide(g.x(2));
  const Value a = cast(g.dy(0), DType::kFloat), b = wide(g.dy(1)), c = wide(g.dy(2));
  const double epsilon = double(g.attr<float>("epsilon"));
  Value d_dy, dx, d_scale;
  if (g.attr<bool>("is_training")) {
    const Value o = x - mean(x), r2 = unary("Reciprocal", mean(unary("Square", o)) + epsilon), r = unary("Sqrt", r2), r3 = r2 * r;
    const Value n = sum(ones_like(x)), dy_centred = dy - mean(dy), a_centred = a - mean(a), m = mean(dy * o), ao = sum(a * o);
    d_dy = scale * r * (a_centred - r2 * o * (ao / n)) + b * r * o + c;
    d_scale = r * (sum(a * dy_centred) - r2 * m * ao);
    const Value of_r = scale * sum(a * dy_centred) - 3 * scale * r2 * m * ao + b * n * m;
    dx = (b * r - scale * r3 * ao / n) * dy_centred - scale * r3 * m * a_centred - of_r * r3 * o / n;
  } else {
    const Value r = unary("Rsqrt", wide(g.x(4)) + epsilon);
    d_dy = a * scale * r + b * (x - wide(g.x(3))) * r + c;
    dx = dy * b * r;
    d_scale = sum(a * dy * r);
  }
  Grads grads = g.none();
  grads[0] = cast(d_dy, t);
  grads[1] = cast(dx, t);
  grads[2] = reshape(d_scale, ints(e, {-1}));
  return grads;
}

}  // namespace

void norm(Registry& r) {
  r.add("FusedBatchNorm")
      .in("x: T")
      .in("scale: T")
      .in("offset: T")
      .in("mean: T")
      .in("variance: T")
      .out("y: T")
      .out("batch_mean: T")
      .out("batch_variance: T")
      .out("reserve_space_1: T")
      .out("reserve_space_2: T")
      .attr("T: {float}")
      .attr("epsilon: float = 0.0001")
      .attr("exponential_avg_factor: float = 1")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("Normalises each channel to mean 0 and variance 1, then scales and shifts it.")
      .shape(batch_norm_shape)
      .grad([](const GradContext& g) -> Grads { return batch_norm_grad(g, "FusedBatchNormGrad", false); })
      .cpu<FusedBatchNorm>();

  r.add("FusedBatchNormGrad")
      .in("y_backprop: T")
      .in("x: T")
      .in("scale: T")
      .in("reserve_space_1: T")
      .in("reserve_space_2: T")
      .out("x_backprop: T")
      .out("scale_backprop: T")
      .out("offset_backprop: T")
      .out("reserve_space_3: T")
      .out("reserve_space_4: T")
      .attr("T: {float}")
      .attr("epsilon: float = 0.0001")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("The gradient of FusedBatchNorm with respect to input, scale and offset.")
      .shape(batch_norm_grad_shape)
      .grad(batch_norm_grad_grad)
      .cpu<FusedBatchNormGrad>();

  r.add("FusedBatchNormGradV2")
      .in("y_backprop: T")
      .in("x: T")
      .in("scale: float")
      .in("reserve_space_1: U")
      .in("reserve_space_2: U")
      .out("x_backprop: T")
      .out("scale_backprop: U")
      .out("offset_backprop: U")
      .out("reserve_space_3: U")
      .out("reserve_space_4: U")
      .attr("T: {half, bfloat16, float}")
      .attr("U: {float}")
      .attr("epsilon: float = 0.0001")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("The gradient of FusedBatchNormV2 with respect to input, scale and offset.")
      .shape(batch_norm_grad_shape)
      .grad(batch_norm_grad_grad)
      .cpu<FusedBatchNormGrad>();

  r.add("FusedBatchNormGradV3")
      .in("y_backprop: T")
      .in("x: T")
      .in("scale: float")
      .in("reserve_space_1: U")
      .in("reserve_space_2: U")
      .in("reserve_space_3: U")
      .out("x_backprop: T")
      .out("scale_backprop: U")
      .out("offset_backprop: U")
      .out("reserve_space_4: U")
      .out("reserve_space_5: U")
      .attr("T: {half, bfloat16, float}")
      .attr("U: {float}")
      .attr("epsilon: float = 0.0001")
      .attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("The gradient of FusedBatchNormV3 with respect to input, scale and offset.")
      .shape(batch_norm_grad_shape)
      .grad(batch_norm_grad_grad)
      .cpu<FusedBatchNormGrad>();

  r.add("FusedBatchNormV2")
      .in("x: T")
      .in("scale: U")
      .in("offset: U")
      .in("mean: U")
      .in("variance: U")
      .out("y: T")
      .out("batch_mean: U")
      .out("batch_variance: U")
      .out("reserve_space_1: U")
      .out("reserve_space_2: U")
      .attr("T: {half, bfloat16, float}")
      .attr("U: {float}")
      .attr("epsilon: float = 0.0001")
      .attr("exponential_avg_factor: float = 1")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("As FusedBatchNorm, also for narrow floats.")
      .shape(batch_norm_shape)
      .grad([](const GradContext& g) -> Grads { return batch_norm_grad(g, "FusedBatchNormGradV2", false); })
      .cpu<FusedBatchNorm>();

  r.add("FusedBatchNormV3")
      .in("x: T")
      .in("scale: U")
      .in("offset: U")
      .in("mean: U")
      .in("variance: U")
      .out("y: T")
      .out("batch_mean: U")
      .out("batch_variance: U")
      .out("reserve_space_1: U")
      .out("reserve_space_2: U")
      .out("reserve_space_3: U")
      .attr("T: {half, bfloat16, float}")
      .attr("U: {bfloat16, float}")
      .attr("epsilon: float = 0.0001")
      .attr("exponential_avg_factor: float = 1")
      .attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("As FusedBatchNormV2, also for volumes, with one more output for the device's use.")
      .shape(batch_norm_shape)
      .grad([](const GradContext& g) -> Grads { return batch_norm_grad(g, "FusedBatchNormGradV3", true); })
      .cpu<FusedBatchNorm>(types<float>("U"));

  r.add("L2Loss")
      .in("t: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("Half the sum of squares.")
      .shape(shapes::scalar)
      .grad([](const GradContext& g) -> Grads { return {g.x() * g.dy()}; })
      .cpu(run_l2_loss);

  r.add("LRN")
      .in("input: T")
      .out("output: T")
      .attr("depth_radius: int = 5")
      .attr("bias: float = 1")
      .attr("alpha: float = 1")
      .attr("beta: float = 0.5")
      .attr("T: {half, bfloat16, float} = DT_FLOAT")
      .doc("Divides each element by a power of the squares of its neighbours along the channels.")
      .shape(lrn_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("LRNGrad", {g.dy(), g.x(), g.y()}, g.attrs({"depth_radius", "bias", "alpha", "beta"}))};
      })
      .cpu(run_lrn, types<half, float>("T"));

  r.add("LRNGrad")
      .in("input_grads: T")
      .in("input_image: T")
      .in("output_image: T")
      .out("output: T")
      .attr("depth_radius: int = 5")
      .attr("bias: float = 1")
      .attr("alpha: float = 1")
      .attr("beta: float = 0.5")
      .attr("T: {half, bfloat16, float} = DT_FLOAT")
      .doc("The gradient of LRN.")
      .shape(lrn_shape)
      .cpu(run_lrn_grad, types<half, float>("T"));

  r.add("_FusedBatchNormEx")
      .in("x: T")
      .in("scale: U")
      .in("offset: U")
      .in("mean: U")
      .in("variance: U")
      .in("side_input: num_side_inputs * T")
      .out("y: T")
      .out("batch_mean: U")
      .out("batch_variance: U")
      .out("reserve_space_1: U")
      .out("reserve_space_2: U")
      .out("reserve_space_3: U")
      .attr("T: {half, float, bfloat16}")
      .attr("U: {float}")
      .attr("epsilon: float = 0.0001")
      .attr("exponential_avg_factor: float = 1")
      .attr("num_side_inputs: int >= 0 = 0")
      .attr("activation_mode: string = 'Identity'")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("is_training: bool = true")
      .doc("Batch normalisation followed by an addition and an activation.")
      .shape(batch_norm_shape)
      .cpu<FusedBatchNorm>(types<bfloat16, float>("T"));

  set_layout(r, {"L2Loss"}, layouts::kReplicated);
  set_layout(r, {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}, layouts::kBatchNorm);
  set_layout(r, {"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"}, layouts::kBatchNorm);
}

}  // namespace weft_engine::ops

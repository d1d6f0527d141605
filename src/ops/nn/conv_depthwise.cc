#include <cstring>

#include "kernels/cpu/depthwise.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/nn/conv_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::DepthwiseGeometry;

struct Depthwise {
  WindowAttrs attrs;
  static Result<Depthwise> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kDepthwise));
    return Depthwise{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    if (in.rank() != 4) return invalid_argument("input must be 4-dimensional", in.shape());
    if (filter.rank() != 4) return invalid_argument("filter must be 4-dimensional: ", filter.shape());
    DepthwiseGeometry g{.batch = in.dim(0), .channels = in.dim(attrs.channel_axis()), .multiplier = filter.dim(3)};
    if (g.channels != filter.dim(2)) return invalid_argument("input and filter must have the same depth: ", g.channels, " vs ", filter.dim(2));
    WEFT_ASSIGN(g.h, attrs.window(0, in.dim(attrs.axis(0)), filter.dim(0)));
    WEFT_ASSIGN(g.w, attrs.window(1, in.dim(attrs.axis(1)), filter.dim(1)));
    const int64_t depth = shapes::mul_dim(g.channels, g.multiplier);
    const Shape shape = attrs.channels_first ? Shape({g.batch, depth, g.h.out, g.w.out}) : Shape({g.batch, g.h.out, g.w.out, depth});
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, shape, attrs.channels_first));
    if (shape.num_elements() > 0) {
      WEFT_ASSIGN(Tensor x, stage(c, in, attrs.channels_first));
      WEFT_ASSIGN(Tensor f, stage(c, filter, false));
      WEFT_RETURN_IF_ERROR((dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
        kernels::depthwise_forward(g, x.data<T>(), f.data<T>(), out.tensor().data<T>(), c.pool());
        return Status();
      })));
    }
    return out.finish(c);
  }
};

// TensorFlow's gradient kernels leave the dilations aside (only the forward kernel heeds them), and
// programs that compare with it must see the same numbers.
Result<WindowAttrs> read_gradient_attrs(const NodeInfo& node) {
  WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kDepthwise));
  a.dilations.assign(4, 1);
  return a;
}

// Sizes for both gradients, with TensorFlow's checks.
Result<DepthwiseGeometry> gradient_geometry(std::string_view label, const WindowAttrs& a, const Shape& in, const Shape& filter, const Shape& dout) {
  if (in.rank() != 4) return invalid_argument(label, ": input must be 4-dimensional");
  if (filter.rank() != 4) return invalid_argument(label, ": filter must be 4-dimensional");
  if (dout.rank() != 4) return invalid_argument(label, ": out_backprop must be 4-dimensional");
  const int ch = a.channel_axis();
  if (in.dim(0) != dout.dim(0)) return invalid_argument(label, ": input and out_backprop must have the same batch size");
  DepthwiseGeometry g{.batch = in.dim(0), .channels = in.dim(ch), .multiplier = filter.dim(3)};
  if (g.channels != filter.dim(2)) return invalid_argument(label, ": input and filter must have the same in_depth");
  if (shapes::mul_dim(g.channels, g.multiplier) != dout.dim(ch))
    return invalid_argument(label, ": depth_multiplier * in_depth not equal to out_depth");
  WEFT_ASSIGN(g.h, a.window(0, in.dim(a.axis(0)), filter.dim(0)));
  WEFT_ASSIGN(g.w, a.window(1, in.dim(a.axis(1)), filter.dim(1)));
  if (g.h.out != dout.dim(a.axis(0)))
    return invalid_argument(label, ": Number of rows of out_backprop doesn't match computed: actual = ", dout.dim(a.axis(0)),
                            ", computed = ", g.h.out);
  if (g.w.out != dout.dim(a.axis(1)))
    return invalid_argument(label, ": Number of cols of out_backprop doesn't match computed: actual = ", dout.dim(a.axis(1)),
                            ", computed = ", g.w.out);
  return g;
}

struct DepthwiseBackpropInput {
  WindowAttrs attrs;
  static Result<DepthwiseBackpropInput> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_gradient_attrs(node));
    return DepthwiseBackpropInput{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor &sizes = c.input(0), &filter = c.input(1), &dout = c.input(2);
    if (sizes.rank() != 1) return invalid_argument("Conv2DBackpropInput: input_sizes input must be 1-dim, not ", sizes.rank());
    WEFT_ASSIGN(Shape in, sizes_shape(sizes));
    WEFT_ASSIGN(DepthwiseGeometry g, gradient_geometry("DepthwiseConv2DBackpropInput", attrs, in, filter.shape(), dout.shape()));
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in, attrs.channels_first));
    if (filter.num_elements() == 0 || dout.num_elements() == 0) {
      std::memset(out.tensor().raw(), 0, out.tensor().byte_size());
    } else if (in.num_elements() > 0) {
      WEFT_ASSIGN(Tensor f, stage(c, filter, false));
      WEFT_ASSIGN(Tensor dy, stage(c, dout, attrs.channels_first));
      WEFT_RETURN_IF_ERROR((dispatch<float, double>(f.dtype(), [&]<class T>(Tag<T>) {
        kernels::depthwise_backward_input(g, f.data<T>(), dy.data<T>(), out.tensor().data<T>(), c.pool());
        return Status();
      })));
    }
    return out.finish(c);
  }
};

struct DepthwiseBackpropFilter {
  WindowAttrs attrs;
  static Result<DepthwiseBackpropFilter> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_gradient_attrs(node));
    return DepthwiseBackpropFilter{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &sizes = c.input(1), &dout = c.input(2);
    if (sizes.rank() != 1) return invalid_argument("Conv2DBackpropFilter: filter_sizes input must be 1-dim, not ", sizes.rank());
    WEFT_ASSIGN(Shape filter, sizes_shape(sizes));
    WEFT_ASSIGN(DepthwiseGeometry g, gradient_geometry("DepthwiseConv2DBackpropFilter", attrs, in.shape(), filter, dout.shape()));
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, filter, false));
    if (in.num_elements() == 0 || dout.num_elements() == 0) {
      std::memset(out.tensor().raw(), 0, out.tensor().byte_size());
    } else if (filter.num_elements() > 0) {
      WEFT_ASSIGN(Tensor x, stage(c, in, attrs.channels_first));
      WEFT_ASSIGN(Tensor dy, stage(c, dout, attrs.channels_first));
      WEFT_RETURN_IF_ERROR((dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) {
        kernels::depthwise_backward_filter(g, x.data<T>(), dy.data<T>(), out.tensor().data<T>(), c.pool());
        return Status();
      })));
    }
    return out.finish(c);
  }
};

Status depthwise_shape(ShapeContext& c) { return conv_shape(c, ConvKind::kDepthwise); }
Status input_sizes_shape(ShapeContext& c) { return conv_sizes_shape(c, 0, 4); }
Status filter_sizes_shape(ShapeContext& c) { return conv_sizes_shape(c, 1, 4); }

// ---- gradients -----------------------------------------------------------------------------------------

AttrMap window(const GradContext& g) { return g.attrs({"strides", "padding", "explicit_paddings", "data_format", "dilations"}); }

Value depthwise(const GradContext& g, const Value& x, const Value& w) { return g.one("DepthwiseConv2dNative", {x, w}, window(g)); }
Value depthwise_input(const GradContext& g, const Value& shape, const Value& w, const Value& dy) {
  return g.one("DepthwiseConv2dNativeBackpropInput", {shape, w, dy}, window(g));
}
Value depthwise_filter(const GradContext& g, const Value& x, const Value& shape, const Value& dy) {
  return g.one("DepthwiseConv2dNativeBackpropFilter", {x, shape, dy}, window(g));
}

}  // namespace

void conv_depthwise(Registry& r) {
  r.add("DepthwiseConv2dNative")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Convolution of each channel with filters of its own.")
      .shape(depthwise_shape)
      .grad([](const GradContext& g) -> Grads {
        return {depthwise_input(g, shape_of(g.x(0)), g.x(1), g.dy()), depthwise_filter(g, g.x(0), shape_of(g.x(1)), g.dy())};
      })
      .cpu<Depthwise>();

  r.add("DepthwiseConv2dNativeBackpropFilter")
      .in("input: T")
      .in("filter_sizes: int32")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Gradient of DepthwiseConv2dNative for its filter.")
      .shape(filter_sizes_shape)
      .grad([](const GradContext& g) -> Grads { return {depthwise_input(g, shape_of(g.x(0)), g.dy(), g.x(2)), {}, depthwise(g, g.x(0), g.dy())}; })
      .cpu<DepthwiseBackpropFilter>();

  r.add("DepthwiseConv2dNativeBackpropInput")
      .in("input_sizes: int32")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Gradient of DepthwiseConv2dNative for its input.")
      .shape(input_sizes_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, depthwise_filter(g, g.dy(), shape_of(g.x(1)), g.x(2)), depthwise(g, g.dy(), g.x(1))}; })
      .cpu<DepthwiseBackpropInput>();

  set_layout(r, {"DepthwiseConv2dNative"}, layouts::batch_of(0));
  set_layout(r, {"DepthwiseConv2dNativeBackpropInput"}, layouts::batch_of(2));
  set_layout(r, {"DepthwiseConv2dNativeBackpropFilter"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops

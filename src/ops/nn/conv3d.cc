#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/nn/conv_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Conv3D {
  WindowAttrs attrs;
  static Result<Conv3D> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kConv3D));
    return Conv3D{std::move(a)};
  }
  Status run(KernelContext& c) const { return convolve(c, attrs, c.input(0), c.input(1)); }
};

struct Conv3DBackpropInput {
  WindowAttrs attrs;
  static Result<Conv3DBackpropInput> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kConv3D));
    return Conv3DBackpropInput{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor &sizes = c.input(0), &filter = c.input(1), &dout = c.input(2);
    Shape in = sizes.shape();  // of the old form, which is given the input itself
    if (c.node().op().ends_with("V2")) {
      if (sizes.rank() != 1) return invalid_argument("input_sizes must be a vector, got shape ", sizes.shape());
      WEFT_ASSIGN(in, sizes_shape(sizes));
    }
    if (in.rank() != 5) return invalid_argument("input tensor must have 5 dimensions");
    if (filter.rank() != 5) return invalid_argument("filter_sizes tensor must have 5 dimensions");
    if (dout.rank() != 5) return invalid_argument("out_backprop tensor must have 5 dimensions");
    if (dout.dim(attrs.channel_axis()) != filter.dim(4))
      return invalid_argument("out_backprop and filter_sizes must have the same number of channels. Got ", dout.dim(attrs.channel_axis()),
                              " for out_backprop and ", filter.dim(4), " for filter_sizes");
    WEFT_ASSIGN(ConvGeometry g, conv_gradient_geometry("Conv3DBackpropInputOp", attrs, in, filter.shape(), dout.shape()));
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in, attrs.channels_first));
    if (in.num_elements() > 0) {
      WEFT_ASSIGN(Tensor f, stage(c, filter, false));
      WEFT_ASSIGN(Tensor dy, stage(c, dout, attrs.channels_first));
      WEFT_RETURN_IF_ERROR(run_conv_input(c, g, f, dy, out.tensor()));
    }
    return out.finish(c);
  }
};

struct Conv3DBackpropFilter {
  WindowAttrs attrs;
  static Result<Conv3DBackpropFilter> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kConv3D));
    return Conv3DBackpropFilter{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor &in = c.input(0), &sizes = c.input(1), &dout = c.input(2);
    Shape filter = sizes.shape();
    if (c.node().op().ends_with("V2")) {
      if (sizes.rank() != 1) return invalid_argument("filter_sizes must be a vector, got shape ", sizes.shape());
      WEFT_ASSIGN(filter, sizes_shape(sizes));
    }
    if (in.rank() != 5) return invalid_argument("input tensor must have 5 dimensions");
    if (filter.rank() != 5) return invalid_argument("filter_sizes tensor must have 5 dimensions");
    if (dout.rank() != 5) return invalid_argument("out_backprop tensor must have 5 dimensions");
    WEFT_ASSIGN(ConvGeometry g, conv_gradient_geometry("Conv3DBackpropFilterOp", attrs, in.shape(), filter, dout.shape()));
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, filter, false));
    if (filter.num_elements() > 0) {
      WEFT_ASSIGN(Tensor x, stage(c, in, attrs.channels_first));
      WEFT_ASSIGN(Tensor dy, stage(c, dout, attrs.channels_first));
      WEFT_RETURN_IF_ERROR(run_conv_filter(c, g, x, dy, out.tensor()));
    }
    return out.finish(c);
  }
};

Status conv3d_shape(ShapeContext& c) { return conv_shape(c, ConvKind::kConv3D); }
Status input_sizes_shape(ShapeContext& c) { return conv_sizes_shape(c, 0, 5); }
Status filter_sizes_shape(ShapeContext& c) { return conv_sizes_shape(c, 1, 5); }

template <int kInput>
Status as_input_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(kInput, 5));
  c.output(0, std::move(s));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

AttrMap window(const GradContext& g) { return g.attrs({"strides", "padding", "data_format", "dilations"}); }

Value conv_3d(const GradContext& g, const Value& x, const Value& w) { return g.one("Conv3D", {x, w}, window(g)); }
Value conv_3d_input(const GradContext& g, const Value& shape, const Value& w, const Value& dy) {
  return g.one("Conv3DBackpropInputV2", {shape, w, dy}, window(g));
}
Value conv_3d_filter(const GradContext& g, const Value& x, const Value& shape, const Value& dy) {
  return g.one("Conv3DBackpropFilterV2", {x, shape, dy}, window(g));
}

}  // namespace

void conv3d(Registry& r) {
  r.add("Conv3D")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
      .doc("Convolution of volumes.")
      .shape(conv3d_shape)
      .grad([](const GradContext& g) -> Grads {
        return {conv_3d_input(g, shape_of(g.x(0)), g.x(1), g.dy()), conv_3d_filter(g, g.x(0), shape_of(g.x(1)), g.dy())};
      })
      .cpu<Conv3D>();

  r.add("Conv3DBackpropFilter")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
      .deprecated(10, "Use Conv3DBackpropFilterV2")
      .doc("Gradient of Conv3D for its filter, whose shape that of the given one is.")
      .shape(as_input_shape<1>)
      .cpu<Conv3DBackpropFilter>();

  r.add("Conv3DBackpropFilterV2")
      .in("input: T")
      .in("filter_sizes: int32")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
      .doc("Gradient of Conv3D for its filter.")
      .shape(filter_sizes_shape)
      .grad([](const GradContext& g) -> Grads { return {conv_3d_input(g, shape_of(g.x(0)), g.dy(), g.x(2)), {}, conv_3d(g, g.x(0), g.dy())}; })
      .cpu<Conv3DBackpropFilter>();

  r.add("Conv3DBackpropInput")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
      .deprecated(10, "Use Conv3DBackpropInputV2")
      .doc("Gradient of Conv3D for its input, whose shape that of the given one is.")
      .shape(as_input_shape<0>)
      .cpu<Conv3DBackpropInput>();

  r.add("Conv3DBackpropInputV2")
      .in("input_sizes: Tshape")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Gradient of Conv3D for its input; also the transposed convolution.")
      .shape(input_sizes_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, conv_3d_filter(g, g.dy(), shape_of(g.x(1)), g.x(2)), conv_3d(g, g.dy(), g.x(1))}; })
      .cpu<Conv3DBackpropInput>();

  set_layout(r, {"Conv3D"}, layouts::batch_of(0));
  set_layout(r, {"Conv3DBackpropInputV2"}, layouts::batch_of(2));
  set_layout(r, {"Conv3DBackpropFilterV2"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops

#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/nn/conv_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Conv2D {
  WindowAttrs attrs;
  static Result<Conv2D> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kConv2D));
    return Conv2D{std::move(a)};
  }
  Status run(KernelContext& c) const { return convolve(c, attrs, c.input(0), c.input(1)); }
};

struct Conv2DBackpropInput {
  WindowAttrs attrs;
  static Result<Conv2DBackpropInput> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kConv2D));
    return Conv2DBackpropInput{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor &sizes = c.input(0), &filter = c.input(1), &dout = c.input(2);
    if (sizes.rank() != 1) return invalid_argument("Conv2DBackpropInput: input_sizes input must be 1-dim, not ", sizes.rank());
    WEFT_ASSIGN(Shape in, sizes_shape(sizes));
    if (in.rank() == 2 && filter.rank() == 4 && dout.rank() == 4) {
      // The two spatial sizes alone: the rest follows from the other inputs.
      const int64_t h = in.dim(0), w = in.dim(1), batch = dout.dim(0), depth = filter.dim(2);
      in = attrs.channels_first ? Shape({batch, depth, h, w}) : Shape({batch, h, w, depth});
      WEFT_RETURN_IF_ERROR(in.check());
    } else if (in.rank() != 4) {
      return invalid_argument("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: ", in.rank());
    }
    return run(c, in);
  }
  Status run(KernelContext& c, const Shape& in) const {
    const Tensor &filter = c.input(1), &dout = c.input(2);
    WEFT_ASSIGN(ConvGeometry g, conv_gradient_geometry("Conv2DCustomBackpropInput", attrs, in, filter.shape(), dout.shape()));
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, in, attrs.channels_first));
    if (in.num_elements() > 0) {
      WEFT_ASSIGN(Tensor f, stage(c, filter, false));
      WEFT_ASSIGN(Tensor dy, stage(c, dout, attrs.channels_first));
      WEFT_RETURN_IF_ERROR(run_conv_input(c, g, f, dy, out.tensor()));
    }
    return out.finish(c);
  }
};

struct Conv2DBackpropFilter {
  WindowAttrs attrs;
  static Result<Conv2DBackpropFilter> make(const NodeInfo& node) {
    WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(node, ConvKind::kConv2D));
    return Conv2DBackpropFilter{std::move(a)};
  }
  Status run(KernelContext& c) const {
    const Tensor& sizes = c.input(1);
    if (sizes.rank() != 1) return invalid_argument("Conv2DCustomBackpropFilter: filter_sizes input must be 1-dim, not ", sizes.rank());
    WEFT_ASSIGN(Shape filter, sizes_shape(sizes));
    return run(c, filter);
  }
  Status run(KernelContext& c, const Shape& filter) const {
    const Tensor &in = c.input(0), &dout = c.input(2);
    WEFT_ASSIGN(ConvGeometry g, conv_gradient_geometry("Conv2DCustomBackpropFilter", attrs, in.shape(), filter, dout.shape()));
    WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, filter, false));
    if (filter.num_elements() > 0) {
      WEFT_ASSIGN(Tensor x, stage(c, in, attrs.channels_first));
      WEFT_ASSIGN(Tensor dy, stage(c, dout, attrs.channels_first));
      WEFT_RETURN_IF_ERROR(run_conv_filter(c, g, x, dy, out.tensor()));
    }
    return out.finish(c);
  }
};

// V2 of the gradients: the input (filter) itself says its sizes.
template <class Sized, int input>
struct Conv2DBackpropV2 {
  Sized op;
  static Result<Conv2DBackpropV2> make(const NodeInfo& node) {
    WEFT_ASSIGN(Sized made, Sized::make(node));
    return Conv2DBackpropV2{std::move(made)};
  }
  Status run(KernelContext& c) const {
    if (c.input(input).rank() != 4) return invalid_argument(input ? "filter" : "input", " must have rank 4, got shape ", c.input(input).shape());
    return op.run(c, c.input(input).shape());
  }
};

template <int input>
Status same_as_input(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(input, 4));
  c.output(0, std::move(s));
  return {};
}

// The op "Conv": any count of batch dimensions in front, two or three spatial ones.
Result<WindowAttrs> read_generic_attrs(const NodeInfo& node, int spatial) {
  WindowAttrs a;
  a.spatial = spatial;
  a.channels_first = node.attr<std::string>("data_format") == "CHANNELS_FIRST";
  a.padding = node.attr<std::string>("padding");
  a.strides = node.attr<std::vector<int64_t>>("strides");
  a.dilations = node.attr<std::vector<int64_t>>("dilations");
  a.paddings = node.attr<std::vector<int64_t>>("explicit_paddings");
  const size_t rank = size_t(spatial) + 2;
  if (a.dilations.empty()) a.dilations.assign(rank, 1);
  WEFT_RETURN_IF_ERROR(check_int32_attr("dilations", a.dilations));
  WEFT_RETURN_IF_ERROR(check_int32_attr("strides", a.strides));
  if (a.strides.size() != rank) return invalid_argument("Sliding window strides field must specify ", rank, " dimensions");
  if (a.dilations.size() != rank) return invalid_argument("Dilation rates field must specify", rank, "dimensions");
  const size_t ch = size_t(a.channel_axis());
  if (a.strides[0] != 1 || a.strides[ch] != 1)
    return invalid_argument("Current implementation does not yet support strides in the batch and depth dimensions.");
  if (a.dilations[0] != 1 || a.dilations[ch] != 1)
    return invalid_argument("Current implementation does not yet support dilation rates in the batch and depth dimensions.");
  for (int i = 0; i < spatial; ++i) {
    if (a.strides[size_t(a.axis(i))] <= 0) return invalid_argument("Spatial strides should be larger than 0.");
    if (a.dilations[size_t(a.axis(i))] <= 0) return invalid_argument("Dilated rates should be larger than 0.");
  }
  WEFT_RETURN_IF_ERROR(check_explicit_paddings(a));
  return a;
}

Status run_generic(KernelContext& c) {
  const int64_t batch_dims = c.attr<int64_t>("batch_dims");
  Tensor in = c.input(0);
  const Tensor& filter = c.input(1);
  if (batch_dims < 0) return invalid_argument("batch_dims must be non-negative, got ", batch_dims);
  if (c.attr<int64_t>("groups") != 1) return unimplemented("Grouped/Depthwise Convolutions are not supported yet.");
  const int64_t spatial = int64_t(in.rank()) - batch_dims - 1;
  if (spatial != 2 && spatial != 3) return invalid_argument("The input must have 2 or 3 spatial dimensions but got ", spatial);
  if (filter.rank() != 4 && filter.rank() != 5) return invalid_argument("The filter must be rank 4 or 5 but got ", filter.rank());
  WEFT_ASSIGN(WindowAttrs a, read_generic_attrs(c.node(), int(spatial)));
  const Shape given = in.shape();
  const int batch = int(batch_dims);
  Shape flat = given.slice(batch, given.rank());
  flat.insert_dim(0, given.elements_in(0, batch));
  if (filter.rank() != flat.rank())
    return invalid_argument("The filter must have the rank of one input with its batch, ", flat.rank(), ", but got ", filter.rank());
  const int64_t depth = flat.dim(a.channel_axis());
  if (depth != filter.dim(filter.rank() - 2))
    return invalid_argument("Input depth must be equal to filter depth: ", depth, " vs ", filter.dim(filter.rank() - 2));
  WEFT_RETURN_IF_ERROR(convolve(c, a, in.reshaped(flat), filter));
  if (batch == 1) return {};
  Tensor& out = c.output(0);
  out = out.reshaped(given.slice(0, batch).concat(out.shape().slice(1, out.rank())));
  return {};
}

Status generic_shape(ShapeContext& c) {
  const PartialShape &in = c.input(0), &filter = c.input(1);
  const int64_t batch_dims = c.attr<int64_t>("batch_dims");
  if (batch_dims < 0) return invalid_argument("batch_dims must be non-negative, got ", batch_dims);
  if (!in.has_rank()) return {};
  const int64_t spatial = int64_t(in.rank()) - batch_dims - 1;
  if (spatial != 2 && spatial != 3) return invalid_argument("The input must have 2 or 3 spatial dimensions but got ", spatial);
  WEFT_ASSIGN(WindowAttrs a, read_generic_attrs(c.node(), int(spatial)));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, int(spatial) + 2).status());
  PartialShape out = in;
  const int shift = int(batch_dims) - 1;
  out.set_dim(a.channel_axis() + shift, filter.dim(-1));
  for (int i = 0; i < a.spatial; ++i) {
    WEFT_ASSIGN(int64_t d, a.out_dim(i, in.dim(a.axis(i) + shift), filter.dim(i)));
    out.set_dim(a.axis(i) + shift, d);
  }
  c.output(0, std::move(out));
  return {};
}

Status conv2d_shape(ShapeContext& c) { return conv_shape(c, ConvKind::kConv2D); }
Status input_sizes_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape dout, c.with_rank(2, 4));
  WEFT_ASSIGN(PartialShape filter, c.with_rank(1, 4));
  WEFT_ASSIGN(PartialShape sizes, c.constant_shape(0));
  if (!sizes.has_rank()) {
    c.output(0, PartialShape::unknown_of_rank(4));
    return {};
  }
  if (sizes.rank() != 4 && sizes.rank() != 2)
    return invalid_argument("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: ", sizes.rank());
  const bool first = c.node().attr<std::string>("data_format") == "NCHW";
  WEFT_RETURN_IF_ERROR(c.merge_dim(dout.dim(first ? 1 : 3), filter.dim(3)).status());
  if (sizes.rank() == 2) {
    const int64_t depth = filter.dim(2);
    c.output(0,
             first ? PartialShape({dout.dim(0), depth, sizes.dim(0), sizes.dim(1)}) : PartialShape({dout.dim(0), sizes.dim(0), sizes.dim(1), depth}));
    return {};
  }
  WEFT_RETURN_IF_ERROR(c.merge_dim(sizes.dim(0), dout.dim(0)).status());
  c.output(0, std::move(sizes));
  return {};
}
Status filter_sizes_shape(ShapeContext& c) { return conv_sizes_shape(c, 1, 4); }

// ---- gradients -----------------------------------------------------------------------------------------

AttrMap window(const GradContext& g) { return g.attrs({"strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format", "dilations"}); }

Value conv2d(const GradContext& g, const Value& x, const Value& w) { return g.one("Conv2D", {x, w}, window(g)); }
Value conv2d_input(const GradContext& g, const Value& shape, const Value& w, const Value& dy) {
  return g.one("Conv2DBackpropInput", {shape, w, dy}, window(g));
}
Value conv2d_filter(const GradContext& g, const Value& x, const Value& shape, const Value& dy) {
  return g.one("Conv2DBackpropFilter", {x, shape, dy}, window(g));
}

}  // namespace

void conv(Registry& r) {
  r.add("Conv")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'")
      .attr("dilations: list(int) = []")
      .attr("batch_dims: int = 1")
      .attr("groups: int = 1")
      .doc("Convolution with two or three spatial dimensions and any count of batch dimensions.")
      .on_gpu(OnGpu::kByCpu)
      .shape(generic_shape)
      .cpu(run_generic);

  r.add("Conv2D")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Convolution of images; a filter of less depth than the input makes groups.")
      .shape(conv2d_shape)
      .grad([](const GradContext& g) -> Grads {
        return {conv2d_input(g, shape_of(g.x(0)), g.x(1), g.dy()), conv2d_filter(g, g.x(0), shape_of(g.x(1)), g.dy())};
      })
      .cpu<Conv2D>();

  r.add("Conv2DBackpropFilter")
      .in("input: T")
      .in("filter_sizes: int32")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Gradient of Conv2D for its filter.")
      .shape(filter_sizes_shape)
      .grad([](const GradContext& g) -> Grads { return {conv2d_input(g, shape_of(g.x(0)), g.dy(), g.x(2)), {}, conv2d(g, g.x(0), g.dy())}; })
      .cpu<Conv2DBackpropFilter>();

  r.add("Conv2DBackpropInput")
      .in("input_sizes: int32")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Gradient of Conv2D for its input; also the transposed convolution.")
      .shape(input_sizes_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, conv2d_filter(g, g.dy(), shape_of(g.x(1)), g.x(2)), conv2d(g, g.dy(), g.x(1))}; })
      .cpu<Conv2DBackpropInput>();

  r.add("Conv2DBackpropInputV2")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Gradient of Conv2D for its input, whose sizes are an input.")
      .shape(same_as_input<0>)
      .cpu<Conv2DBackpropV2<Conv2DBackpropInput, 0>>();

  r.add("Conv2DBackpropFilterV2")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .doc("Gradient of Conv2D for its filter, whose sizes are those of the filter.")
      .shape(same_as_input<1>)
      .cpu<Conv2DBackpropV2<Conv2DBackpropFilter, 1>>();

  set_layout(r, {"Conv2D"}, layouts::batch_of(0));
  set_layout(r, {"Conv2DBackpropInput"}, layouts::batch_of(2));
  set_layout(r, {"Conv2DBackpropFilter"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops

#include "ops/nn/conv_common.h"

#include <cstring>

#include "kernels/cpu/conv.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/winograd.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

Result<ConvGeometry> conv_geometry(const WindowAttrs& a, const Shape& in, const Shape& filter) {
  const int rank = a.spatial + 2;
  if (in.rank() != rank) {
    if (a.spatial == 3) return invalid_argument("input must be 5-dimensional");
    return invalid_argument("convolution input must be 4-dimensional: ", in);
  }
  if (filter.rank() != rank) {
    if (a.spatial == 3) return invalid_argument("filter must be 5-dimensional");
    return invalid_argument("convolution filter must be 4-dimensional: ", filter);
  }
  ConvGeometry g;
  g.batch = in.dim(0);
  g.in_channels = in.dim(a.channel_axis());
  g.out_channels = filter.dim(rank - 1);
  const int64_t depth = filter.dim(rank - 2);
  for (int i = 0; i < a.spatial; ++i) {
    if (filter.dim(i) == 0) return invalid_argument("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  }
  if (depth <= 0) return invalid_argument("filter depth must be stricly positive, got ", depth);
  if (g.in_channels % depth != 0)
    return invalid_argument(a.spatial == 3 ? "Input" : "input", " depth must be evenly divisible by filter depth: ", g.in_channels, " vs ", depth);
  g.groups = std::max<int64_t>(1, g.in_channels / depth);
  if (g.in_channels == 0) return invalid_argument("number of groups must be stricly positive, got 0");
  if (a.spatial == 3 && g.groups != 1)
    return invalid_argument("Number of channels in filter (", depth, ") must match last dimension of input (", g.in_channels, ")");
  if (g.out_channels % g.groups != 0)
    return invalid_argument("output depth must be evenly divisible by number of groups: ", g.out_channels, " vs ", g.groups);
  for (int i = 0; i < a.spatial; ++i) {
    WEFT_ASSIGN(g.dim[3 - a.spatial + i], a.window(i, in.dim(a.axis(i)), filter.dim(i)));
  }
  return g;
}

Shape conv_output_shape(const WindowAttrs& a, const ConvGeometry& g) {
  std::vector<int64_t> dims(size_t(a.spatial) + 2);
  dims[0] = g.batch;
  dims[size_t(a.channel_axis())] = g.out_channels;
  for (int i = 0; i < a.spatial; ++i) dims[size_t(a.axis(i))] = g.dim[3 - a.spatial + i].out;
  return Shape(dims);
}

Result<ConvGeometry> conv_gradient_geometry(std::string_view label, const WindowAttrs& a, const Shape& in, const Shape& filter, const Shape& dout) {
  const int rank = a.spatial + 2, ch = a.channel_axis();
  if (in.rank() != rank) return invalid_argument(label, ": input must be ", rank, "-dimensional");
  if (filter.rank() != rank) return invalid_argument(label, ": filter must be ", rank, "-dimensional");
  if (dout.rank() != rank && label == "Conv2DCustomBackpropInput") return invalid_argument("input_sizes must be 4-dimensional, got: ", dout.rank());
  if (dout.rank() != rank) return invalid_argument(label, ": out_backprop must be ", rank, "-dimensional");
  ConvGeometry g;
  g.batch = in.dim(0);
  if (dout.dim(0) != g.batch)
    return invalid_argument(label, ": input and out_backprop must have the same batch size. Input batch: ", g.batch,
                            ", outbackprop batch: ", dout.dim(0), ", batch_dim: 0");
  g.in_channels = in.dim(ch);
  const int64_t depth = filter.dim(rank - 2);
  if (a.spatial == 3 && depth > 0 && g.in_channels % depth != 0)
    return invalid_argument("input and filter_sizes must have the same number of channels. Got ", g.in_channels, " for input and ", depth,
                            " for filter_sizes");
  if (depth <= 0 || g.in_channels % depth != 0) return invalid_argument(label, ": input depth must be evenly divisible by filter depth");
  g.groups = std::max<int64_t>(1, g.in_channels / depth);
  g.out_channels = filter.dim(rank - 1);
  if (g.out_channels != dout.dim(ch)) return invalid_argument(label, ": filter and out_backprop must have the same out_depth");
  if (g.out_channels % g.groups != 0) return invalid_argument(label, ": output depth must be evenly divisible by number of groups");
  for (int i = 0; i < a.spatial; ++i) {
    WindowDim& d = g.dim[3 - a.spatial + i];
    WEFT_ASSIGN(d, a.window(i, in.dim(a.axis(i)), filter.dim(i)));
    const int64_t actual = dout.dim(a.axis(i));
    if (d.out != actual)
      return invalid_argument(label, ": Size of out_backprop doesn't match computed: actual = ", actual, ", computed = ", d.out,
                              " spatial_dim: ", a.axis(i), " input: ", d.in, " filter: ", d.window, " output: ", actual, " stride: ", d.stride,
                              " dilation: ", d.dilation);
  }
  return g;
}

Status run_conv(KernelContext& c, const ConvGeometry& g, const Tensor& in, const Tensor& filter, Tensor& out, const ConvEpilogue& e) {
  if (in.dtype() == DType::kInt32) {
    kernels::conv_forward(g, in.data<uint32_t>(), filter.data<uint32_t>(), out.data<uint32_t>(), c.pool());
    return {};
  }
  if (in.dtype() == DType::kDouble) {
    kernels::conv_forward(g, in.data<double>(), filter.data<double>(), out.data<double>(), c.pool());
    return {};
  }
  const float *x = in.data<float>(), *f = filter.data<float>();
  float* y = out.data<float>();
  if (kernels::winograd_serves(g)) {
    kernels::winograd_forward(g, x, f, y, e.bias, e.activation, e.alpha, c.pool());
    return {};
  }
  if (!kernels::onednn_conv_forward(g, x, f, y, c.pool())) kernels::conv_forward(g, x, f, y, c.pool());
  kernels::apply_epilogue(e.activation, e.alpha, e.bias, y, g.batch * g.out_positions(), g.out_channels, c.pool());
  return {};
}

namespace {

// Nothing flows through an empty tensor; its other dimensions may be huge and must not be looped over.
bool zero_if_empty(const Tensor& a, const Tensor& b, Tensor& out) {
  if (a.num_elements() > 0 && b.num_elements() > 0) return false;
  std::memset(out.raw(), 0, out.byte_size());
  return true;
}

}  // namespace

Status run_conv_input(KernelContext& c, const ConvGeometry& g, const Tensor& filter, const Tensor& dout, Tensor& din) {
  if (zero_if_empty(filter, dout, din)) return {};
  if (din.dtype() == DType::kInt32) {
    kernels::conv_backward_input(g, filter.data<uint32_t>(), dout.data<uint32_t>(), din.data<uint32_t>(), c.pool());
    return {};
  }
  if (din.dtype() == DType::kFloat && kernels::winograd_serves(g)) {
    kernels::winograd_backward_input(g, filter.data<float>(), dout.data<float>(), din.data<float>(), c.pool());
    return {};
  }
  if (din.dtype() == DType::kFloat && kernels::onednn_conv_backward_input(g, filter.data<float>(), dout.data<float>(), din.data<float>(), c.pool()))
    return {};
  return dispatch<float, double>(din.dtype(), [&]<class T>(Tag<T>) {
    kernels::conv_backward_input(g, filter.data<T>(), dout.data<T>(), din.data<T>(), c.pool());
    return Status();
  });
}

Status run_conv_filter(KernelContext& c, const ConvGeometry& g, const Tensor& in, const Tensor& dout, Tensor& dfilter) {
  if (zero_if_empty(in, dout, dfilter)) return {};
  if (in.dtype() == DType::kFloat && kernels::winograd_serves(g)) {
    kernels::winograd_backward_filter(g, in.data<float>(), dout.data<float>(), dfilter.data<float>(), c.pool());
    return {};
  }
  if (in.dtype() == DType::kFloat && kernels::onednn_conv_backward_filter(g, in.data<float>(), dout.data<float>(), dfilter.data<float>(), c.pool()))
    return {};
  return dispatch<float, double>(dfilter.dtype(), [&]<class T>(Tag<T>) {
    kernels::conv_backward_filter(g, in.data<T>(), dout.data<T>(), dfilter.data<T>(), c.pool());
    return Status();
  });
}

Status convolve(KernelContext& c, const WindowAttrs& a, const Tensor& in, const Tensor& filter, const ConvEpilogue& e,
                FunctionRef<Status(Tensor&)> after) {
  WEFT_ASSIGN(ConvGeometry g, conv_geometry(a, in.shape(), filter.shape()));
  WEFT_ASSIGN(StagedOutput out, StagedOutput::make(c, 0, conv_output_shape(a, g), a.channels_first));
  if (out.tensor().num_elements() > 0) {
    WEFT_ASSIGN(Tensor x, stage(c, in, a.channels_first));
    WEFT_ASSIGN(Tensor f, stage(c, filter, false));
    WEFT_RETURN_IF_ERROR(run_conv(c, g, x, f, out.tensor(), e));
    WEFT_RETURN_IF_ERROR(after(out.tensor()));
  }
  return out.finish(c);
}

Result<Shape> sizes_shape(const Tensor& sizes) {
  std::vector<int64_t> dims;
  if (sizes.dtype() == DType::kInt64) dims.assign(sizes.span<int64_t>().begin(), sizes.span<int64_t>().end());
  else dims.assign(sizes.span<int32_t>().begin(), sizes.span<int32_t>().end());
  return Shape::make(dims);
}

Status conv_shape(ShapeContext& c, ConvKind kind) {
  WEFT_ASSIGN(WindowAttrs a, read_conv_attrs(c.node(), kind, true));
  const int rank = a.spatial + 2;
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, rank));
  WEFT_ASSIGN(PartialShape filter, c.with_rank(1, rank));
  PartialShape out = PartialShape::unknown_of_rank(rank);
  out.set_dim(0, in.dim(0));
  const int64_t depth = in.dim(a.channel_axis()), filter_depth = filter.dim(rank - 2);
  if (kind == ConvKind::kDepthwise) {
    WEFT_RETURN_IF_ERROR(c.merge_dim(depth, filter_depth).status());
    out.set_dim(a.channel_axis(), shapes::mul_dim(filter_depth < 0 ? depth : filter_depth, filter.dim(rank - 1)));
  } else {
    if (kind == ConvKind::kConv2D && filter_depth == 0) return invalid_argument("Depth of filter must not be 0");
    if (depth > 0 && filter_depth > 0 && depth % filter_depth != 0)
      return invalid_argument("Depth of input (", depth, ") is not a multiple of input depth of filter (", filter_depth, ")");
    if (const int64_t made = filter.dim(rank - 1);
        kind == ConvKind::kConv2D && depth > 0 && filter_depth > 0 && made > 0 && made % (depth / filter_depth) != 0)
      return invalid_argument("Depth of output (", made, ") is not a multiple of the number of groups (", depth / filter_depth, ")");
    out.set_dim(a.channel_axis(), filter.dim(rank - 1));
  }
  for (int i = 0; i < a.spatial; ++i) {
    WEFT_ASSIGN(int64_t d, a.out_dim(i, in.dim(a.axis(i)), filter.dim(i)));
    out.set_dim(a.axis(i), d);
  }
  c.output(0, std::move(out));
  return {};
}

Status conv_sizes_shape(ShapeContext& c, int input, int rank) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(input));
  if (s.has_rank() && s.rank() == rank) c.output(0, std::move(s));
  else c.output(0, PartialShape::unknown_of_rank(rank));
  return {};
}

}  // namespace weft_engine::ops

// Convolutions and their gradients: of images and volumes, in groups and by channels.
#include <algorithm>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/nn/window_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Dims = std::vector<ir::Dim>;
using V = ir::Value;

// One use of a convolution, forward or backward, as far as attributes tell.
struct Conv {
  explicit Conv(LowerContext& l) : l(l), depthwise(l.node.op().starts_with("Depthwise")) {
    const bool volume = l.node.op().starts_with("Conv3D");
    auto read = read_conv_attrs(l.node, depthwise ? ConvKind::kDepthwise : volume ? ConvKind::kConv3D : ConvKind::kConv2D);
    if (read.ok()) attrs = std::move(read).value();
    else l.fail(read.status());
    // TensorFlow's gradient kernels leave these aside.
    if (depthwise && l.node.op() != "DepthwiseConv2dNative") attrs.dilations.assign(4, 1);
  }
  bool first() const { return attrs.channels_first; }
  V last(V x) { return channels_last(l, widened(l, x), first()); }
  LoweredList done(V y) { return {l.b.convert(channels_back(l, y, first()), l.out_type())}; }
  bool has_rank(V x, std::string_view what) {
    if (!x || !l.ok()) return false;
    if (x->rank() == attrs.spatial + 2) return true;
    l.fail(invalid_argument("convolution ", what, " must be ", attrs.spatial + 2, "-dimensional: ", x->type.to_string()));
    return false;
  }

  // The window for an input (channels last) and a filter of these sizes.
  std::optional<ir::Window> window(const Dims& in, const Dims& filter) {
    const size_t rank = size_t(attrs.spatial) + 2;
    if (in.size() != rank || filter.size() != rank)
      return missing(invalid_argument("convolution of ", in.size(), " dimensions by a filter of ", filter.size()));
    std::vector<int64_t> sizes;
    for (const ir::Dim& d : filter) {
      if (!d.is_const()) return missing(unimplemented("the compiler needs the filter's sizes of ", l.node.op(), " '", l.node.name(), "'"));
      sizes.push_back(d.value());
    }
    for (int i = 0; i <= attrs.spatial; ++i) {
      if (sizes[size_t(i)] <= 0) return missing(invalid_argument("filter must not have zero elements (i.e. all dimensions must be non-zero)"));
    }
    const ir::Dim& channels = in.back();
    if (!channels.is_const()) return missing(unimplemented("the compiler needs the number of channels of ", l.node.op(), " '", l.node.name(), "'"));
    const int64_t depth = sizes[rank - 2], out = sizes[rank - 1];
    if (depthwise ? channels.value() != depth : channels.value() % depth != 0 || channels.value() == 0)
      return missing(invalid_argument("input depth must be evenly divisible by filter depth: ", channels.value(), " vs ", depth));
    const int64_t groups = depthwise ? depth : channels.value() / depth;
    if (!depthwise && out % groups != 0)
      return missing(invalid_argument("output depth must be evenly divisible by number of groups: ", out, " vs ", groups));
    auto w = make_window(l, attrs, {sizes.begin(), sizes.end() - 2}, in);
    if (w) w->groups = groups;
    return w;
  }
  std::nullopt_t missing(Status s) {
    l.fail(std::move(s));
    return std::nullopt;
  }
  // [spatial..., channels / groups, out]
  V plain_filter(V filter) {
    if (!depthwise || !filter) return filter;
    return l.b.reshape(filter, {filter->dim(0), filter->dim(1), 1, filter->dim(2) * filter->dim(3)});
  }

  LowerContext& l;
  bool depthwise;
  WindowAttrs attrs;
};

LoweredList forward(LowerContext& l) {
  Conv c(l);
  const V filter = widened(l, l.x(1));
  if (!c.has_rank(l.x(0), "input") || !c.has_rank(filter, "filter")) return {};
  const V x = c.last(l.x(0));
  if (!x) return {};
  const auto w = c.window(x->type.dims, filter->type.dims);
  if (!w) return {};
  return c.done(l.b.conv(x, c.plain_filter(filter), *w));
}

// The convolution of dy, with holes where the forward one made strides, by the filter reversed and
// with its two depths exchanged.
V backward_input(Conv& c, const Dims& in, V filter, V dy, const ir::Window& w) {
  ir::Builder& b = c.l.b;
  const int spatial = c.attrs.spatial;
  const Dims out = window_out(w, in);
  b.same(in[0], dy->dim(0));
  for (int i = 0; i < spatial; ++i) b.same(out[size_t(i)], dy->dim(i + 1));
  ir::Window t{.size = w.size,
               .stride = std::vector<int64_t>(size_t(spatial), 1),
               .dilation = w.dilation,
               .base_dilation = w.stride,
               .low = {},
               .high = {},
               .groups = w.groups};
  transposed_padding(w, in, out, t.low, t.high);
  auto beyond = [](const ir::Dim& d) { return d.is_const() && d.value() < 0; };
  if (std::any_of(t.low.begin(), t.low.end(), beyond) || std::any_of(t.high.begin(), t.high.end(), beyond)) {
    // The forward op padded by more than the filter reaches: what is outside is cut off.
    Dims low = {0}, high = {0};
    std::vector<int64_t> holes = {0};
    for (int i = 0; i < spatial; ++i) {
      low.push_back(t.low[size_t(i)]);
      high.push_back(t.high[size_t(i)]);
      holes.push_back(w.stride[size_t(i)] - 1);
    }
    low.emplace_back(0), high.emplace_back(0), holes.push_back(0);
    dy = b.pad(dy, b.scalar(dy->type.dtype, 0), low, high, holes);
    t.low = t.high = Dims(size_t(spatial), 0);
    t.base_dilation.assign(size_t(spatial), 1);
  }
  filter = c.plain_filter(filter);
  if (!filter) return nullptr;
  const ir::Dim g = w.groups, depth = filter->dim(spatial), each = floor_div(filter->dim(spatial + 1), g);
  Dims apart(filter->type.dims.begin(), filter->type.dims.begin() + spatial), together = apart;
  apart.insert(apart.end(), {depth, g, each});
  together.insert(together.end(), {each, g * depth});
  std::vector<int> axes, spatial_axes;
  for (int i = 0; i < spatial; ++i) spatial_axes.push_back(i);
  axes = spatial_axes;
  axes.insert(axes.end(), {spatial + 2, spatial + 1, spatial});
  const V regrouped = b.reshape(b.transpose(b.reshape(filter, apart), axes), together);
  return b.conv(dy, b.reverse(regrouped, spatial_axes), t);
}

// Inputs: sizes of the input, filter, dy.
LoweredList input_gradient(LowerContext& l) {
  Conv c(l);
  const V filter = widened(l, l.x(1));
  if (!c.has_rank(filter, "filter") || !c.has_rank(l.x(2), "out_backprop")) return {};
  const V dy = c.last(l.x(2));
  if (!dy) return {};
  const auto sizes = l.sizes(0);
  if (!sizes) return {};
  Dims in = *sizes;
  if (in.size() == size_t(c.attrs.spatial) && !c.depthwise) {  // the spatial sizes alone: the rest follows from the other inputs
    in.insert(in.begin(), dy->dim(0));
    in.push_back(filter->dim(c.attrs.spatial));
  } else if (in.size() == size_t(c.attrs.spatial) + 2) {
    in = channels_last(in, c.first());
  }
  const auto w = c.window(in, filter->type.dims);
  if (!w) return {};
  return c.done(backward_input(c, in, filter, dy, *w));
}

// Inputs: the input, sizes of the filter, dy.
LoweredList filter_gradient(LowerContext& l) {
  Conv c(l);
  if (!c.has_rank(l.x(0), "input") || !c.has_rank(l.x(2), "out_backprop")) return {};
  const V x = c.last(l.x(0)), dy = c.last(l.x(2));
  if (!x || !dy) return {};
  const auto sizes = l.sizes(1);
  if (!sizes) return {};
  const auto w = c.window(x->type.dims, *sizes);
  if (!w) return {};
  const Dims out = window_out(*w, x->type.dims);
  l.b.same(x->dim(0), dy->dim(0));
  for (int i = 0; i < c.attrs.spatial; ++i) l.b.same(out[size_t(i)], dy->dim(i + 1));
  return {l.b.convert(l.b.reshape(l.b.conv_filter_grad(x, dy, *w), *sizes), l.out_type())};
}

}  // namespace

void lower_conv(Registry& r) {
  for (const char* op : {"Conv2D", "Conv3D", "DepthwiseConv2dNative"}) r.lower(op, forward);
  for (const char* op : {"Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"}) r.lower(op, filter_gradient);
  for (const char* op : {"Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"}) r.lower(op, input_gradient);
}

}  // namespace weft_engine::ops

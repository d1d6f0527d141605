// Pools of images and volumes, and their gradients.
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/nn/window_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Dims = std::vector<ir::Dim>;
using V = ir::Value;

// One use of a pool. Windows come as attributes, or (the V2 ops) as the last two inputs.
struct Pool {
  explicit Pool(LowerContext& l) : l(l) {
    attrs.spatial = l.node.op().find("3D") != std::string_view::npos ? 3 : 2;
    const std::string& format = l.attr<std::string>("data_format");
    attrs.channels_first = format == "NCHW" || format == "NCDHW";
    if (format == "NCHW_VECT_C") l.fail(invalid_argument("NCHW_VECT_C is not supported on device type CPU"));
    attrs.padding = l.attr<std::string>("padding");
    if (l.node.find_attr("explicit_paddings")) attrs.paddings = l.attr<std::vector<int64_t>>("explicit_paddings");
    if (l.node.find_attr("ksize")) {
      ksize = l.attr<std::vector<int64_t>>("ksize");
      attrs.strides = l.attr<std::vector<int64_t>>("strides");
    } else {
      const auto k = l.ints(l.num_inputs() - 2), s = l.ints(l.num_inputs() - 1);
      if (!k || !s) return;
      ksize = *k;
      attrs.strides = *s;
    }
    check();
  }

  void check() {
    const size_t rank = size_t(attrs.spatial) + 2;
    if (ksize.size() != rank) return void(l.fail(invalid_argument("Sliding window ksize field must specify ", rank, " dimensions")));
    if (attrs.strides.size() != rank) return void(l.fail(invalid_argument("Sliding window stride field must specify ", rank, " dimensions")));
    for (int64_t k : ksize) {
      if (k <= 0 || k > std::numeric_limits<int32_t>::max()) return void(l.fail(invalid_argument("Sliding window ksize must be positive.")));
    }
    for (int64_t s : attrs.strides) {
      if (s <= 0 || s > std::numeric_limits<int32_t>::max()) return void(l.fail(invalid_argument("Stride must be > 0, but got ", s)));
    }
    if (ksize[0] != 1 || attrs.strides[0] != 1) return void(l.fail(unimplemented("Pooling is not yet supported on the batch dimension.")));
    if (Status s = check_explicit_paddings(attrs); !s.ok()) l.fail(s);
  }

  V last(int i) { return channels_last(l, widened(l, l.x(i)), attrs.channels_first); }
  LoweredList done(V y) { return {l.b.convert(channels_back(l, y, attrs.channels_first), l.out_type())}; }
  int64_t depth() const { return ksize[size_t(attrs.channel_axis())]; }

  std::optional<ir::Window> window(const Dims& in) {
    if (!l.ok()) return std::nullopt;
    if (int(in.size()) != attrs.spatial + 2) {
      l.fail(invalid_argument("tensor_in must be ", attrs.spatial + 2, "-dimensional"));
      return std::nullopt;
    }
    std::vector<int64_t> sizes;
    for (int i = 0; i < attrs.spatial; ++i) sizes.push_back(ksize[size_t(attrs.axis(i))]);
    return make_window(l, attrs, sizes, in);
  }

  LowerContext& l;
  WindowAttrs attrs;
  std::vector<int64_t> ksize;
};

// Over runs of channels.
LoweredList depth_max_pool(Pool& p, V x) {
  const ir::Dim& channels = x->dim(x->rank() - 1);
  const int64_t n = p.depth();
  for (int i = 0; i < p.attrs.spatial; ++i) {
    if (p.ksize[size_t(p.attrs.axis(i))] != 1)
      return p.l.fail(unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height."));
  }
  if (!channels.is_const() || channels.value() % n != 0)
    return p.l.fail(unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth"));
  if (p.attrs.strides[size_t(p.attrs.channel_axis())] != n)
    return p.l.fail(unimplemented("Depthwise max pooling requires the depth window to equal the depth stride"));
  Dims dims = x->type.dims;
  dims.back() = channels.value() / n;
  dims.push_back(n);
  return p.done(p.l.b.reduce(ir::Reduce::kMax, p.l.b.reshape(x, dims), {x->rank()}));
}

LoweredList pool(LowerContext& l) {
  Pool p(l);
  if (!l.ok()) return {};
  const V x = p.last(0);
  if (!x) return {};
  const bool max = l.node.op().starts_with("Max");
  const auto w = p.window(x->type.dims);
  if (!w) return {};
  if (p.depth() != 1) return max ? depth_max_pool(p, x) : l.unsupported("windows over channels");
  return p.done(l.b.window(max ? ir::Reduce::kMax : ir::Reduce::kMean, x, *w));
}

// Dims of windows must agree with those of the gradient.
void check_gradient(LowerContext& l, const Dims& out, const Dims& in, V dy) {
  l.b.same(in[0], dy->dim(0));
  l.b.same(in.back(), dy->dim(dy->rank() - 1));
  for (size_t i = 0; i < out.size(); ++i) l.b.same(out[i], dy->dim(int(i) + 1));
}

// Each output's share goes to all places of its window: a sum over dy with holes where there were strides.
LoweredList avg_pool_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  Pool p(l);
  if (!l.ok()) return {};
  const auto sizes = l.sizes(0);
  const V dy = p.last(1);
  if (!sizes || !dy) return {};
  if (int(sizes->size()) != p.attrs.spatial + 2 || dy->rank() != p.attrs.spatial + 2)
    return l.fail(invalid_argument("out_backprop must be ", p.attrs.spatial + 2, "-dimensional"));
  if (p.depth() != 1) return l.unsupported("windows over channels");
  const Dims in = channels_last(*sizes, p.attrs.channels_first);
  const auto w = p.window(in);
  if (!w) return {};
  const Dims out = window_out(*w, in);
  check_gradient(l, out, in, dy);
  Dims ones(in.size(), 1), low, high;
  std::copy(in.begin() + 1, in.end() - 1, ones.begin() + 1);
  V share = dy;
  if (p.attrs.padding == "VALID") {
    double n = 1;
    for (int64_t k : w->size) n *= double(k);
    share = b.div(dy, n);
  } else {
    share = b.div(dy, b.window(ir::Reduce::kSum, b.fill(dy->type.dtype, ones, 1), *w));
  }
  transposed_padding(*w, in, out, low, high);
  std::vector<int64_t> holes(in.size(), 0);
  Dims before(in.size(), 0), behind(in.size(), 0);
  for (size_t i = 0; i < low.size(); ++i) {
    holes[i + 1] = w->stride[i] - 1;
    before[i + 1] = low[i];
    behind[i + 1] = high[i];
  }
  ir::Window t = *w;
  t.stride.assign(t.size.size(), 1);
  t.low = t.high = Dims(t.size.size(), 0);
  return p.done(b.window(ir::Reduce::kSum, b.pad(share, b.scalar(dy->type.dtype, 0), before, behind, holes), t));
}

// In volumes all equal maxima of a window get the gradient: one place of the windows after the other.
V shared_max_grad(ir::Builder& b, V x, V y, V dy, const ir::Window& w) {
  int64_t places = 1;
  for (int64_t k : w.size) places *= k;
  if (places > 64) return b.fail(unimplemented("the compiler cannot lower the gradient of a window of ", places, " places at '", b.node(), "'"));
  const V zero = b.scalar(dy->type.dtype, 0), none = b.scalar(x->type.dtype, -std::numeric_limits<double>::infinity());
  const size_t rank = x->type.dims.size();
  Dims low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < w.size.size(); ++i) {
    low[i + 1] = w.low[i];
    high[i + 1] = w.high[i];
  }
  const V padded = b.pad(x, none, low, high);
  if (!padded) return nullptr;
  V sum = nullptr;
  std::vector<int64_t> steps(rank, 1), holes(rank, 0);
  for (size_t i = 0; i < w.size.size(); ++i) {
    steps[i + 1] = w.stride[i];
    holes[i + 1] = w.stride[i] - 1;
  }
  for (int64_t place = 0; place < places; ++place) {
    Dims starts(rank, 0), before(rank, 0), behind(rank, 0);
    int64_t rest = place;
    for (size_t i = w.size.size(); i-- > 0; rest /= w.size[i]) {
      const ir::Dim at = rest % w.size[i], reach = at + (y->dim(int(i) + 1) - ir::Dim(1)) * ir::Dim(w.stride[i]) + ir::Dim(1);
      starts[i + 1] = at;
      before[i + 1] = at - w.low[i];
      behind[i + 1] = x->dim(int(i) + 1) + w.low[i] - reach;
    }
    const V here = b.slice(padded, starts, y->type.dims, steps);
    const V part = b.pad(b.select(b.compare(ir::Compare::kEq, here, y), dy, zero), zero, before, behind, holes);
    sum = sum ? b.add(sum, part) : part;
  }
  return sum;
}

LoweredList max_pool_grad(LowerContext& l) {
  Pool p(l);
  if (!l.ok()) return {};
  const V x = p.last(0), y = p.last(1), dy = p.last(2);
  if (!x || !y || !dy) return {};
  const auto w = p.window(x->type.dims);
  if (!w) return {};
  if (p.depth() != 1) return l.fail(unimplemented("MaxPoolingGrad is not yet supported on the depth dimension."));
  if (dy->rank() != x->rank() || y->rank() != x->rank()) return l.fail(invalid_argument("out_backprop must be ", x->rank(), "-dimensional"));
  check_gradient(l, window_out(*w, x->type.dims), x->type.dims, dy);
  if (!l.ok()) return {};
  return p.done(p.attrs.spatial == 3 ? shared_max_grad(l.b, x, y, dy, *w) : l.b.max_pool_grad(x, dy, *w));
}

// The windows themselves, each as one run of channels: one place of the windows after the other.
LoweredList extract_patches(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x();
  if (!x) return {};
  WindowAttrs a;
  a.padding = l.attr<std::string>("padding");
  a.strides = l.attr<std::vector<int64_t>>("strides");
  a.dilations = l.attr<std::vector<int64_t>>("rates");
  const auto& ksizes = l.attr<std::vector<int64_t>>("ksizes");
  constexpr int64_t kMost = 1 << 20;
  for (const std::vector<int64_t>* list : std::initializer_list<const std::vector<int64_t>*>{&a.strides, &a.dilations, &ksizes}) {
    if (x->rank() != 4 || list->size() != 4 || (*list)[0] != 1 || (*list)[3] != 1) return l.unsupported("windows over batch or channels");
    for (int64_t v : *list) {
      if (v <= 0 || v > kMost) return l.fail(invalid_argument("ksizes, strides and rates must be positive, got ", v));
    }
  }
  const auto w = make_window(l, a, {ksizes[1], ksizes[2]}, x->type.dims);
  if (!w) return {};
  if (ksizes[1] * ksizes[2] > 256) return l.unsupported("windows of more than 256 places");
  const Dims out = window_out(*w, x->type.dims);
  const V padded = b.pad(x, b.scalar(x->type.dtype, 0), {0, w->low[0], w->low[1], 0}, {0, w->high[0], w->high[1], 0});
  std::vector<V> parts;
  for (int64_t i = 0; i < ksizes[1]; ++i) {
    for (int64_t j = 0; j < ksizes[2]; ++j)
      parts.push_back(b.slice(padded, {0, i * w->dilation[0], j * w->dilation[1], 0}, {x->dim(0), out[0], out[1], x->dim(3)},
                              {1, w->stride[0], w->stride[1], 1}));
  }
  return {b.concat(parts, 3)};
}

}  // namespace

void lower_pool(Registry& r) {
  for (const char* op : {"AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "MaxPoolV2"}) r.lower(op, pool);
  r.lower("ExtractImagePatches", extract_patches);
  for (const char* op : {"AvgPoolGrad", "AvgPool3DGrad"}) r.lower(op, avg_pool_grad);
  for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad"}) r.lower(op, max_pool_grad);
}

}  // namespace weft_engine::ops

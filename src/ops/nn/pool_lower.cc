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

constexpr int64_t kMostPlaces = 256;  // code is written for each

bool few_places(ir::Builder& b, const ir::Window& w) {
  if (places(w) <= kMostPlaces) return true;
  b.fail(unimplemented("the compiler cannot lower a window of ", places(w), " places at '", b.node(), "'"));
  return false;
}

// In volumes all equal maxima of a window get the gradient.
V shared_max_grad(ir::Builder& b, V x, V y, V dy, const ir::Window& w) {
  if (!few_places(b, w)) return nullptr;
  const V zero = b.scalar(dy->type.dtype, 0), padded = with_padding(b, x, below_all(b, x->type.dtype), w);
  const std::vector<V> parts = places_of_windows(b, padded, w, window_out(w, x->type.dims));
  V sum = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    const V part = place_back(b, b.select(b.compare(ir::Compare::kEq, parts[i], y), dy, zero), w, x->type.dims, int64_t(i));
    sum = sum ? b.add(sum, part) : part;
  }
  return sum;
}

// The gradient at the first largest element of each window.
LoweredList max_pool_grad_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  Pool p(l);
  if (!l.ok()) return {};
  const V x = p.last(0), y = p.last(1), dx = p.last(2);
  if (!x || !y || !dx) return {};
  const auto w = p.window(x->type.dims);
  if (!w || !few_places(b, *w)) return {};
  if (p.depth() != 1) return l.fail(unimplemented("MaxPoolingGradGrad is not yet supported on the depth dimension."));
  if (dx->rank() != x->rank() || y->rank() != x->rank()) return l.fail(invalid_argument("out_grad_backprop must be ", x->rank(), "-dimensional"));
  const Dims out = window_out(*w, x->type.dims);
  check_gradient(l, out, x->type.dims, y);
  for (int i = 0; i < x->rank(); ++i) b.same(x->dim(i), dx->dim(i));
  if (!l.ok()) return {};
  const V zero = b.scalar(dx->type.dtype, 0);
  const std::vector<V> at = places_of_windows(b, with_padding(b, x, below_all(b, x->type.dtype), *w), *w, out);
  const std::vector<V> slope = places_of_windows(b, with_padding(b, dx, zero, *w), *w, out);
  V result = b.fill(dx->type.dtype, y->type.dims, 0);
  for (size_t i = at.size(); i-- > 0;) result = b.select(b.compare(ir::Compare::kEq, at[i], y), slope[i], result);
  return p.done(result);
}

// The number of each element in its image, or in all of them.
V flat_index(ir::Builder& b, const Dims& dims, bool with_batch) {
  const V size = b.sizes({dims[1] * dims[2] * dims[3]}, DType::kInt64, true);
  const auto part = [&](int axis, ir::Dim times) {
    return b.mul(b.iota(DType::kInt64, dims, axis), b.sizes({std::move(times)}, DType::kInt64, true));
  };
  const V in_image = b.add(b.add(part(1, dims[2] * dims[3]), part(2, dims[3])), b.iota(DType::kInt64, dims, 3));
  return with_batch ? b.add(in_image, b.mul(b.iota(DType::kInt64, dims, 0), size)) : in_image;
}

// The window of ops without a data format.
std::optional<ir::Window> plain_window(LowerContext& l, const Dims& in) {
  const auto bad = [&](Status s) {
    l.fail(std::move(s));
    return std::nullopt;
  };
  WindowAttrs attrs;
  attrs.padding = l.attr<std::string>("padding");
  attrs.strides = l.attr<std::vector<int64_t>>("strides");
  const auto& ksize = l.attr<std::vector<int64_t>>("ksize");
  if (in.size() != 4) return bad(invalid_argument("tensor_in must be 4-dimensional (2)"));
  for (const std::vector<int64_t>* list : {static_cast<const std::vector<int64_t>*>(&attrs.strides), &ksize}) {
    if (list->size() != 4) return bad(invalid_argument("Sliding window ksize and strides must specify 4 dimensions"));
    for (int64_t v : *list) {
      if (v <= 0 || v > std::numeric_limits<int32_t>::max()) return bad(invalid_argument("Sliding window ksize and strides must be positive."));
    }
    if ((*list)[0] != 1 || (*list)[3] != 1)
      return bad(unimplemented("the compiler cannot lower windows over batch or channels at '", l.node.name(), "'"));
  }
  return make_window(l, attrs, {ksize[1], ksize[2]}, in);
}

LoweredList max_pool_with_argmax(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = widened(l, l.x());
  if (!x) return {};
  const auto w = plain_window(l, x->type.dims);
  if (!w || !few_places(b, *w)) return {};
  const Dims out = window_out(*w, x->type.dims);
  const V index = flat_index(b, x->type.dims, l.attr<bool>("include_batch_in_index"));
  const std::vector<V> at = places_of_windows(b, with_padding(b, x, below_all(b, x->type.dtype), *w), *w, out);
  const std::vector<V> numbers = places_of_windows(b, with_padding(b, index, b.scalar_int(DType::kInt64, -1), *w), *w, out);
  if (at.empty() || !l.ok()) return {};
  V best = at[0], where = numbers[0];
  for (size_t i = 1; i < at.size(); ++i) {
    // A place outside gives way to any inside.
    const V first = b.compare(ir::Compare::kLt, where, b.scalar_int(DType::kInt64, 0));
    const V in = b.compare(ir::Compare::kGe, numbers[i], b.scalar_int(DType::kInt64, 0));
    const V more = b.binary(ir::Binary::kAnd, in, b.binary(ir::Binary::kOr, first, b.compare(ir::Compare::kGt, at[i], best)));
    best = b.select(more, at[i], best);
    where = b.select(more, numbers[i], where);
  }
  return {b.convert(best, l.out_type(0)), b.convert(where, l.out_type(1))};
}

LoweredList max_pool_grad_with_argmax(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x(0), dy = widened(l, l.x(1)), where = l.x(2);
  if (!x || !dy || !where) return {};
  const auto w = plain_window(l, x->type.dims);
  if (!w) return {};
  if (dy->rank() != 4 || where->rank() != 4) return l.fail(invalid_argument("Expected grad and argmax to be 4-dimensional"));
  check_gradient(l, window_out(*w, x->type.dims), x->type.dims, dy);
  for (int i = 0; i < 4; ++i) b.same(dy->dim(i), where->dim(i));
  if (!l.ok()) return {};
  V at = b.convert(where, DType::kInt64);
  if (!l.attr<bool>("include_batch_in_index")) {
    const V size = b.sizes({x->dim(1) * x->dim(2) * x->dim(3)}, DType::kInt64, true);
    at = b.add(at, b.mul(b.iota(DType::kInt64, dy->type.dims, 0), size));
  }
  const ir::Dim n = dy->type.elements();
  const V sum = b.scatter(b.fill(dy->type.dtype, {x->type.elements()}, 0), b.reshape(at, {n}), b.reshape(dy, {n}), ir::Reduce::kSum,
                          "Invalid argmax: an index is outside of the input");
  return {b.convert(b.reshape(sum, x->type.dims), l.out_type())};
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
template <int spatial>
LoweredList extract_patches(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x();
  if (!x) return {};
  WindowAttrs a;
  a.spatial = spatial;
  a.padding = l.attr<std::string>("padding");
  a.strides = l.attr<std::vector<int64_t>>("strides");
  if (spatial == 2) a.dilations = l.attr<std::vector<int64_t>>("rates");
  const auto& ksizes = l.attr<std::vector<int64_t>>("ksizes");
  constexpr int64_t kMost = 1 << 20;
  for (const std::vector<int64_t>* list : std::initializer_list<const std::vector<int64_t>*>{&a.strides, &a.dilations, &ksizes}) {
    if (list->empty()) continue;
    if (x->rank() != spatial + 2 || list->size() != size_t(spatial) + 2 || list->front() != 1 || list->back() != 1)
      return l.unsupported("windows over batch or channels");
    for (int64_t v : *list) {
      if (v <= 0 || v > kMost) return l.fail(invalid_argument("ksizes, strides and rates must be positive, got ", v));
    }
  }
  const auto w = make_window(l, a, std::vector<int64_t>(ksizes.begin() + 1, ksizes.end() - 1), x->type.dims);
  if (!w || !few_places(b, *w)) return {};
  return {b.concat(places_of_windows(b, with_padding(b, x, b.scalar(x->type.dtype, 0), *w), *w, window_out(*w, x->type.dims)), spatial + 1)};
}

}  // namespace

void lower_pool(Registry& r) {
  for (const char* op : {"AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "MaxPoolV2"}) r.lower(op, pool);
  r.lower("ExtractImagePatches", extract_patches<2>);
  r.lower("ExtractVolumePatches", extract_patches<3>);
  for (const char* op : {"MaxPool3DGradGrad", "MaxPoolGradGrad", "MaxPoolGradGradV2"}) r.lower(op, max_pool_grad_grad);
  r.lower("MaxPoolGradWithArgmax", max_pool_grad_with_argmax);
  r.lower("MaxPoolWithArgmax", max_pool_with_argmax);
  for (const char* op : {"AvgPoolGrad", "AvgPool3DGrad"}) r.lower(op, avg_pool_grad);
  for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad"}) r.lower(op, max_pool_grad);
}

}  // namespace weft_engine::ops

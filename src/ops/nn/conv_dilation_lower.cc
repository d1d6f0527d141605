// Grey-scale dilation and its gradients: one place of the windows after the other.
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/nn/window_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Dims = std::vector<ir::Dim>;
using V = ir::Value;

// The greatest sum of each window, and at which place it is first.
struct Dilation {
  V x = nullptr, filter = nullptr, best = nullptr, where = nullptr;  // where: int32, -1 if nothing is greater than the lowest number
  std::optional<ir::Window> w;
  Dims out;
};

// The lowest number that is not infinite.
V lowest(ir::Builder& b, DType t) {
  switch (t) {
    case DType::kHalf: return b.scalar(t, -65504);
    case DType::kBfloat16: return b.scalar(t, -3.3895313892515355e38);
    case DType::kFloat: return b.scalar(t, double(std::numeric_limits<float>::lowest()));
    case DType::kDouble: return b.scalar(t, std::numeric_limits<double>::lowest());
    default: return below_all(b, t);
  }
}

Dilation dilate(LowerContext& l) {
  ir::Builder& b = l.b;
  Dilation d;
  d.x = l.x(0);
  d.filter = l.x(1);
  if (!d.x || !d.filter) return d;
  if (d.x->rank() != 4 || d.filter->rank() != 3) {
    l.fail(invalid_argument("input must be 4-dimensional and filter 3-dimensional"));
    return d;
  }
  b.same(d.x->dim(3), d.filter->dim(2));
  WindowAttrs a;
  a.padding = l.attr<std::string>("padding");
  a.strides = l.attr<std::vector<int64_t>>("strides");
  a.dilations = l.attr<std::vector<int64_t>>("rates");
  for (const auto* list : {&a.strides, &a.dilations}) {
    if (list->size() != 4 || (*list)[0] != 1 || (*list)[3] != 1 || (*list)[1] < 1 || (*list)[2] < 1) {
      l.unsupported("these strides and rates");
      return d;
    }
  }
  if (!d.filter->dim(0).is_const() || !d.filter->dim(1).is_const() || d.filter->dim(0).is(0) || d.filter->dim(1).is(0)) {
    l.unsupported("a filter of unknown or no size");
    return d;
  }
  d.w = make_window(l, a, {d.filter->dim(0).value(), d.filter->dim(1).value()}, d.x->type.dims);
  if (!d.w) return d;
  if (places(*d.w) > 256) {
    l.unsupported("windows of more than 256 places");
    d.w.reset();
    return d;
  }
  d.out = window_out(*d.w, d.x->type.dims);
  const DType t = d.x->type.dtype;
  const V low = lowest(b, t), inside = with_padding(b, b.fill(DType::kBool, d.x->type.dims, 1), b.scalar(DType::kBool, 0), *d.w);
  const std::vector<V> parts = places_of_windows(b, with_padding(b, d.x, low, *d.w), *d.w, d.out), in = places_of_windows(b, inside, *d.w, d.out);
  if (!l.ok()) return d;
  const V taps = b.reshape(d.filter, {places(*d.w), d.filter->dim(2)});
  d.best = b.broadcast_to(low, parts[0]->type.dims);
  d.where = b.fill(DType::kInt32, parts[0]->type.dims, -1);
  for (size_t i = 0; i < parts.size(); ++i) {
    const V v = b.add(parts[i], b.reshape(b.slice_axis(taps, 0, int64_t(i), 1), {d.filter->dim(2)}));
    const V more = b.binary(ir::Binary::kAnd, in[i], b.compare(ir::Compare::kGt, v, d.best));
    d.best = b.select(more, v, d.best);
    d.where = b.select(more, b.scalar_int(DType::kInt32, int64_t(i)), d.where);
  }
  return d;
}

LoweredList dilation(LowerContext& l) { return {dilate(l).best}; }

// dy where the greatest sum is at this place. Where nothing beats the lowest number it goes to the first one.
V at_place(LowerContext& l, const Dilation& d, V dy, int64_t place) {
  ir::Builder& b = l.b;
  const V at = b.max(d.where, b.scalar_int(DType::kInt32, 0));
  return b.select(b.compare(ir::Compare::kEq, at, b.scalar_int(DType::kInt32, place)), dy, b.scalar(dy->type.dtype, 0));
}

V gradient_of(LowerContext& l, const Dilation& d) {
  const V dy = l.x(2);
  if (!dy || !d.best) return nullptr;
  if (dy->rank() != 4) return l.b.fail(invalid_argument("out_backprop must be 4-dimensional"));
  for (int i = 0; i < 4; ++i) l.b.same(dy->dim(i), d.best->dim(i));
  return l.ok() ? dy : nullptr;
}

LoweredList input_gradient(LowerContext& l) {
  const Dilation d = dilate(l);
  const V dy = gradient_of(l, d);
  if (!dy) return {};
  V sum = nullptr;
  for (int64_t i = 0; i < places(*d.w); ++i) {
    const V part = place_back(l.b, at_place(l, d, widened(l, dy), i), *d.w, d.x->type.dims, i);
    sum = sum ? l.b.add(sum, part) : part;
  }
  return {l.b.convert(sum, l.out_type())};
}

LoweredList filter_gradient(LowerContext& l) {
  const Dilation d = dilate(l);
  const V dy = gradient_of(l, d);
  if (!dy) return {};
  std::vector<V> sums;
  for (int64_t i = 0; i < places(*d.w); ++i) sums.push_back(l.b.expand_dims(l.b.sum(at_place(l, d, widened(l, dy), i), {0, 1, 2}), 0));
  return {l.b.convert(l.b.reshape(l.b.concat(sums, 0), d.filter->type.dims), l.out_type())};
}

}  // namespace

void lower_conv_dilation(Registry& r) {
  r.lower("Dilation2D", dilation);
  r.lower("Dilation2DBackpropFilter", filter_gradient);
  r.lower("Dilation2DBackpropInput", input_gradient);
}

}  // namespace weft_engine::ops

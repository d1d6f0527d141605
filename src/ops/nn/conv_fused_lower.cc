// Convolutions of images that are resized and mirrored at their borders first.
#include <cmath>

#include "ops/lower_util.h"
#include "ops/nn/window_lower.h"

namespace weft_engine::ops {
namespace {

// Bilinear, in the type of the image, without half pixel centres.
Value resized(ir::Builder& b, Value x, int axis, int64_t size, bool align) {
  const int64_t in = x->dim(axis).value();
  const float scale = align && size > 1 ? float(in - 1) / float(size - 1) : float(in) / float(size);
  std::vector<int64_t> lower, upper;
  std::vector<float> fraction;
  for (int64_t i = 0; i < size; ++i) {
    const float at = float(i) * scale;
    lower.push_back(std::min(int64_t(std::floor(at)), in - 1));
    upper.push_back(std::min(int64_t(std::ceil(at)), in - 1));
    fraction.push_back(at - float(lower.back()));
  }
  const Value low = b.gather(x, b.ints(lower), axis, 0, ""), high = b.gather(x, b.ints(upper), axis, 0, "");
  if (!low || !high) return nullptr;
  const Value f = b.broadcast_in_dim(b.convert(b.constant(Tensor::vector(fraction)), x->type.dtype), low->type.dims, {axis});
  return b.add(low, b.mul(b.sub(high, low), f));
}

// `at`: the number of the input with the paddings; the filter is behind it.
LoweredList pad_and_convolve(LowerContext& l, Value x, int at) {
  ir::Builder& b = l.b;
  const auto paddings = l.ints(at);
  const Value filter = l.x(at + 1);
  if (!paddings || !x || !filter) return {};
  const auto& strides = l.attr<std::vector<int64_t>>("strides");
  // The kernel says what is wrong.
  if (paddings->size() != 8 || filter->rank() != 4 || strides.size() != 4 || strides[0] != 1 || strides[3] != 1) return l.unsupported("such a call");
  const int64_t edge = l.attr<std::string>("mode") == "REFLECT" ? 1 : 0;
  for (int d = 0; d < 4; ++d) {
    const int64_t before = (*paddings)[size_t(2 * d)], behind = (*paddings)[size_t(2 * d) + 1];
    if (before == 0 && behind == 0) continue;
    if (!x->dim(d).is_const()) return l.unsupported("open sizes");
    const int64_t n = x->dim(d).value();
    if (before < 0 || behind < 0 || before > n - edge || behind > n - edge) return l.unsupported("such paddings");
    std::vector<int64_t> from;
    for (int64_t i = -before; i < n + behind; ++i) from.push_back(i < 0 ? -i - 1 + edge : i < n ? i : 2 * n - i - 1 - edge);
    x = b.gather(x, b.ints(from), d, 0, "");
    if (!x) return {};
  }
  b.same(x->dim(3), filter->dim(2));
  if (!l.ok()) return {};
  if (!filter->dim(0).is_const() || !filter->dim(1).is_const()) return l.unsupported("an open filter");
  WindowAttrs a;
  a.strides = strides;
  a.padding = l.attr<std::string>("padding");
  const auto w = make_window(l, a, {filter->dim(0).value(), filter->dim(1).value()}, x->type.dims);
  if (!w) return {};
  return {b.convert(b.conv(widened(l, x), widened(l, filter), *w), l.out_type())};
}

LoweredList pad_conv(LowerContext& l) {
  const Value x = l.x();
  if (x && x->rank() != 4) return l.unsupported("such a call");
  return pad_and_convolve(l, x, 1);
}

LoweredList resize_pad_conv(LowerContext& l) {
  Value x = l.x();
  const auto size = l.ints(1);
  if (!x || !size) return {};
  if (x->rank() != 4 || size->size() != 2 || (*size)[0] <= 0 || (*size)[1] <= 0 || is_narrow(x->type.dtype)) return l.unsupported("such a call");
  for (int d = 1; d < 3; ++d) {
    if (!x->dim(d).is_const()) return l.unsupported("an open height or width");
    if (x->dim(d).is(0)) return l.unsupported("empty images");
  }
  const bool align = l.attr<bool>("resize_align_corners");
  x = resized(l.b, x, 2, (*size)[1], align);
  if (x) x = resized(l.b, x, 1, (*size)[0], align);
  return pad_and_convolve(l, x, 2);
}

}  // namespace

void lower_conv_fused(Registry& r) {
  r.lower("FusedPadConv2D", pad_conv);
  r.lower("FusedResizeAndPadConv2D", resize_pad_conv);
}

}  // namespace weft_engine::ops

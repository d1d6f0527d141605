// Quantised images: convolution, the largest of windows, normalisation, resizing.
#include <cmath>

#include "ops/nn/window_lower.h"
#include "ops/quantized/quantized_lower.h"

namespace weft_engine::ops {
namespace {

using C = ir::Compare;
using U = ir::Unary;

// Bytes less the place of zero are what the window sums: outside of the image there is nothing to add.
LoweredList quantized_conv(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), filter = l.x(1), min_x = range_input(l, 2, "min_input"), max_x = range_input(l, 3, "max_input"),
              min_f = range_input(l, 4, "min_filter"), max_f = range_input(l, 5, "max_filter");
  if (!l.ok() || !x || !filter) return {};
  if (l.node.input_types()[1] != DType::kQuint8) return l.unsupported("a signed filter");
  const auto& strides = l.attr<std::vector<int64_t>>("strides");
  if (x->rank() != 4 || filter->rank() != 4 || strides.size() != 4 || strides[0] != 1 || strides[3] != 1 || strides[1] != strides[2] ||
      strides[1] < 1)
    return l.unsupported("such a call");  // the kernel says what is wrong
  for (int64_t d : l.attr<std::vector<int64_t>>("dilations")) {
    if (d != 1) return l.unsupported("dilations");
  }
  if (!fixed_sizes(l, x) || !fixed_sizes(l, filter)) return {};
  if (!(x->dim(3) == filter->dim(2))) return l.unsupported("such depths");
  const bool valid = l.attr<std::string>("padding") == "VALID";
  ir::Window w;
  for (int d = 0; d < 2; ++d) {
    const int64_t in = x->dim(d + 1).value(), size = filter->dim(d).value(), stride = strides[size_t(d) + 1];
    const int64_t out = valid ? (in - size + stride) / stride : (in + stride - 1) / stride;
    if (size < 1 || in < 1 || out < 1 || (valid && in < size)) return l.unsupported("empty windows");
    // What VALID leaves over is shared between both sides, as in TensorFlow's kernel.
    const int64_t all = (out - 1) * stride + size - in, before = (all + (valid ? 1 : 0)) / 2;
    w.size.push_back(size);
    w.stride.push_back(stride);
    w.dilation.push_back(1);
    w.low.emplace_back(before);
    w.high.emplace_back(all - before);
  }
  const QuantizedType byte = quantized_type(DType::kQuint8);
  const auto centred = [&](Value v, Value low, Value high) {
    return b.sub(b.convert(v, DType::kInt32), b.convert(quantize_unclamped(b, byte, number(b, 0), low, high), DType::kInt32));
  };
  // Padding that is negative leaves pixels out.
  Value image = centred(x, min_x, max_x);
  Dims low(4), high(4);
  for (size_t d = 0; d < 2; ++d) {
    low[d + 1] = w.low[d], high[d + 1] = w.high[d];
    w.low[d] = 0, w.high[d] = 0;
  }
  image = b.pad(image, b.scalar_int(DType::kInt32, 0), low, high);
  const auto [new_low, new_high] = product_range(b, min_x, max_x, min_f, max_f);
  return {b.conv(image, centred(filter, min_f, max_f), w), new_low, new_high};
}

LoweredList quantized_max_pool(LowerContext& l) {
  const Value x = l.x(0), low = range_input(l, 1, "min_input"), high = range_input(l, 2, "max_input");
  if (!l.ok() || !x) return {};
  WindowAttrs a;
  a.strides = l.attr<std::vector<int64_t>>("strides");
  a.padding = l.attr<std::string>("padding");
  const auto& ksize = l.attr<std::vector<int64_t>>("ksize");
  if (x->rank() != 4 || ksize.size() != 4 || a.strides.size() != 4 || ksize[0] != 1 || ksize[3] != 1 || a.strides[0] != 1 || a.strides[3] != 1)
    return l.unsupported("such a call");
  if (!fixed_sizes(l, x)) return {};
  const auto w = make_window(l, a, {ksize[1], ksize[2]}, x->type.dims);
  if (!w) return {};
  return {l.b.window(ir::Reduce::kMax, x, *w), low, high};
}

LoweredList quantized_instance_norm(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), min = range_input(l, 1, "x_min"), max = range_input(l, 2, "x_max");
  const bool given = l.attr<bool>("output_range_given");
  if (!l.ok() || !x) return {};
  if (given && !(l.attr<float>("given_y_min") < l.attr<float>("given_y_max"))) return l.unsupported("such a range");
  if (x->rank() != 4) return l.fail(invalid_argument("x must be rank 4 but is rank ", x->rank()));
  if (!fixed_sizes(l, x)) return {};
  const int64_t positions = x->dim(1).value() * x->dim(2).value();
  if (positions == 0 || x->dim(0).is(0) || x->dim(3).is(0)) return l.unsupported("empty images");
  b.check(b.compare(C::kLt, min, max), "input_min must be less than input_max");
  const Value scale = b.div(b.sub(max, min), 255.0), pixels = b.convert(x, DType::kFloat);
  const Value mean = b.div(b.sum(pixels, {1, 2}, true), double(positions));
  const Value scaled = b.mul(b.sub(pixels, mean), scale);
  const Value variance = b.div(b.sum(b.square(scaled), {1, 2}, true), double(positions));
  const Value inverse = b.div(number(b, 1), b.sqrt(b.add(variance, double(l.attr<float>("variance_epsilon")))));
  const Value y = b.mul(scaled, inverse);
  Value low = number(b, double(l.attr<float>("given_y_min"))), high = number(b, double(l.attr<float>("given_y_max")));
  if (!given) {
    low = b.reduce(ir::Reduce::kMin, y, {0, 1, 2, 3});
    high = b.reduce(ir::Reduce::kMax, y, {0, 1, 2, 3});
  }
  const double separation = double(l.attr<float>("min_separation"));
  high = b.select(b.compare(C::kLt, b.sub(high, low), number(b, separation)), b.add(low, separation), high);
  return {quantize_all(b, quantized_type(DType::kQuint8), y, low, high), low, high};
}

struct Places {
  std::vector<int64_t> lower, upper;
  std::vector<float> fraction;
};
Places places_between(int64_t out, int64_t in, bool align_corners, bool half_pixel) {
  const float scale = align_corners && out > 1 ? float(in - 1) / float(out - 1) : float(in) / float(out);
  Places p;
  for (int64_t i = 0; i < out; ++i) {
    const float x = half_pixel ? (float(i) + 0.5f) * scale - 0.5f : float(i) * scale, floor = std::floor(x);
    const int64_t upper = std::min(int64_t(std::ceil(x)), in - 1), lower = std::max<int64_t>(int64_t(floor), 0);
    p.lower.push_back(std::min(lower, upper));
    p.upper.push_back(upper);
    p.fraction.push_back(x - floor);
  }
  return p;
}

LoweredList quantized_resize(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value x = l.x(0), low = range_input(l, 2, "min"), high = range_input(l, 3, "max");
  const auto size = l.ints(1);
  if (!l.ok() || !x || !size) return {};
  if (x->rank() != 4 || size->size() != 2 || (*size)[0] < 1 || (*size)[1] < 1) return l.unsupported("such a call");
  if (!fixed_sizes(l, x)) return {};
  for (int d = 1; d < 4; ++d) {
    if (x->dim(d).is(0)) return l.unsupported("empty images");
  }
  const int64_t h = (*size)[0], w = (*size)[1];
  if (x->dim(1).is(h) && x->dim(2).is(w)) return {x, low, high};
  const bool align = l.attr<bool>("align_corners"), half_pixel = l.attr<bool>("half_pixel_centers");
  const Places ys = places_between(h, x->dim(1).value(), align, half_pixel), xs = places_between(w, x->dim(2).value(), align, half_pixel);
  const DType own = l.node.input_types()[0];
  const bool is_float = own == DType::kFloat;
  // Integers are mixed in fixed point; 32 bits by way of a float, which keeps 24 of them.
  const int64_t one = own == DType::kQuint8 ? 1 << 7 : 1 << 30;
  Value from = x;
  if (!is_float) from = b.convert(own == DType::kQuint8 ? x : b.convert(x, DType::kFloat), DType::kInt64);
  const auto corner = [&](const std::vector<int64_t>& rows, const std::vector<int64_t>& columns) {
    return b.gather(b.gather(from, b.ints(rows), 1, 0, ""), b.ints(columns), 2, 0, "");
  };
  const Value tl = corner(ys.lower, xs.lower), tr = corner(ys.lower, xs.upper), bl = corner(ys.upper, xs.lower), br = corner(ys.upper, xs.upper);
  if (!tl || !tr || !bl || !br) return {};
  const auto fraction = [&](const std::vector<float>& f, int axis) {
    const Value v = is_float ? b.constant(Tensor::vector(f)) : [&] {
      std::vector<int64_t> n;
      for (float k : f) n.push_back(int64_t(k * float(one)));
      return b.ints(n, DType::kInt64);
    }();
    return b.broadcast_in_dim(v, tl->type.dims, {axis});
  };
  const Value fx = fraction(xs.fraction, 2), fy = fraction(ys.fraction, 1);
  if (is_float) {
    const auto mixed = [&](Value a, Value c, Value f) { return b.add(a, apart(b, b.mul(b.sub(c, a), f))); };
    return {mixed(mixed(tl, tr, fx), mixed(bl, br, fx), fy), low, high};
  }
  const Value ones = b.scalar_int(DType::kInt64, one);
  const auto mixed = [&](Value a, Value c) { return b.add(b.mul(a, ones), b.mul(b.sub(c, a), fx)); };
  const Value top = mixed(tl, tr), bottom = mixed(bl, br);
  const Value sum = b.add(b.add(top, b.mul(b.div(b.sub(bottom, top), ones), fy)), b.scalar_int(DType::kInt64, one / 2));
  return {b.convert(b.div(sum, ones), quantized_type(own).plain), low, high};
}

}  // namespace

void lower_quantized_window(Registry& r) {
  r.lower("QuantizedConv2D", quantized_conv);
  r.lower("QuantizedInstanceNorm", quantized_instance_norm);
  r.lower("QuantizedMaxPool", quantized_max_pool);
  r.lower("QuantizedResizeBilinear", quantized_resize);
}

}  // namespace weft_engine::ops

// Resizing of images to sizes that are known when compiling, and its gradients; colours.
#include <cmath>

#include "kernels/cpu/resize.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

enum class Way { kNearest, kLinear, kCubic };

// Which pixels of one line make each pixel of the resized one, and how much of each: taps[k][i] is the k-th of pixel i.
struct Taps {
  std::vector<std::vector<int64_t>> at;
  std::vector<std::vector<float>> weight;
};

float resize_scale(int64_t in, int64_t out, bool align_corners) {
  return align_corners && out > 1 && in > 1 ? float(in - 1) / float(out - 1) : float(in) / float(out);
}

int64_t nearest(int64_t i, int64_t in, float scale, bool align_corners, bool half_pixel_centers) {
  const float position = half_pixel_centers ? (float(int32_t(i)) + 0.5f) * scale : float(int32_t(i)) * scale;
  return std::clamp<int64_t>(int64_t(align_corners ? std::round(position) : std::floor(position)), 0, in - 1);
}

Taps make_taps(Way way, int64_t in, int64_t out, bool align, bool centers) {
  const size_t count = way == Way::kNearest ? 1 : way == Way::kLinear ? 2 : 4, n = size_t(out);
  Taps t{std::vector(count, std::vector<int64_t>(n)), std::vector(count, std::vector<float>(n, 1))};
  const float scale = resize_scale(in, out, align);
  const auto linear = way == Way::kLinear ? kernels::linear_taps(out, in, scale, centers, 1) : std::vector<kernels::LinearTap>();
  const auto cubic = way == Way::kCubic ? kernels::cubic_taps(out, in, scale, centers, 1) : std::vector<kernels::CubicTap>();
  for (size_t i = 0; i < n; ++i) {
    switch (way) {
      case Way::kNearest: t.at[0][i] = nearest(int64_t(i), in, scale, align, centers); break;
      case Way::kLinear:
        t.at[0][i] = linear[i].lower, t.weight[0][i] = 1 - linear[i].weight;
        t.at[1][i] = linear[i].upper, t.weight[1][i] = linear[i].weight;
        break;
      case Way::kCubic:
        for (size_t k = 0; k < 4; ++k) t.at[k][i] = cubic[i].offset[k], t.weight[k][i] = cubic[i].weight[k];
    }
  }
  return t;
}

V resized(ir::Builder& b, V x, int axis, int64_t size, Way way, bool align, bool centers) {
  if (!x || x->dim(axis).is(size)) return x;
  const Taps t = make_taps(way, x->dim(axis).value(), size, align, centers);
  std::vector<V> at;
  for (const auto& places : t.at) at.push_back(b.gather(x, b.ints(places), axis, 0, ""));
  if (way == Way::kNearest) return at[0];
  auto weights = [&](size_t k) { return b.broadcast_in_dim(b.constant(Tensor::vector(t.weight[k])), at[0]->type.dims, {axis}); };
  if (!at[0]) return nullptr;
  if (way == Way::kLinear) return b.add(at[0], b.mul(b.sub(at[1], at[0]), weights(1)));
  V sum = b.mul(at[0], weights(0));
  for (size_t k = 1; k < at.size(); ++k) sum = b.add(sum, b.mul(at[k], weights(k)));
  return sum;
}

// The transposed of `resized`: a product with its matrix.
V gathered_back(ir::Builder& b, V dy, int axis, int64_t size, Way way, bool align, bool centers) {
  if (!dy || dy->dim(axis).is(size)) return dy;
  const int64_t n = dy->dim(axis).value();
  const Taps t = make_taps(way, size, n, align, centers);
  std::vector<float> matrix(size_t(size * n), 0.f);
  for (size_t k = 0; k < t.at.size(); ++k) {
    for (size_t i = 0; i < size_t(n); ++i) matrix[size_t(t.at[k][i] * n) + i] += t.weight[k][i];
  }
  std::vector<ir::Dim> before(dy->type.dims.begin(), dy->type.dims.begin() + axis), behind(dy->type.dims.begin() + axis + 1, dy->type.dims.end());
  std::vector<ir::Dim> result = dy->type.dims;
  result[size_t(axis)] = size;
  const ir::Dim outer = product(before), inner = product(behind);
  const V m = b.convert(b.constant(Tensor::of<float>({size, n}, matrix)), dy->type.dtype);
  return b.reshape(b.dot(b.broadcast_to(m, {outer, size, n}), b.reshape(dy, {outer, n, inner})), result);
}

Way way_of(std::string_view op) {
  return op.find("Nearest") != std::string_view::npos ? Way::kNearest : op.find("Bilinear") != std::string_view::npos ? Way::kLinear : Way::kCubic;
}

// Both sizes as numbers.
std::optional<std::pair<int64_t, int64_t>> image_size(LowerContext& l, const std::vector<ir::Dim>& dims) {
  if (!l.ok()) return std::nullopt;
  if (dims.size() != 4) {
    l.fail(invalid_argument("input must be 4-dimensional"));
  } else if (!dims[1].is_const() || !dims[2].is_const()) {
    l.unsupported("an open height or width");
  } else if (dims[1].value() <= 0 || dims[2].value() <= 0) {
    l.fail(invalid_argument("output dimensions must be positive"));
  } else {
    return std::pair(dims[1].value(), dims[2].value());
  }
  return std::nullopt;
}

bool check_centers(LowerContext& l) {
  if (!l.attr<bool>("align_corners") || !l.attr<bool>("half_pixel_centers")) return true;
  l.fail(invalid_argument("If half_pixel_centers is True, align_corners must be False."));
  return false;
}

std::optional<std::pair<int64_t, int64_t>> given_size(LowerContext& l) {
  const auto size = l.ints(1);
  if (!size) return std::nullopt;
  if (size->size() != 2) {
    l.fail(invalid_argument("shape_t must have two elements"));
    return std::nullopt;
  }
  return image_size(l, {1, (*size)[0], (*size)[1], 1});
}

LoweredList resize(LowerContext& l) {
  const Way way = way_of(l.node.op());
  const auto in = image_size(l, l.type().dims), out = given_size(l);
  if (!in || !out || !check_centers(l)) return {};
  V x = way == Way::kNearest ? l.x() : l.b.convert(l.x(), DType::kFloat);
  const bool align = l.attr<bool>("align_corners"), centers = l.attr<bool>("half_pixel_centers");
  x = resized(l.b, x, 2, out->second, way, align, centers);
  return {resized(l.b, x, 1, out->first, way, align, centers)};
}

// Inputs: gradient, and the size (nearest) or the image of the forward op.
LoweredList resize_grad(LowerContext& l) {
  const Way way = way_of(l.node.op());
  const auto out = image_size(l, l.type().dims), in = way == Way::kNearest ? given_size(l) : image_size(l, l.type(1).dims);
  if (!in || !out || !check_centers(l)) return {};
  V dy = l.b.convert(l.x(), sum_type(l.out_type()));  // summed in the result's type
  const bool align = l.attr<bool>("align_corners"), centers = l.attr<bool>("half_pixel_centers");
  dy = gathered_back(l.b, dy, 1, in->first, way, align, centers);
  return {l.b.convert(gathered_back(l.b, dy, 2, in->second, way, align, centers), l.out_type())};
}

// ---- colours: three channels in the last dimension

struct Colour {
  V c[3] = {};
};

std::optional<Colour> channels(LowerContext& l, V x) {
  if (!x || !l.ok()) return std::nullopt;
  if (x->rank() < 1 || !x->dim(x->rank() - 1).is(3)) {
    l.fail(invalid_argument("input must have 3 channels but instead has ", x->type.to_string()));
    return std::nullopt;
  }
  Colour out;
  for (int i = 0; i < 3; ++i) out.c[i] = l.b.slice_axis(x, x->rank() - 1, i, 1);
  return out;
}

V joined(LowerContext& l, const Colour& c, int rank) { return l.b.convert(l.b.concat({c.c[0], c.c[1], c.c[2]}, rank - 1), l.out_type()); }

Colour to_hsv(ir::Builder& b, const Colour& rgb) {
  const auto [r, g, blue] = rgb.c;
  const DType t = r->type.dtype;
  const V zero = b.scalar(t, 0), v = b.max(b.max(r, g), blue), range = b.sub(v, b.min(b.min(r, g), blue)), norm = b.div(b.scalar(t, 1.0 / 6), range);
  auto is = [&](ir::Compare c, V x, V y) { return b.compare(c, x, y); };
  const V of_blue = b.add(b.mul(norm, b.sub(r, g)), 4.0 / 6), of_green = b.add(b.mul(norm, b.sub(blue, r)), 2.0 / 6),
          of_red = b.mul(norm, b.sub(g, blue));
  V h = b.select(is(ir::Compare::kEq, r, v), of_red, b.select(is(ir::Compare::kEq, g, v), of_green, of_blue));
  h = b.select(is(ir::Compare::kLt, h, zero), b.add(h, 1.0), h);
  h = b.select(is(ir::Compare::kGt, range, zero), h, zero);
  return {{h, b.select(is(ir::Compare::kGt, v, zero), b.div(range, v), zero), v}};
}

Colour to_rgb(ir::Builder& b, const Colour& hsv) {
  const V h = b.mul(hsv.c[0], 6.0), s = hsv.c[1], v = hsv.c[2], rest = b.neg(b.sub(s, 1.0));
  auto unit = [&](V x) { return b.min(b.max(x, 0.0), 1.0); };
  auto from = [&](double place) { return b.unary(ir::Unary::kAbs, b.sub(h, place)); };
  auto mixed = [&](V part) { return b.mul(b.add(rest, b.mul(s, part)), v); };
  return {{mixed(unit(b.sub(from(3), 1.0))), mixed(unit(b.neg(b.sub(from(2), 2.0)))), mixed(unit(b.neg(b.sub(from(4), 2.0))))}};
}

LoweredList recolour(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = widened(l, l.x());
  auto c = channels(l, x);
  if (!c) return {};
  const std::string_view op = l.node.op();
  if (op == "HSVToRGB") return {joined(l, to_rgb(b, *c), x->rank())};
  Colour hsv = to_hsv(b, *c);
  if (op == "RGBToHSV") return {joined(l, hsv, x->rank())};
  const V amount = widened(l, l.x(1));
  if (op == "AdjustHue") {
    hsv.c[0] = b.add(hsv.c[0], amount);
    hsv.c[0] = b.sub(hsv.c[0], b.unary(ir::Unary::kFloor, hsv.c[0]));
  } else {
    hsv.c[1] = b.min(b.max(b.mul(hsv.c[1], amount), 0.0), 1.0);
  }
  return {joined(l, to_rgb(b, hsv), x->rank())};
}

// Distances from the mean of each channel of each image.
LoweredList adjust_contrast(LowerContext& l) {
  const V x = widened(l, l.x(0));
  if (!x) return {};
  if (x->rank() < 3) return l.fail(invalid_argument("input must be at least 3-D, got shape", x->type.to_string()));
  const V mean = l.b.mean(x, {x->rank() - 3, x->rank() - 2}, true);
  return {l.b.convert(l.b.add(l.b.mul(l.b.sub(x, mean), l.b.convert(l.x(1), x->type.dtype)), mean), l.out_type())};
}

// ---- DrawBoundingBoxes

// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
constexpr float kColors[10][4] = {{1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
                                  {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

// Each pixel has the colour of the last box whose border it is on.
LoweredList draw_boxes(LowerContext& l) {
  using B = ir::Binary;
  using C = ir::Compare;
  ir::Builder& b = l.b;
  const V images = l.x(0), boxes = l.x(1);
  if (!images || !boxes) return {};
  if (images->rank() != 4) return l.fail(invalid_argument("The rank of the images should be 4"));
  if (boxes->rank() != 3) return l.fail(invalid_argument("The rank of the boxes tensor should be 3"));
  if (!images->dim(3).is_const() || !boxes->dim(2).is(4)) return l.unsupported("such a call");  // the kernel says what is wrong
  const int64_t depth = images->dim(3).value();
  if (depth != 1 && depth != 3 && depth != 4) return l.fail(invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"));
  b.same(images->dim(0), boxes->dim(0));
  if (!l.ok()) return {};
  V colors = nullptr;
  if (l.num_inputs() == 3) {
    const V given = l.x(2);
    if (!given) return {};
    if (given->rank() != 2 || !given->dim(0).is_const() || !given->dim(1).is_const() || given->dim(1).value() < depth)
      return l.unsupported("such colors");
    if (given->dim(0).value() > 0) colors = b.slice_axis(given, 1, 0, depth);
  }
  if (!colors) {
    std::vector<float> all;
    for (const auto& color : kColors) {
      all.insert(all.end(), color, color + depth);
      if (depth == 1) all.back() = 1;
    }
    colors = b.constant(Tensor::of<float>({10, depth}, all));
  }
  if (!colors) return {};
  // Corners as pixels, over [batch, height, width, boxes].
  const ir::Dim height = images->dim(1), width = images->dim(2);
  const std::vector<ir::Dim> dims{images->dim(0), height, width, boxes->dim(1)};
  const auto corner = [&](int k, const ir::Dim& size) {
    constexpr double kFar = double(4e18f);
    const V v = b.mul(b.slice_axis(boxes, 2, k, 1), number(l, size - ir::Dim(1), DType::kFloat));
    const V held = b.min(b.max(v, -kFar), kFar), far = b.scalar(DType::kFloat, -kFar);
    const V pixel = b.convert(b.select(b.unary(ir::Unary::kIsNan, v), far, held), DType::kInt64);
    return b.broadcast_in_dim(b.reshape(pixel, {boxes->dim(0), boxes->dim(1)}), dims, {0, 3});
  };
  const V top = corner(0, height), left = corner(1, width), bottom = corner(2, height), right = corner(3, width);
  const V y = b.iota(DType::kInt64, dims, 1), x = b.iota(DType::kInt64, dims, 2);
  const auto both = [&](V p, V q) { return b.binary(B::kAnd, p, q); };
  const auto either = [&](V p, V q) { return b.binary(B::kOr, p, q); };
  const auto within = [&](V v, V from, V to) { return both(b.compare(C::kLe, from, v), b.compare(C::kLe, v, to)); };
  const auto at_end = [&](V v, V from, V to) { return either(b.compare(C::kEq, v, from), b.compare(C::kEq, v, to)); };
  // A box that begins behind its end, or lies outside, has no pixel here that is within both of its sides.
  const V hit = both(both(within(x, left, right), within(y, top, bottom)), either(at_end(y, top, bottom), at_end(x, left, right)));
  const V which = b.select(hit, b.iota(DType::kInt32, dims, 3), b.scalar_int(DType::kInt32, -1));
  const V last = b.reduce(ir::Reduce::kMax, which, {3}), none = b.compare(C::kLt, last, b.scalar_int(DType::kInt32, 0));
  const V kind = b.binary(B::kMod, b.select(none, b.scalar_int(DType::kInt32, 0), last), b.scalar_int(DType::kInt32, colors->dim(0).value()));
  const V painted = b.convert(b.gather(colors, kind, 0, 0, ""), images->type.dtype);
  if (!painted) return {};
  return {b.select(b.broadcast_in_dim(none, images->type.dims, {0, 1, 2}), images, painted)};
}

}  // namespace

void lower_image(Registry& r) {
  for (const char* op : {"DrawBoundingBoxes", "DrawBoundingBoxesV2"}) r.lower(op, draw_boxes);
  r.lower("AdjustContrastv2", adjust_contrast);
  r.lower("NonMaxSuppressionV3", shape_from_data);
  for (const char* op : {"AdjustHue", "AdjustSaturation", "HSVToRGB", "RGBToHSV"}) r.lower(op, recolour);
  for (const char* op : {"ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"}) r.lower(op, resize);
  for (const char* op : {"ResizeBicubicGrad", "ResizeBilinearGrad", "ResizeNearestNeighborGrad"}) r.lower(op, resize_grad);
}

}  // namespace weft_engine::ops

// Parts of images: crops at boxes and their gradients, projective warps, glimpses. Pixels are gathered by the numbers of their rows in a flat list of
// all pixels.
#include "ops/lower_util.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

namespace {

using B = ir::Binary;
using C = ir::Compare;
using U = ir::Unary;

Value as_float(ir::Builder& b, Dim n) { return b.convert(size_value(b, std::move(n)), DType::kFloat); }
Value both(ir::Builder& b, Value x, Value y) { return b.binary(B::kAnd, x, y); }
// Half away from zero, for numbers that are not negative.
Value nearest(ir::Builder& b, Value x) {
  const Value down = b.unary(U::kFloor, x);
  return b.select(b.compare(C::kGe, b.sub(x, down), b.scalar(DType::kFloat, 0.5)), b.add(down, 1.0), down);
}

// Images as a list of pixels [n, channels].
struct Pixels {
  Value rows = nullptr;
  Dim count, height, width, channels;

  Pixels(ir::Builder& b, Value images) {
    if (!images) return;
    count = images->dim(0), height = images->dim(1), width = images->dim(2), channels = images->dim(3);
    rows = b.reshape(images, {count * height * width, channels});
  }
  // Their numbers; x, y: floats without a fraction, image: int64.
  Value at(ir::Builder& b, Value image, Value y, Value x) const {
    const auto held = [&](Value v, const Dim& n) {
      const Value i = b.convert(v, DType::kInt64), zero = b.scalar_int(DType::kInt64, 0);
      return b.min(b.max(i, zero), b.max(b.sub(size_value(b, n), b.scalar_int(DType::kInt64, 1)), zero));
    };
    return b.add(b.mul(b.add(b.mul(image, size_value(b, height)), held(y, height)), size_value(b, width)), held(x, width));
  }
};

// Where the samples of boxes are: positions along one axis, [boxes, crop].
struct BoxAxis {
  Value position, inside;
  BoxAxis(ir::Builder& b, Value from, Value to, const Dim& image, const Dim& crop) {
    const Dim n = from->dim(0);
    const Dims dims{n, crop};
    const Value last = as_float(b, image - Dim(1)), i = b.iota(DType::kFloat, dims, 1);
    if (crop.is(1)) {
      const Value middle = b.convert(b.mul(b.mul(b.convert(b.add(from, to), DType::kDouble), 0.5), b.convert(last, DType::kDouble)), DType::kFloat);
      position = b.broadcast_in_dim(middle, dims, {0});
    } else {
      const Value scale = b.div(b.mul(b.sub(to, from), last), as_float(b, crop - Dim(1)));
      position = b.add(b.broadcast_in_dim(b.mul(from, last), dims, {0}), b.mul(i, b.broadcast_in_dim(scale, dims, {0})));
    }
    inside = both(b, b.compare(C::kGe, position, b.scalar(DType::kFloat, 0)), b.compare(C::kLe, position, last));
  }
};

struct Boxes {
  Value box[4] = {}, image = nullptr;  // [boxes] each; y1, x1, y2, x2; image: int64
};

std::optional<Boxes> read_boxes(LowerContext& l, int boxes, int index, const Dim& images) {
  ir::Builder& b = l.b;
  const Value x = l.x(boxes), which = l.x(index);
  if (!x || !which) return std::nullopt;
  if (x->rank() != 2 || which->rank() != 1 || !x->dim(1).is(4)) {
    l.fail(invalid_argument("boxes must be 2-D with 4 columns, box_index 1-D"));
    return std::nullopt;
  }
  b.same(x->dim(0), which->dim(0));
  Boxes out;
  for (int i = 0; i < 4; ++i) out.box[i] = b.reshape(b.slice_axis(x, 1, i, 1), {x->dim(0)});
  out.image = b.convert(which, DType::kInt64);
  b.check(b.reduce(ir::Reduce::kAnd, inside(b, out.image, images), {0}), "box_index has values outside [0, batch_size)");
  b.check(b.reduce(ir::Reduce::kAnd, b.unary(U::kIsFinite, x), {0, 1}), "Boxes contains at least one element that is not finite");
  return l.ok() ? std::optional(out) : std::nullopt;
}

// The samples of all boxes, [boxes, height, width].
struct Samples {
  Value y, x, good, image;
  Dims dims;
  Samples(ir::Builder& b, const Boxes& boxes, const Dim& height, const Dim& width, const Dim& crop_height, const Dim& crop_width) {
    const BoxAxis ys(b, boxes.box[0], boxes.box[2], height, crop_height), xs(b, boxes.box[1], boxes.box[3], width, crop_width);
    dims = {boxes.image->dim(0), crop_height, crop_width};
    y = b.broadcast_in_dim(ys.position, dims, {0, 1});
    x = b.broadcast_in_dim(xs.position, dims, {0, 2});
    good = both(b, b.broadcast_in_dim(ys.inside, dims, {0, 1}), b.broadcast_in_dim(xs.inside, dims, {0, 2}));
    image = b.broadcast_in_dim(boxes.image, dims, {0});
  }
};

// The four pixels around samples, with weights of the right and the lower ones.
struct Corners {
  Value tl, tr, bl, br, x, y;  // numbers of pixels; weights with a last dimension of 1
  Corners(ir::Builder& b, const Pixels& p, const Samples& s) {
    const Value top = b.unary(U::kFloor, s.y), bottom = b.unary(U::kCeil, s.y), left = b.unary(U::kFloor, s.x), right = b.unary(U::kCeil, s.x);
    tl = p.at(b, s.image, top, left), tr = p.at(b, s.image, top, right);
    bl = p.at(b, s.image, bottom, left), br = p.at(b, s.image, bottom, right);
    x = b.expand_dims(b.sub(s.x, left), 3);
    y = b.expand_dims(b.sub(s.y, top), 3);
  }
};

LoweredList crop_and_resize(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value images = l.x(0);
  const auto size = l.ints(3);
  if (!images || !size) return {};
  if (images->rank() != 4) return l.fail(invalid_argument("input image must be 4-D"));
  if (size->size() != 2) return l.fail(invalid_argument("crop_size must have two elements"));
  if ((*size)[0] <= 0 || (*size)[1] <= 0) return l.fail(invalid_argument("crop dimensions must be positive"));
  const auto boxes = read_boxes(l, 1, 2, images->dim(0));
  if (!boxes) return {};
  const Pixels p(b, b.convert(images, DType::kFloat));
  const Samples s(b, *boxes, p.height, p.width, (*size)[0], (*size)[1]);
  const auto pixels = [&](Value at) { return b.gather(p.rows, at, 0, 0, ""); };
  Value out = nullptr;
  if (l.attr<std::string>("method") == "nearest") {
    out = pixels(p.at(b, s.image, nearest(b, s.y), nearest(b, s.x)));
  } else {
    const Corners c(b, p, s);
    const auto between = [&](Value from, Value to, Value weight) { return b.add(from, b.mul(b.sub(to, from), weight)); };
    out = between(between(pixels(c.tl), pixels(c.tr), c.x), between(pixels(c.bl), pixels(c.br), c.x), c.y);
  }
  return {b.select(b.expand_dims(s.good, 3), out, b.scalar(DType::kFloat, double(l.attr<float>("extrapolation_value"))))};
}

LoweredList crop_grad_image(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value dy = l.x(0);
  const auto size = l.sizes(3);
  if (!dy || !size) return {};
  if (dy->rank() != 4 || size->size() != 4) return l.fail(invalid_argument("grads image must be 4-D, image_size must have 4 elements"));
  const Dims& dims = *size;
  b.same(dy->dim(3), dims[3]);
  const auto boxes = read_boxes(l, 1, 2, dims[0]);
  if (!boxes) return {};
  b.same(dy->dim(0), boxes->image->dim(0));
  if (!l.ok()) return {};
  const DType t = sum_type(l.out_type());
  const Pixels p(b, b.fill(t, dims, 0));
  if (!p.rows) return {};
  const Samples s(b, *boxes, dims[1], dims[2], dy->dim(1), dy->dim(2));
  const Dim n = s.dims[0] * s.dims[1] * s.dims[2];
  Value sum = p.rows;
  const auto add = [&](Value at, Value part) {
    const Value place = b.select(s.good, at, b.scalar_int(DType::kInt64, -1));
    sum = b.scatter(sum, b.reshape(place, {n}), b.reshape(b.convert(part, t), {n, dims[3]}), ir::Reduce::kSum, "");
  };
  if (l.attr<std::string>("method") == "nearest") {
    add(p.at(b, s.image, nearest(b, s.y), nearest(b, s.x)), dy);
  } else {
    const Corners c(b, p, s);
    const auto rest = [&](Value w) { return b.sub(b.scalar(DType::kFloat, 1), w); };
    const Value top = b.mul(rest(c.y), dy), bottom = b.mul(c.y, dy);
    add(c.tl, b.mul(rest(c.x), top));
    add(c.tr, b.mul(c.x, top));
    add(c.bl, b.mul(rest(c.x), bottom));
    add(c.br, b.mul(c.x, bottom));
  }
  return {b.convert(b.reshape(sum, dims), l.out_type())};
}

LoweredList crop_grad_boxes(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value dy = l.x(0), images = l.x(1);
  if (!dy || !images) return {};
  if (dy->rank() != 4 || images->rank() != 4) return l.fail(invalid_argument("grads and input image must be 4-D"));
  b.same(dy->dim(3), images->dim(3));
  const auto boxes = read_boxes(l, 2, 3, images->dim(0));
  if (!boxes) return {};
  b.same(dy->dim(0), boxes->image->dim(0));
  if (!l.ok()) return {};
  const Pixels p(b, b.convert(images, DType::kFloat));
  const Dim ch = dy->dim(1), cw = dy->dim(2);
  const Samples s(b, *boxes, p.height, p.width, ch, cw);
  const Corners c(b, p, s);
  const auto pixels = [&](Value at) { return b.gather(p.rows, at, 0, 0, ""); };
  const auto rest = [&](Value w) { return b.sub(b.scalar(DType::kFloat, 1), w); };
  const Value tl = pixels(c.tl), tr = pixels(c.tr), bl = pixels(c.bl), br = pixels(c.br), zero = b.scalar(DType::kFloat, 0);
  // Summed over channels; [boxes, height, width].
  const auto slope = [&](Value weight, Value first, Value second) {
    const Value each = b.mul(b.add(b.mul(rest(weight), first), b.mul(weight, second)), dy);
    return b.select(s.good, b.sum(each, {3}), zero);
  };
  const Value down = slope(c.x, b.sub(bl, tl), b.sub(br, tr)), right = slope(c.y, b.sub(tr, tl), b.sub(br, bl));
  const auto ends = [&](Value d, int axis, const Dim& crop, const Dim& image) -> std::pair<Value, Value> {
    const Value last = as_float(b, image - Dim(1));
    if (crop.is(1)) {
      const Value half = b.mul(b.mul(d, 0.5), last);
      return {half, half};
    }
    const Value step = b.mul(b.iota(DType::kFloat, s.dims, axis), b.div(last, as_float(b, crop - Dim(1))));
    return {b.mul(d, b.sub(last, step)), b.mul(d, step)};
  };
  const auto [y1, y2] = ends(down, 1, ch, p.height);
  const auto [x1, x2] = ends(right, 2, cw, p.width);
  std::vector<Value> columns;
  for (Value v : {y1, x1, y2, x2}) columns.push_back(b.expand_dims(b.sum(v, {1, 2}), 1));
  return {b.concat(columns, 1)};
}

// ---- projective warps

// A coordinate outside of [0, n - 1] brought into it, the way the mode says; constants stay outside.
Value inner_coordinate(ir::Builder& b, const std::string& mode, Value v, const Dim& n) {
  if (mode == "CONSTANT") return v;
  const Value size = as_float(b, n), last = as_float(b, n - Dim(1)), zero = b.scalar(DType::kFloat, 0), negative = b.compare(C::kLt, v, zero);
  const Value outside = b.binary(B::kOr, negative, b.compare(C::kGt, v, last)), nan = b.unary(U::kIsNan, v);
  const auto trunc = [&](Value x) { return b.unary(U::kTrunc, x); };
  Value moved = v;
  if (mode == "REFLECT") {
    const Value period = b.mul(size, 2.0);
    const Value low = b.add(b.mul(period, trunc(b.div(b.neg(v), period))), v);
    const Value left = b.select(b.compare(C::kLt, low, b.neg(size)), b.add(low, period), b.sub(b.neg(low), 1.0));
    const Value high = b.sub(v, b.mul(period, trunc(b.div(v, period))));
    const Value right = b.select(b.compare(C::kGe, high, size), b.sub(b.sub(period, high), 1.0), high);
    moved = b.select(negative, left, right);
  } else if (mode == "WRAP") {
    const Value left = b.add(v, b.mul(size, b.add(trunc(b.div(b.neg(v), last)), 1.0))), right = b.sub(v, b.mul(size, trunc(b.div(v, last))));
    moved = b.select(negative, left, right);
  }
  if (mode != "NEAREST") moved = b.select(outside, b.select(b.compare(C::kLe, last, zero), zero, moved), v);
  return b.select(nan, v, b.min(b.max(moved, zero), last));
}

LoweredList projective_transform(LowerContext& l) {
  ir::Builder& b = l.b;
  const std::string &interpolation = l.attr<std::string>("interpolation"), &mode = l.attr<std::string>("fill_mode");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR")
    return l.fail(invalid_argument("Invalid interpolation ", interpolation, ". Supported types: NEAREST, BILINEAR"));
  if (mode != "REFLECT" && mode != "WRAP" && mode != "CONSTANT" && mode != "NEAREST")
    return l.fail(invalid_argument("Invalid mode ", mode, ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST"));
  const Value images = l.x(0), transforms = l.x(1);
  const auto size = l.ints(2);
  if (!images || !transforms || !size) return {};
  if (images->rank() != 4) return l.fail(invalid_argument("Input images must have rank 4"));
  if (transforms->rank() != 2 || !transforms->dim(1).is(8)) return l.fail(invalid_argument("Input transform should be num_images x 8 or 1 x 8"));
  if (size->size() != 2) return l.fail(invalid_argument("output shape must have two elements"));
  if ((*size)[0] <= 0 || (*size)[1] <= 0) return l.fail(invalid_argument("output dimensions must be positive"));
  const DType t = images->type.dtype;
  const Value given = l.num_inputs() > 3 ? l.x(3) : b.scalar(DType::kFloat, 0);
  const Value fill = b.convert(given, t);
  const Dims dims{images->dim(0), (*size)[0], (*size)[1]};
  const Value each = transforms->dim(0).is(1) ? b.broadcast_to(transforms, {dims[0], 8}) : transforms;
  b.same(each ? each->dim(0) : Dim(0), dims[0]);
  if (!l.ok() || !fill) return {};
  const Value column = b.iota(DType::kFloat, dims, 2), row = b.iota(DType::kFloat, dims, 1), image = b.iota(DType::kInt64, dims, 0);
  const auto k = [&](int i) { return b.broadcast_in_dim(b.reshape(b.slice_axis(each, 1, i, 1), {dims[0]}), dims, {0}); };
  const auto line = [&](int i, Value rest) { return b.add(b.add(b.mul(k(i), column), b.mul(k(i + 1), row)), rest); };
  const Value projection = line(6, b.scalar(DType::kFloat, 1));
  const Pixels p(b, images);
  const Value x = inner_coordinate(b, mode, b.div(line(0, k(2)), projection), p.width);
  const Value y = inner_coordinate(b, mode, b.div(line(3, k(5)), projection), p.height);
  const Value zero = b.scalar(DType::kFloat, 0);
  const auto pixel = [&](Value r, Value c) {
    const auto in = [&](Value v, const Dim& n) { return both(b, b.compare(C::kGe, v, zero), b.compare(C::kLt, v, as_float(b, n))); };
    return b.select(b.expand_dims(both(b, in(r, p.height), in(c, p.width)), 3), b.gather(p.rows, p.at(b, image, r, c), 0, 0, ""), fill);
  };
  // Half away from zero, on both sides.
  const auto rounded = [&](Value v) {
    const Value away = nearest(b, b.unary(U::kAbs, v));
    return b.select(b.compare(C::kLt, v, zero), b.neg(away), away);
  };
  Value out = nullptr;
  if (interpolation == "NEAREST") {
    out = pixel(rounded(y), rounded(x));
  } else {
    const Value y0 = b.unary(U::kFloor, y), x0 = b.unary(U::kFloor, x), y1 = b.add(y0, 1.0), x1 = b.add(x0, 1.0);
    const auto value = [&](Value r, Value c) { return b.convert(pixel(r, c), DType::kFloat); };
    const auto weight = [&](Value v) { return b.expand_dims(v, 3); };
    const Value left = weight(b.sub(x1, x)), right = weight(b.sub(x, x0));
    const Value top = b.add(b.mul(left, value(y0, x0)), b.mul(right, value(y0, x1))),
                bottom = b.add(b.mul(left, value(y1, x0)), b.mul(right, value(y1, x1)));
    out = b.convert(b.add(b.mul(weight(b.sub(y1, y)), top), b.mul(weight(b.sub(y, y0)), bottom)), t);
  }
  return {b.select(b.expand_dims(b.compare(C::kEq, projection, zero), 3), fill, out)};
}

// ---- glimpses

LoweredList glimpse(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value in = l.x(0), offsets = l.x(2);
  const auto size = l.ints(1);
  if (!in || !offsets || !size) return {};
  if (in->rank() != 4) return l.fail(invalid_argument("input must be 4-dimensional (batch_size, height, width, depth)"));
  if (size->size() != 2) return l.fail(invalid_argument("input must be a vector of size 2 (height, width)"));
  if ((*size)[0] < 0 || (*size)[1] < 0) return l.fail(invalid_argument("Expected a non-negative size, got ", std::min((*size)[0], (*size)[1])));
  if (offsets->rank() != 2 || !offsets->dim(1).is(2)) return l.fail(invalid_argument("second dimension should be of size 2 (y,x)"));
  b.same(offsets->dim(0), in->dim(0));
  if (l.attr<std::string>("noise") != "zero") return l.unsupported("noise around the image");
  if (!l.ok()) return {};
  const bool v1 = l.node.op() == "ExtractGlimpse", normalized = l.attr<bool>("normalized"), centered = l.attr<bool>("centered");
  const Pixels p(b, in);
  const Dims dims{in->dim(0), (*size)[0], (*size)[1]};
  const auto start = [&](int axis, const Dim& image, int64_t n) {
    Value at = b.reshape(b.slice_axis(offsets, 1, axis, 1), {in->dim(0)});
    const Value half_image = b.div(as_float(b, image), 2.0);
    const double half = double(float(n) / 2.f);
    if (normalized) at = b.mul(at, as_float(b, image));
    if (v1) {
      if (centered) at = b.add(b.div(at, 2.0), half_image);
      at = b.sub(at, half);
    } else if (centered) {
      at = normalized ? b.sub(b.add(b.div(at, 2.0), half_image), half) : b.add(at, half_image);
    }
    const Value far = b.scalar(DType::kFloat, -4e9), held = b.min(b.max(at, -4e9), 4e9);
    return b.convert(b.select(b.unary(U::kIsNan, at), far, held), DType::kInt64);
  };
  const auto positions = [&](int axis, const Dim& image, int64_t n) {
    return b.add(b.iota(DType::kInt64, dims, axis + 1), b.broadcast_in_dim(start(axis, image, n), dims, {0}));
  };
  const Value y = positions(0, p.height, (*size)[0]), x = positions(1, p.width, (*size)[1]);
  const Value good = both(b, inside(b, y, p.height), inside(b, x, p.width));
  const Value at = p.at(b, b.iota(DType::kInt64, dims, 0), y, x);
  return {b.select(b.expand_dims(good, 3), b.gather(p.rows, at, 0, 0, ""), b.scalar(in->type.dtype, 0))};
}

}  // namespace

void lower_image_crop(Registry& r) {
  r.lower("CropAndResize", crop_and_resize);
  r.lower("CropAndResizeGradBoxes", crop_grad_boxes);
  r.lower("CropAndResizeGradImage", crop_grad_image);
  r.lower("ExtractGlimpse", glimpse);
  r.lower("ExtractGlimpseV2", glimpse);
  r.lower("ImageProjectiveTransformV2", projective_transform);
  r.lower("ImageProjectiveTransformV3", projective_transform);
}

}  // namespace weft_engine::ops

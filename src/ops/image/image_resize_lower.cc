// Resizing by areas.
#include <cmath>

#include "ops/lower_util.h"

namespace weft_engine::ops {
namespace {

constexpr size_t kMostTaps = 64;

float area_share(int64_t i, float from, float to, float scale) {
  if (float(i) < from) return float(i + 1) > to ? scale : float(i + 1) - from;
  return float(i + 1) > to ? to - float(i) : 1.f;
}

// Sums of the pixels that each new one covers, each with its share.
Value area_sums(LowerContext& l, Value x, int axis, int64_t size, bool align, float& scale) {
  const int64_t in = x->dim(axis).value();
  scale = align && size > 1 && in > 1 ? float(in - 1) / float(size - 1) : float(in) / float(size);
  std::vector<std::vector<int64_t>> at;
  std::vector<std::vector<float>> share;
  for (int64_t i = 0; i < size; ++i) {
    const float from = float(i) * scale, to = float(i + 1) * scale;
    const auto start = int64_t(std::floor(from)), end = int64_t(std::ceil(to));
    for (int64_t k = start; k < end; ++k) {
      const auto place = size_t(k - start);
      if (place >= kMostTaps) {
        l.unsupported("areas of so many pixels");
        return nullptr;
      }
      if (place >= at.size()) {
        at.emplace_back(size_t(size), 0);
        share.emplace_back(size_t(size), 0.f);
      }
      at[place][size_t(i)] = std::clamp<int64_t>(k, 0, in - 1);
      share[place][size_t(i)] = area_share(k, from, to, scale);
    }
  }
  Value sum = nullptr;
  for (size_t k = 0; k < at.size(); ++k) {
    const Value pixels = l.b.gather(x, l.b.ints(at[k]), axis, 0, "");
    if (!pixels) return nullptr;
    const Value part = l.b.mul(pixels, l.b.broadcast_in_dim(l.b.constant(Tensor::vector(share[k])), pixels->type.dims, {axis}));
    sum = sum ? l.b.add(sum, part) : part;
  }
  return sum;
}

LoweredList resize_area(LowerContext& l) {
  const Value x = l.x();
  const auto size = l.ints(1);
  if (!x || !size) return {};
  if (x->rank() != 4) return l.fail(invalid_argument("input must be 4-dimensional", shape_text(l.b, x->type.dims)));
  if (size->size() != 2) return l.fail(invalid_argument("shape_t must have two elements"));
  if ((*size)[0] <= 0 || (*size)[1] <= 0) return l.fail(invalid_argument("output dimensions must be positive"));
  if (!x->dim(1).is_const() || !x->dim(2).is_const()) return l.unsupported("an open height or width");
  if (x->dim(1).is(0) || x->dim(2).is(0)) return l.unsupported("empty images");
  const bool align = l.attr<bool>("align_corners");
  float by_height = 1, by_width = 1;
  Value y = area_sums(l, l.b.convert(x, DType::kFloat), 1, (*size)[0], align, by_height);
  if (y) y = area_sums(l, y, 2, (*size)[1], align, by_width);
  return {y ? l.b.mul(y, double(1.0f / (by_height * by_width))) : nullptr};
}

}  // namespace

void lower_image_resize(Registry& r) { r.lower("ResizeArea", resize_area); }

}  // namespace weft_engine::ops

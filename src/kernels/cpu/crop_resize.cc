#include "kernels/cpu/crop_resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/float_types.h"

namespace weft_engine::kernels {

using core::bfloat16;
using core::half;
using core::ThreadPool;

namespace {

// Where samples of a box are along one axis of the image.
struct BoxAxis {
  BoxAxis(float from, float to, int64_t image, int64_t crop) : from_(from), image_(image), single_(crop <= 1) {
    const float last = float(image - 1);
    scale = single_ ? 0.f : (to - from) * last / float(crop - 1);
    middle_ = float(0.5 * double(from + to) * double(image - 1));
  }
  float position(int64_t i) const { return single_ ? middle_ : from_ * float(image_ - 1) + float(i) * scale; }
  // NaN is outside.
  bool inside(float p) const { return p >= 0 && p <= float(image_ - 1); }
  // Rounding image_ - 1 to float can leave an inside position one too far.
  int64_t clamp(float p) const { return std::min(int64_t(p), image_ - 1); }
  float scale;

 private:
  float from_, middle_;
  int64_t image_;
  bool single_;
};

// The four pixels around a sample, as offsets into the image.
struct Corners {
  int64_t tl, tr, bl, br;
  float x, y;  // weights of right and bottom
};

Corners corners(const CropSizes& s, const BoxAxis& ys, const BoxAxis& xs, float y, float x) {
  const int64_t top = ys.clamp(std::floor(y)), bottom = ys.clamp(std::ceil(y)), left = xs.clamp(std::floor(x)), right = xs.clamp(std::ceil(x));
  const auto at = [&](int64_t r, int64_t c) { return (r * s.width + c) * s.depth; };
  return {at(top, left), at(top, right), at(bottom, left), at(bottom, right), x - float(left), y - float(top)};
}

}  // namespace

namespace {

// A column of a crop: which of the image's pixels it is made of, as offsets into a row, and the weight of the right one.
struct Column {
  int64_t left, right;  // -1: outside
  float x;
};

// The columns of a box; the same for all its rows.
void find_columns(const CropSizes& s, const BoxAxis& xs, bool nearest, std::vector<Column>& columns) {
  for (int64_t k = 0; k < s.crop_width; ++k) {
    const float x = xs.position(k);
    Column& c = columns[size_t(k)];
    if (!xs.inside(x)) {
      c = {-1, -1, 0};
      continue;
    }
    const int64_t left = xs.clamp(nearest ? std::round(x) : std::floor(x)), right = nearest ? left : xs.clamp(std::ceil(x));
    c = {left * s.depth, right * s.depth, x - float(left)};
  }
}

typedef float Four __attribute__((vector_size(16)));
Four four(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Between four pixels, channel by channel.
void blend(const float* top, const float* bottom, const Column& c, float y, int64_t depth, float* out) {
  const auto mix = [&](auto tl, auto tr, auto bl, auto br) {
    const auto upper = tl + (tr - tl) * c.x, lower = bl + (br - bl) * c.x;
    return upper + (lower - upper) * y;
  };
  int64_t d = 0;
  for (; d + 4 <= depth; d += 4) {
    const Four v = mix(four(top + c.left + d), four(top + c.right + d), four(bottom + c.left + d), four(bottom + c.right + d));
    std::memcpy(out + d, &v, sizeof v);
  }
  for (; d < depth; ++d) out[d] = mix(top[c.left + d], top[c.right + d], bottom[c.left + d], bottom[c.right + d]);
}

}  // namespace

void crop_and_resize(const CropSizes& s, bool nearest, float extrapolation, const float* image, const float* boxes, const int32_t* box_image,
                     float* crops, ThreadPool& pool) {
  pool.parallel_for(s.boxes * s.crop_height, double(s.crop_width) * (2 + double(s.depth)), [&](int64_t begin, int64_t end) {
    std::vector<Column> columns(static_cast<size_t>(s.crop_width));
    int64_t box_of_columns = -1;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / s.crop_height;
      const float* box = boxes + b * 4;
      const BoxAxis ys(box[0], box[2], s.height, s.crop_height);
      const float* from = image + box_image[b] * s.height * s.width * s.depth;
      const float y = ys.position(i % s.crop_height);
      float* out = crops + i * s.crop_width * s.depth;
      if (!ys.inside(y)) {
        std::fill(out, out + s.crop_width * s.depth, extrapolation);
        continue;
      }
      if (std::exchange(box_of_columns, b) != b) find_columns(s, BoxAxis(box[1], box[3], s.width, s.crop_width), nearest, columns);
      const int64_t first = ys.clamp(nearest ? std::round(y) : std::floor(y)), last = nearest ? first : ys.clamp(std::ceil(y));
      const float *top = from + first * s.width * s.depth, *bottom = from + last * s.width * s.depth;
      for (const Column& c : columns) {
        if (c.left < 0) std::fill(out, out + s.depth, extrapolation);
        else if (nearest) std::copy(top + c.left, top + c.left + s.depth, out);
        else blend(top, bottom, c, y - float(first), s.depth, out);
        out += s.depth;
      }
    }
  });
}

template <class T>
void crop_and_resize_grad_image(const CropSizes& s, bool nearest, const float* grads, const float* boxes, const int32_t* box_image, T* image,
                                ThreadPool& pool) {
  const int64_t image_size = s.height * s.width * s.depth;
  const auto add_box = [&](int64_t b, T* to) {
    const float* box = boxes + b * 4;
    const BoxAxis ys(box[0], box[2], s.height, s.crop_height), xs(box[1], box[3], s.width, s.crop_width);
    for (int64_t i = 0; i < s.crop_height * s.crop_width; ++i) {
      const float y = ys.position(i / s.crop_width), x = xs.position(i % s.crop_width);
      if (!ys.inside(y) || !xs.inside(x)) continue;
      const float* g = grads + (b * s.crop_height * s.crop_width + i) * s.depth;
      if (nearest) {
        T* pixel = to + (ys.clamp(std::round(y)) * s.width + xs.clamp(std::round(x))) * s.depth;
        for (int64_t d = 0; d < s.depth; ++d) pixel[d] += T(g[d]);
        continue;
      }
      const Corners at = corners(s, ys, xs, y, x);
      for (int64_t d = 0; d < s.depth; ++d) {
        const float top = (1 - at.y) * g[d], bottom = at.y * g[d];
        to[at.tl + d] += T((1 - at.x) * top);
        to[at.tr + d] += T(at.x * top);
        to[at.bl + d] += T((1 - at.x) * bottom);
        to[at.br + d] += T(at.x * bottom);
      }
    }
  };
  // By image, so that sums are made in the order of the boxes whatever the threads.
  const double cost =
      double(image_size) + double(s.boxes) * double(s.crop_height * s.crop_width) * double(s.depth) * 4 / double(std::max<int64_t>(s.batch, 1));
  pool.parallel_for(s.batch, cost, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<void*>(image + begin * image_size), 0, size_t((end - begin) * image_size) * sizeof(T));
    for (int64_t b = 0; b < s.boxes; ++b) {
      if (box_image[b] >= begin && box_image[b] < end) add_box(b, image + box_image[b] * image_size);
    }
  });
}
template void crop_and_resize_grad_image(const CropSizes&, bool, const float*, const float*, const int32_t*, float*, ThreadPool&);
template void crop_and_resize_grad_image(const CropSizes&, bool, const float*, const float*, const int32_t*, double*, ThreadPool&);
template void crop_and_resize_grad_image(const CropSizes&, bool, const float*, const float*, const int32_t*, half*, ThreadPool&);

void crop_and_resize_grad_boxes(const CropSizes& s, const float* grads, const float* image, const float* boxes, const int32_t* box_image, float* out,
                                ThreadPool& pool) {
  const float last_y = float(s.height - 1), last_x = float(s.width - 1);
  const float ratio_y = s.crop_height > 1 ? last_y / float(s.crop_height - 1) : 0.f,
              ratio_x = s.crop_width > 1 ? last_x / float(s.crop_width - 1) : 0.f;
  pool.parallel_for(s.boxes, double(s.crop_height * s.crop_width) * double(s.depth) * 10, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const float* box = boxes + b * 4;
      BoxAxis ys(box[0], box[2], s.height, s.crop_height), xs(box[1], box[3], s.width, s.crop_width);
      ys.scale = (box[2] - box[0]) * ratio_y;
      xs.scale = (box[3] - box[1]) * ratio_x;
      const float* from = image + box_image[b] * s.height * s.width * s.depth;
      float sum[4] = {0, 0, 0, 0};
      for (int64_t i = 0; i < s.crop_height * s.crop_width; ++i) {
        const int64_t row = i / s.crop_width, column = i % s.crop_width;
        const float y = ys.position(row), x = xs.position(column);
        if (!ys.inside(y) || !xs.inside(x)) continue;
        const Corners at = corners(s, ys, xs, y, x);
        const float* g = grads + (b * s.crop_height * s.crop_width + i) * s.depth;
        for (int64_t d = 0; d < s.depth; ++d) {
          const float tl = from[at.tl + d], tr = from[at.tr + d], bl = from[at.bl + d], br = from[at.br + d];
          const float dy = ((1 - at.x) * (bl - tl) + at.x * (br - tr)) * g[d];
          const float dx = ((1 - at.y) * (tr - tl) + at.y * (br - bl)) * g[d];
          sum[0] += s.crop_height > 1 ? dy * (last_y - float(row) * ratio_y) : float(dy * 0.5 * last_y);
          sum[2] += s.crop_height > 1 ? dy * (float(row) * ratio_y) : float(dy * 0.5 * last_y);
          sum[1] += s.crop_width > 1 ? dx * (last_x - float(column) * ratio_x) : float(dx * 0.5 * last_x);
          sum[3] += s.crop_width > 1 ? dx * (float(column) * ratio_x) : float(dx * 0.5 * last_x);
        }
      }
      std::copy(sum, sum + 4, out + b * 4);
    }
  });
}

// ---- projective warps

namespace {

constexpr float kLargest = 9.2e18f;  // fits int64

int64_t to_index(float v) { return std::isnan(v) ? INT64_MIN : int64_t(std::clamp(v, -kLargest, kLargest)); }

// Brings a coordinate that is outside [0, n - 1] into it, the way the mode says; constants stay outside.
float inner_coordinate(FillMode mode, float v, int64_t n) {
  if (mode == FillMode::kConstant || std::isnan(v)) return v;
  const float last = float(n - 1);
  if (mode == FillMode::kNearest || std::abs(v) > 1e18f) return std::min(std::max(v, 0.f), last);
  if (v < 0 || v > last) {
    if (n <= 1) {
      v = 0;
    } else if (mode == FillMode::kReflect) {  // dcba|abcd|dcba
      const int64_t period = 2 * n;
      if (v < 0) {
        v = float(period * to_index(-v / float(period))) + v;
        v = v < float(-n) ? v + float(period) : -v - 1;
      } else {
        v -= float(period * to_index(v / float(period)));
        if (v >= float(n)) v = float(period) - v - 1;
      }
    } else {  // abcd|abcd|abcd
      const int64_t period = n - 1;
      if (v < 0) v += float(n * (to_index(-v / float(period)) + 1));
      else v -= float(n * to_index(v / float(period)));
    }
  }
  return std::min(std::max(v, 0.f), last);
}

// As a plain conversion does on x86: what does not fit gives the smallest number.
template <class T>
T from_float(float v) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return std::abs(v) < 2147483648.f ? uint8_t(int32_t(v)) : uint8_t(0);
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return v >= -2147483648.f && v < 2147483648.f ? int32_t(v) : INT32_MIN;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return v >= -9223372036854775808.f && v < 9223372036854775808.f ? int64_t(v) : INT64_MIN;
  } else {
    return T(v);
  }
}

}  // namespace

template <class T>
void projective_warp(const WarpSizes& s, bool bilinear, FillMode mode, float fill, const T* in, const float* transforms, T* out, ThreadPool& pool) {
  const T outside = from_float<T>(fill);
  const int64_t h = s.in_height, w = s.in_width, n = s.channels;
  pool.parallel_for(s.batch * s.out_height, double(s.out_width) * (10 + double(n) * 3), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / s.out_height, row = i % s.out_height;
      const float* t = transforms + (s.one_transform ? 0 : b * 8);
      const T* image = in + b * h * w * n;
      const auto pixel = [&](int64_t y, int64_t x) { return y >= 0 && y < h && x >= 0 && x < w ? image + (y * w + x) * n : nullptr; };
      T* to = out + i * s.out_width * n;
      for (int64_t column = 0; column < s.out_width; ++column, to += n) {
        const float projection = t[6] * float(column) + t[7] * float(row) + 1.f;
        if (projection == 0) {
          std::fill(to, to + n, outside);
          continue;
        }
        const float x = inner_coordinate(mode, (t[0] * float(column) + t[1] * float(row) + t[2]) / projection, w);
        const float y = inner_coordinate(mode, (t[3] * float(column) + t[4] * float(row) + t[5]) / projection, h);
        if (!bilinear) {
          const T* p = pixel(to_index(std::round(y)), to_index(std::round(x)));
          for (int64_t c = 0; c < n; ++c) to[c] = p ? p[c] : outside;
        } else {
          const float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
          const T *tl = pixel(to_index(y0), to_index(x0)), *tr = pixel(to_index(y0), to_index(x1));
          const T *bl = pixel(to_index(y1), to_index(x0)), *br = pixel(to_index(y1), to_index(x1));
          for (int64_t c = 0; c < n; ++c) {
            const auto value = [&](const T* p) { return float(p ? p[c] : outside); };
            const float top = (x1 - x) * value(tl) + (x - x0) * value(tr), bottom = (x1 - x) * value(bl) + (x - x0) * value(br);
            to[c] = from_float<T>((y1 - y) * top + (y - y0) * bottom);
          }
        }
      }
    }
  });
}
#define WEFT_WARP(T) template void projective_warp(const WarpSizes&, bool, FillMode, float, const T*, const float*, T*, ThreadPool&);
WEFT_WARP(uint8_t)
WEFT_WARP(int32_t)
WEFT_WARP(int64_t)
WEFT_WARP(half)
WEFT_WARP(bfloat16)
WEFT_WARP(float)
WEFT_WARP(double)
#undef WEFT_WARP

}  // namespace weft_engine::kernels

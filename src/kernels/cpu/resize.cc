#include "kernels/cpu/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/float_types.h"

namespace weft_engine::kernels {

using core::bfloat16;
using core::DType;
using core::half;
using core::ThreadPool;

namespace {

float sample_position(int64_t i, float scale, bool half_pixel_centers) {
  return half_pixel_centers ? (static_cast<float>(int32_t(i)) + 0.5f) * scale - 0.5f : static_cast<float>(int32_t(i)) * scale;
}

template <class T>
void convert(const void* in, float* out, int64_t n, ThreadPool& pool) {
  const T* p = static_cast<const T*>(in);
  pool.parallel_for(n, 0.5, [=](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) out[i] = static_cast<float>(p[i]);
  });
}

// Weights of the cubic convolution kernel with parameter a, tabled as TensorFlow tables them: results
// depend on the 1/1024 steps.
constexpr int64_t kTableSize = 1 << 10;
using CubicTable = std::array<float, (kTableSize + 1) * 2>;

CubicTable make_cubic_table(double a) {
  CubicTable table;
  for (int64_t i = 0; i <= kTableSize; ++i) {
    float x = float(double(i) / kTableSize);
    table[size_t(i * 2)] = float(((a + 2) * x - (a + 3)) * x * x + 1);
    x += 1.0f;
    table[size_t(i * 2 + 1)] = float(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
  }
  return table;
}

CubicTap cubic_tap(int64_t i, int64_t in, float scale, bool half_pixel_centers, int64_t step) {
  static const CubicTable legacy = make_cubic_table(-0.75), keys = make_cubic_table(-0.5);
  const CubicTable& table = half_pixel_centers ? keys : legacy;
  const float position = sample_position(i, scale, half_pixel_centers);
  const int64_t base = int64_t(std::floor(position));
  const size_t offset = size_t(std::clamp<long>(std::lrintf((position - float(base)) * kTableSize), 0, kTableSize));
  CubicTap tap;
  const float weights[4] = {table[offset * 2 + 1], table[offset * 2], table[(kTableSize - offset) * 2], table[(kTableSize - offset) * 2 + 1]};
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    const int64_t at = std::clamp<int64_t>(base + k - 1, 0, in - 1);
    tap.offset[k] = at * step;
    // With half pixel centers a pixel beyond the border counts nothing; otherwise the border is repeated.
    tap.weight[k] = half_pixel_centers && at != base + k - 1 ? 0.f : weights[k];
    sum += tap.weight[k];
  }
  if (half_pixel_centers && std::abs(sum) >= 1000.f * std::numeric_limits<float>::min()) {
    const float inverse = 1.f / sum;
    for (float& w : tap.weight) w *= inverse;
  }
  return tap;
}

int64_t nearest_index(int64_t i, int64_t in, float scale, bool align_corners, bool half_pixel_centers) {
  const float position = half_pixel_centers ? (static_cast<float>(int32_t(i)) + 0.5f) * scale : static_cast<float>(int32_t(i)) * scale;
  const float rounded = align_corners ? std::round(position) : std::floor(position);
  return std::clamp<int64_t>(int64_t(rounded), 0, in - 1);
}

std::vector<int64_t> nearest_indices(int64_t out, int64_t in, float scale, bool align_corners, bool half_pixel_centers) {
  std::vector<int64_t> at(size_t(out), 0);
  for (int64_t i = 0; i < out; ++i) at[size_t(i)] = nearest_index(i, in, scale, align_corners, half_pixel_centers);
  return at;
}

template <class T>
void nearest_grad(const ResizeSizes& s, const std::vector<int64_t>& ys, const std::vector<int64_t>& xs, const void* dout_, void* din_,
                  ThreadPool& pool) {
  const T* dout = static_cast<const T*>(dout_);
  T* din = static_cast<T*>(din_);
  const int64_t out_row = s.out_width * s.channels, in_row = s.in_width * s.channels;
  pool.parallel_for(s.batch, double(s.out_height) * out_row + double(s.in_height) * in_row, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      std::memset(static_cast<void*>(din + b * s.in_height * in_row), 0, size_t(s.in_height * in_row) * sizeof(T));
      for (int64_t y = 0; y < s.out_height; ++y) {
        const T* from = dout + (b * s.out_height + y) * out_row;
        T* to = din + (b * s.in_height + ys[size_t(y)]) * in_row;
        for (int64_t x = 0; x < s.out_width; ++x, from += s.channels) {
          T* pixel = to + xs[size_t(x)] * s.channels;
          for (int64_t c = 0; c < s.channels; ++c) pixel[c] = T(pixel[c] + from[c]);
        }
      }
    }
  });
}

// The stretch of input that one output pixel covers, with what counts of its first and last cell.
struct AreaTap {
  int64_t start, end;
  float first, last;
};

float area_share(int64_t i, float from, float to, float scale) {
  if (float(i) < from) return float(i + 1) > to ? scale : float(i + 1) - from;
  return float(i + 1) > to ? to - float(i) : 1.f;
}

AreaTap area_tap(int64_t i, float scale) {
  const float from = float(i) * scale, to = float(i + 1) * scale;
  AreaTap t;
  t.start = int64_t(std::floor(from));
  t.end = int64_t(std::ceil(to));
  t.first = area_share(t.start, from, to, scale);
  t.last = area_share(t.end - 1, from, to, scale);
  return t;
}

void area_columns(const ResizeSizes& s, const float* row, const AreaTap& t, float scale, float* out) {
  const auto at = [&](int64_t x) { return row + std::clamp<int64_t>(x, 0, s.in_width - 1) * s.channels; };
  const float* p = at(t.start);
  for (int64_t c = 0; c < s.channels; ++c) out[c] = p[c] * t.first;
  if (t.start + 1 != t.end) {
    for (int64_t x = t.start + 1; x < t.end - 1; ++x) {
      p = at(x);
      for (int64_t c = 0; c < s.channels; ++c) out[c] += p[c];
    }
    p = at(t.end - 1);
    for (int64_t c = 0; c < s.channels; ++c) out[c] += p[c] * t.last;
  }
  for (int64_t c = 0; c < s.channels; ++c) out[c] *= scale;
}

}  // namespace

void to_float(DType type, const void* in, float* out, int64_t n, ThreadPool& pool) {
  switch (type) {
    case DType::kHalf: return convert<half>(in, out, n, pool);
    case DType::kBfloat16: return convert<bfloat16>(in, out, n, pool);
    case DType::kFloat: return convert<float>(in, out, n, pool);
    case DType::kDouble: return convert<double>(in, out, n, pool);
    case DType::kInt8: return convert<int8_t>(in, out, n, pool);
    case DType::kInt16: return convert<int16_t>(in, out, n, pool);
    case DType::kInt32: return convert<int32_t>(in, out, n, pool);
    case DType::kInt64: return convert<int64_t>(in, out, n, pool);
    case DType::kUint8: return convert<uint8_t>(in, out, n, pool);
    case DType::kUint16: return convert<uint16_t>(in, out, n, pool);
    case DType::kUint32: return convert<uint32_t>(in, out, n, pool);
    case DType::kUint64: return convert<uint64_t>(in, out, n, pool);
    default: std::fill(out, out + n, 0.f);
  }
}

std::vector<LinearTap> linear_taps(int64_t out, int64_t in, float scale, bool half_pixel_centers, int64_t step) {
  std::vector<LinearTap> taps(size_t(out), LinearTap{});
  for (int64_t i = 0; i < out; ++i) {
    const float position = sample_position(i, scale, half_pixel_centers), floor = std::floor(position);
    const int64_t upper = std::min(int64_t(std::ceil(position)), in - 1);
    const int64_t lower = std::clamp<int64_t>(int64_t(floor), 0, std::max<int64_t>(upper, 0));
    taps[size_t(i)] = {lower * step, std::max<int64_t>(upper, 0) * step, position - floor};
  }
  return taps;
}

std::vector<CubicTap> cubic_taps(int64_t out, int64_t in, float scale, bool half_pixel_centers, int64_t step) {
  std::vector<CubicTap> taps(size_t(out), CubicTap{});
  for (int64_t i = 0; i < out; ++i) taps[size_t(i)] = cubic_tap(i, in, scale, half_pixel_centers, step);
  return taps;
}

void resize_bilinear(const ResizeSizes& s, const float* in, float* out, ThreadPool& pool) {
  const int64_t in_row = s.in_width * s.channels, out_row = s.out_width * s.channels;
  const auto xs = linear_taps(s.out_width, s.in_width, s.width_scale, s.half_pixel_centers, s.channels);
  const auto ys = linear_taps(s.out_height, s.in_height, s.height_scale, s.half_pixel_centers, in_row);
  const auto row = WEFT_BEST_ISA(bilinear_row);
  pool.parallel_for(s.batch * s.out_height, double(out_row) * 1.5, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + (i / s.out_height) * s.in_height * in_row;
      const LinearTap& y = ys[size_t(i % s.out_height)];
      row(image + y.lower, image + y.upper, y.weight, xs.data(), s.out_width, s.channels, out + i * out_row);
    }
  });
}

void resize_bicubic(const ResizeSizes& s, const float* in, float* out, ThreadPool& pool) {
  const int64_t in_row = s.in_width * s.channels, out_row = s.out_width * s.channels;
  const auto xs = cubic_taps(s.out_width, s.in_width, s.width_scale, s.half_pixel_centers, s.channels);
  const auto ys = cubic_taps(s.out_height, s.in_height, s.height_scale, s.half_pixel_centers, in_row);
  // Blending whole rows first is fastest, unless few of their pixels are wanted.
  const bool whole_rows = s.in_width <= 4 * s.out_width;
  const auto blend = WEFT_BEST_ISA(cubic_blend);
  const auto columns = WEFT_BEST_ISA(cubic_columns);
  pool.parallel_for(s.batch * s.out_height, double(out_row) * 4, [&](int64_t begin, int64_t end) {
    std::vector<float> buffer(size_t(whole_rows ? in_row : 4 * s.channels), 0.f);
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + (i / s.out_height) * s.in_height * in_row;
      const CubicTap& y = ys[size_t(i % s.out_height)];
      const float* rows[4] = {image + y.offset[0], image + y.offset[1], image + y.offset[2], image + y.offset[3]};
      if (whole_rows) {
        blend(rows, y.weight, in_row, buffer.data());
        columns(buffer.data(), xs.data(), s.out_width, s.channels, out + i * out_row);
        continue;
      }
      for (int64_t x = 0; x < s.out_width; ++x) {
        CubicTap tap = xs[size_t(x)];
        for (int k = 0; k < 4; ++k) {
          const float* pixels[4] = {rows[0] + tap.offset[k], rows[1] + tap.offset[k], rows[2] + tap.offset[k], rows[3] + tap.offset[k]};
          blend(pixels, y.weight, s.channels, buffer.data() + k * s.channels);
          tap.offset[k] = k * s.channels;
        }
        columns(buffer.data(), &tap, 1, s.channels, out + i * out_row + x * s.channels);
      }
    }
  });
}

void resize_area(const ResizeSizes& s, const float* in, float* out, ThreadPool& pool) {
  const int64_t in_row = s.in_width * s.channels, out_row = s.out_width * s.channels;
  std::vector<AreaTap> xs(size_t(s.out_width), AreaTap{});
  for (int64_t x = 0; x < s.out_width; ++x) xs[size_t(x)] = area_tap(x, s.width_scale);
  const float scale = 1.0f / (s.height_scale * s.width_scale);
  const auto add = WEFT_BEST_ISA(add_scaled_row);
  pool.parallel_for(s.batch * s.out_height, double(in_row) * (s.height_scale + 2) + double(out_row) * 2, [&](int64_t begin, int64_t end) {
    std::vector<float> sums(size_t(in_row), 0.f);
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + (i / s.out_height) * s.in_height * in_row;
      const int64_t y = i % s.out_height;
      const float from = float(y) * s.height_scale, to = float(y + 1) * s.height_scale;
      std::fill(sums.begin(), sums.end(), 0.f);
      for (int64_t k = int64_t(std::floor(from)), end_k = int64_t(std::ceil(to)); k < end_k; ++k) {
        add(image + std::clamp<int64_t>(k, 0, s.in_height - 1) * in_row, area_share(k, from, to, s.height_scale), in_row, sums.data());
      }
      for (int64_t x = 0; x < s.out_width; ++x) area_columns(s, sums.data(), xs[size_t(x)], scale, out + i * out_row + x * s.channels);
    }
  });
}

void resize_nearest(const ResizeSizes& s, bool align_corners, const void* in, void* out, int64_t pixel_bytes, ThreadPool& pool) {
  const auto xs = nearest_indices(s.out_width, s.in_width, s.width_scale, align_corners, s.half_pixel_centers);
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(out);
  pool.parallel_for(s.batch * s.out_height, double(s.out_width) * (2 + double(pixel_bytes) / 16), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t y = nearest_index(i % s.out_height, s.in_height, s.height_scale, align_corners, s.half_pixel_centers);
      const char* row = from + ((i / s.out_height) * s.in_height + y) * s.in_width * pixel_bytes;
      char* target = to + i * s.out_width * pixel_bytes;
      for (int64_t x = 0; x < s.out_width; ++x) std::memcpy(target + x * pixel_bytes, row + xs[size_t(x)] * pixel_bytes, size_t(pixel_bytes));
    }
  });
}

void resize_nearest_grad(DType type, const ResizeSizes& s, bool align_corners, const void* dout, void* din, ThreadPool& pool) {
  const auto ys = nearest_indices(s.out_height, s.in_height, s.height_scale, align_corners, s.half_pixel_centers);
  const auto xs = nearest_indices(s.out_width, s.in_width, s.width_scale, align_corners, s.half_pixel_centers);
  switch (type) {
    case DType::kHalf: return nearest_grad<half>(s, ys, xs, dout, din, pool);
    case DType::kBfloat16: return nearest_grad<bfloat16>(s, ys, xs, dout, din, pool);
    case DType::kFloat: return nearest_grad<float>(s, ys, xs, dout, din, pool);
    case DType::kDouble: return nearest_grad<double>(s, ys, xs, dout, din, pool);
    default: break;
  }
  switch (core::dtype_size(type)) {
    case 1: return nearest_grad<uint8_t>(s, ys, xs, dout, din, pool);
    case 2: return nearest_grad<uint16_t>(s, ys, xs, dout, din, pool);
    case 4: return nearest_grad<uint32_t>(s, ys, xs, dout, din, pool);
    default: return nearest_grad<uint64_t>(s, ys, xs, dout, din, pool);
  }
}

template <class T>
void resize_bilinear_grad(const ResizeSizes& s, const float* dout, T* din, ThreadPool& pool) {
  const int64_t in_row = s.in_width * s.channels, out_row = s.out_width * s.channels;
  const auto xs = linear_taps(s.out_width, s.in_width, s.width_scale, s.half_pixel_centers, s.channels);
  const auto ys = linear_taps(s.out_height, s.in_height, s.height_scale, s.half_pixel_centers, in_row);
  pool.parallel_for(s.batch, double(s.out_height) * out_row * 4, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      T* image = din + b * s.in_height * in_row;
      std::memset(static_cast<void*>(image), 0, size_t(s.in_height * in_row) * sizeof(T));
      for (int64_t y = 0; y < s.out_height; ++y) {
        const float* from = dout + (b * s.out_height + y) * out_row;
        const LinearTap& v = ys[size_t(y)];
        for (int64_t x = 0; x < s.out_width; ++x, from += s.channels) {
          const LinearTap& h = xs[size_t(x)];
          T *tl = image + v.lower + h.lower, *tr = image + v.lower + h.upper, *bl = image + v.upper + h.lower, *br = image + v.upper + h.upper;
          for (int64_t c = 0; c < s.channels; ++c) {
            const float g = from[c];
            tl[c] += T(g * (1.f - v.weight) * (1.f - h.weight));
            tr[c] += T(g * (1.f - v.weight) * h.weight);
            bl[c] += T(g * v.weight * (1.f - h.weight));
            br[c] += T(g * v.weight * h.weight);
          }
        }
      }
    }
  });
}
template void resize_bilinear_grad(const ResizeSizes&, const float*, float*, ThreadPool&);
template void resize_bilinear_grad(const ResizeSizes&, const float*, double*, ThreadPool&);
template void resize_bilinear_grad(const ResizeSizes&, const float*, half*, ThreadPool&);
template void resize_bilinear_grad(const ResizeSizes&, const float*, bfloat16*, ThreadPool&);

template <class T>
void resize_bicubic_grad(const ResizeSizes& s, const float* dout, T* din, ThreadPool& pool) {
  const int64_t in_row = s.in_width * s.channels, out_row = s.out_width * s.channels;
  const auto xs = cubic_taps(s.out_width, s.in_width, s.width_scale, s.half_pixel_centers, s.channels);
  const auto ys = cubic_taps(s.out_height, s.in_height, s.height_scale, s.half_pixel_centers, in_row);
  pool.parallel_for(s.batch, double(s.out_height) * out_row * 16, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      T* image = din + b * s.in_height * in_row;
      std::memset(static_cast<void*>(image), 0, size_t(s.in_height * in_row) * sizeof(T));
      for (int64_t i = 0; i < s.out_height * s.out_width; ++i) {
        const CubicTap &v = ys[size_t(i / s.out_width)], &h = xs[size_t(i % s.out_width)];
        const float* from = dout + (b * s.out_height * s.out_width + i) * s.channels;
        for (int k = 0; k < 16; ++k) {
          T* to = image + v.offset[k / 4] + h.offset[k % 4];
          for (int64_t c = 0; c < s.channels; ++c) to[c] += T(T(from[c]) * v.weight[k / 4] * h.weight[k % 4]);
        }
      }
    }
  });
}
template void resize_bicubic_grad(const ResizeSizes&, const float*, float*, ThreadPool&);
template void resize_bicubic_grad(const ResizeSizes&, const float*, double*, ThreadPool&);

}  // namespace weft_engine::kernels

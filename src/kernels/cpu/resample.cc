#include "kernels/cpu/resample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/resize.h"

namespace weft_engine::kernels {

namespace {

float radius_of(SamplingKernel k) {
  switch (k) {
    case SamplingKernel::kLanczos3: return 3.f;
    case SamplingKernel::kLanczos5: return 5.f;
    case SamplingKernel::kGaussian: return 1.5f;
    case SamplingKernel::kKeysCubic:
    case SamplingKernel::kMitchellCubic: return 2.f;
    default: return 1.f;
  }
}

float lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0.f;
  if (x <= 1e-3f) return 1.f;  // the limit of sin(x) / x
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

float kernel_value(SamplingKernel k, float x) {
  switch (k) {
    case SamplingKernel::kLanczos1: return lanczos(x, 1.f);
    case SamplingKernel::kLanczos3: return lanczos(x, 3.f);
    case SamplingKernel::kLanczos5: return lanczos(x, 5.f);
    case SamplingKernel::kGaussian: {
      constexpr double kSigma = 0.5;
      return x >= 1.5f ? 0.f : float(std::exp(double(-x * x) / (2.0 * kSigma * kSigma)));
    }
    case SamplingKernel::kBox: return x < 0.5f ? 1.f : x == 0.5f ? 0.5f : 0.f;
    case SamplingKernel::kTriangle: return x < 1.f ? 1.f - x : 0.f;
    case SamplingKernel::kKeysCubic:
      if (x >= 2.f) return 0.f;
      if (x >= 1.f) return ((-0.5f * x + 2.5f) * x - 4.f) * x + 2.f;
      return ((1.5f * x - 2.5f) * x) * x + 1.f;
    case SamplingKernel::kMitchellCubic:
      if (x >= 2.f) return 0.f;
      if (x >= 1.f) return (((-7.f / 18.f) * x + 2.f) * x - 10.f / 3.f) * x + 16.f / 9.f;
      return (((7.f / 6.f) * x - 2.f) * x) * x + 8.f / 9.f;
  }
  return 0.f;
}

}  // namespace

std::optional<SamplingKernel> sampling_kernel(std::string_view name) {
  if (name == "lanczos1") return SamplingKernel::kLanczos1;
  if (name == "lanczos3") return SamplingKernel::kLanczos3;
  if (name == "lanczos5") return SamplingKernel::kLanczos5;
  if (name == "gaussian") return SamplingKernel::kGaussian;
  if (name == "box") return SamplingKernel::kBox;
  if (name == "triangle") return SamplingKernel::kTriangle;
  if (name == "keyscubic") return SamplingKernel::kKeysCubic;
  if (name == "mitchellcubic") return SamplingKernel::kMitchellCubic;
  return std::nullopt;
}

Spans make_spans(SamplingKernel kernel, int64_t out, int64_t in, float scale, float translation, bool antialias) {
  const float inverse = float(1.0 / double(scale)), offset = -inverse * translation;
  // A downscaled image is low-pass filtered: the kernel widens with the distance of the samples.
  const float stretch = antialias ? std::max(inverse, 1.f) : 1.f;
  const float reach = radius_of(kernel) * stretch, shrink = 1.f / stretch;
  Spans spans;
  spans.start.assign(size_t(out), 0);
  spans.first.assign(size_t(out) + 1, 0);
  for (int64_t i = 0; i < out; ++i) {
    const float at = (float(i) + 0.5f) * inverse + offset;
    const size_t first = spans.weights.size();
    if (at >= 0 && at <= float(in) && in > 0 && !std::isnan(reach)) {  // NaN is outside too
      // Clamped as floats, which keeps the conversions within range.
      const float last_index = float(in - 1);
      const int64_t begin = std::min(int64_t(std::clamp(std::ceil(at - reach - 0.5f), 0.f, last_index)), in - 1);
      const int64_t end = std::min(int64_t(std::clamp(std::floor(at + reach - 0.5f), 0.f, last_index)), in - 1) + 1;
      float sum = 0;
      for (int64_t j = begin; j < end; ++j) {
        const float w = kernel_value(kernel, std::abs((float(j) + 0.5f - at) * shrink));
        sum += w;
        spans.weights.push_back(w);
      }
      if (std::abs(sum) >= 1000.f * std::numeric_limits<float>::min()) {
        const float normal = 1.f / sum;
        for (size_t k = first; k < spans.weights.size(); ++k) spans.weights[k] *= normal;
      } else {
        spans.weights.resize(first);
      }
      spans.start[size_t(i)] = begin;
    }
    spans.first[size_t(i) + 1] = int64_t(spans.weights.size());
  }
  return spans;
}

Spans transposed_spans(const Spans& spans, int64_t in) {
  const int64_t out = int64_t(spans.start.size());
  // The outputs that an input reaches are in [begin, end).
  std::vector<int64_t> begin(size_t(in), out), end(size_t(in), 0);
  const auto each = [&](auto&& f) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t k = spans.first[size_t(o)]; k < spans.first[size_t(o) + 1]; ++k) {
        const int64_t i = spans.start[size_t(o)] + k - spans.first[size_t(o)];
        if (spans.weights[size_t(k)] != 0 && i < in) f(o, size_t(i), spans.weights[size_t(k)]);
      }
    }
  };
  each([&](int64_t o, size_t i, float) {
    begin[i] = std::min(begin[i], o);
    end[i] = o + 1;
  });
  Spans t;
  t.start.assign(size_t(in), 0);
  t.first.assign(size_t(in) + 1, 0);
  for (size_t i = 0; i < size_t(in); ++i) {
    const int64_t n = std::max<int64_t>(end[i] - begin[i], 0);
    if (n) t.start[i] = begin[i];
    t.first[i + 1] = t.first[i] + n;
  }
  t.weights.assign(size_t(t.first[size_t(in)]), 0.f);
  each([&](int64_t o, size_t i, float w) { t.weights[size_t(t.first[i] + o - t.start[i])] += w; });
  return t;
}

void gather_spans(const Spans& rows, const Spans& columns, int64_t batch, int64_t in_height, int64_t in_width, int64_t channels, const float* in,
                  float* out, core::ThreadPool& pool) {
  const int64_t out_height = int64_t(rows.start.size()), out_width = int64_t(columns.start.size()), in_row = in_width * channels;
  const auto add = WEFT_BEST_ISA(add_scaled_row);
  const double cost =
      double(in_row) * double(rows.weights.size()) / double(std::max<int64_t>(out_height, 1)) + double(columns.weights.size()) * double(channels);
  pool.parallel_for(batch * out_height, cost, [&](int64_t begin, int64_t end) {
    std::vector<float> sums(size_t(in_row), 0.f);
    for (int64_t i = begin; i < end; ++i) {
      const size_t y = size_t(i % out_height);
      const float* image = in + (i / out_height) * in_height * in_row;
      std::fill(sums.begin(), sums.end(), 0.f);
      for (int64_t k = rows.first[y]; k < rows.first[y + 1]; ++k) {
        add(image + (rows.start[y] + k - rows.first[y]) * in_row, rows.weights[size_t(k)], in_row, sums.data());
      }
      float* pixel = out + i * out_width * channels;
      for (size_t x = 0; x < size_t(out_width); ++x, pixel += channels) {
        std::fill(pixel, pixel + channels, 0.f);
        const float* from = sums.data() + columns.start[x] * channels;
        for (int64_t k = columns.first[x]; k < columns.first[x + 1]; ++k, from += channels) {
          for (int64_t c = 0; c < channels; ++c) pixel[c] += columns.weights[size_t(k)] * from[c];
        }
      }
    }
  });
}

}  // namespace weft_engine::kernels

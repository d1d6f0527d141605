#include "ops/io/summary_values.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cpu/image_codec.h"
#include "op/dispatch.h"
#include "wire/proto.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT
using wire::ProtoWriter;

namespace {

template <class F>
Status with_numbers(const Tensor& t, F f) {
  return dispatch<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, bool>(t.dtype(), f);
}

void add_value(std::string& summary, ProtoWriter value) {
  ProtoWriter w;
  w.message(1, value);
  summary += w.str();
}

// Stretches an image to 0..255 by the largest finite value; around 128 if some are negative. T's own arithmetic, as in TensorFlow.
template <class T>
void stretch(const T* in, int64_t pixels, int64_t depth, const uint8_t* bad_color, uint8_t* out) {
  const auto finite = [&](const T* p) { return std::all_of(p, p + depth, [](T v) { return std::isfinite(float(v)); }); };
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (int64_t i = 0; i < pixels; ++i) {
    if (!finite(in + i * depth)) continue;
    for (int64_t k = 0; k < depth; ++k) low = std::min(low, float(in[i * depth + k])), high = std::max(high, float(in[i * depth + k]));
  }
  constexpr float kNothing = 1e-6f;
  const float reach = low < 0 ? std::max(std::abs(low), std::abs(high)) : high;
  const T scale = T(reach < kNothing ? 0.0f : (low < 0 ? 127.0f : 255.0f) / reach), offset = T(low < 0 ? 128.0f : 0.0f);
  for (int64_t i = 0; i < pixels; ++i) {
    const bool good = finite(in + i * depth);
    for (int64_t k = 0; k < depth; ++k) {
      const float v = good ? float(T(T(in[i * depth + k] * scale) + offset)) : 0;
      out[i * depth + k] = good ? uint8_t(std::clamp(v, 0.0f, 255.0f)) : bad_color[k];
    }
  }
}

std::string numbered(std::string_view tag, const char* kind, int64_t most, int64_t i) {
  return most > 1 ? cat(tag, "/", kind, "/", i) : cat(tag, "/", kind);
}

// The limits of the buckets: 0, and powers of 1.1 from 1e-12 to 1e20 on both sides of it.
const std::vector<double>& bucket_limits() {
  static const auto& limits = *new std::vector<double>([] {
    std::vector<double> up, all;
    for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) up.push_back(v);
    up.push_back(DBL_MAX);
    for (size_t i = up.size(); i-- > 0;) all.push_back(-up[i]);
    all.push_back(0);
    all.insert(all.end(), up.begin(), up.end());
    return all;
  }());
  return limits;
}

}  // namespace

Histogram::Histogram() : counts(bucket_limits().size()) {}

void Histogram::add(double v) {
  const auto& limits = bucket_limits();
  // DBL_MAX itself is above all limits.
  const size_t b = std::min(size_t(std::upper_bound(limits.begin(), limits.end(), v) - limits.begin()), limits.size() - 1);
  ++counts[b];
  min = std::min(min, v), max = std::max(max, v);
  ++num;
  sum += v, squares += v * v;
}

void Histogram::add_to(std::string& summary, std::string_view tag) const {
  std::string limits, values;
  const auto put = [](std::string& out, double v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  // Empty buckets beside each other become one.
  for (size_t i = 0; i < counts.size(); ++i) {
    while (counts[i] == 0 && i + 1 < counts.size() && counts[i + 1] == 0) ++i;
    put(limits, bucket_limits()[i]);
    put(values, counts[i]);
  }
  ProtoWriter w, v;
  const double fields[] = {min, max, num, sum, squares};
  for (int i = 0; i < 5; ++i) {
    if (fields[i] != 0 || std::signbit(fields[i])) w.float64(i + 1, fields[i]);
  }
  w.bytes(6, limits);
  w.bytes(7, values);
  v.bytes(1, tag);
  v.message(5, w);
  add_value(summary, std::move(v));
}

Status add_scalar(std::string& summary, std::string_view tag, const Tensor& values, int64_t i) {
  return with_numbers(values, [&]<class T>(Tag<T>) {
    ProtoWriter v;
    v.bytes(1, tag);
    v.float32(2, float(values.data<T>()[i]));
    add_value(summary, std::move(v));
    return Status();
  });
}

Status add_histogram(std::string& summary, std::string_view tag, const Tensor& values, std::string_view name) {
  Histogram h;
  WEFT_RETURN_IF_ERROR(with_numbers(values, [&]<class T>(Tag<T>) {
    for (const T x : values.span<T>()) {
      const double v = double(x);
      if (std::isnan(v)) return invalid_argument("Nan in summary histogram for: ", name);
      if (std::isinf(v)) return invalid_argument("Infinity in Histogram for: ", name);
      h.add(v);
    }
    return Status();
  }));
  h.add_to(summary, tag);
  return {};
}

Status add_images(std::string& summary, std::string_view tag, const Tensor& images, int64_t most, const Tensor& bad_color) {
  if (images.rank() != 4 || (images.dim(3) != 1 && images.dim(3) != 3 && images.dim(3) != 4))
    return invalid_argument("Tensor must be 4-D with last dim 1, 3, or 4, not ", images.shape());
  for (int i = 0; i < 4; ++i) {
    if (images.dim(i) > INT32_MAX) return invalid_argument("Tensor too large for summary ", images.shape());
  }
  const int64_t n = std::min(images.dim(0), most), height = images.dim(1), width = images.dim(2), depth = images.dim(3);
  const int64_t pixels = height * width;
  if (n > 0 && (pixels == 0 || pixels * depth > INT32_MAX)) return invalid_argument("Tensor too large for summary ", images.shape());
  if (images.dtype() != DType::kUint8 && bad_color.num_elements() < depth)
    return invalid_argument("expected depth <= bad_color.size, got depth = ", depth, ", bad_color.size = ", bad_color.num_elements());
  std::vector<uint8_t> stretched(images.dtype() == DType::kUint8 || n == 0 ? 0 : size_t(pixels * depth));
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* bytes = stretched.data();
    WEFT_RETURN_IF_ERROR((dispatch<uint8_t, float, double, half>(images.dtype(), [&]<class T>(Tag<T>) {
      if constexpr (std::is_same_v<T, uint8_t>) bytes = images.data<uint8_t>() + i * pixels * depth;
      else stretch(images.data<T>() + i * pixels * depth, pixels, depth, bad_color.data<uint8_t>(), stretched.data());
      return Status();
    })));
    WEFT_ASSIGN(std::string png, kernels::encode_png(bytes, {height, width, depth}, 8, -1));
    ProtoWriter image, v;
    image.int64(1, height);
    image.int64(2, width);
    image.int64(3, depth);
    image.bytes(4, png);
    v.bytes(1, numbered(tag, "image", most, i));
    v.message(4, image);
    add_value(summary, std::move(v));
  }
  return {};
}

Status add_audio(std::string& summary, std::string_view tag, const Tensor& clips, int64_t most, float sample_rate) {
  if (clips.rank() != 2 && clips.rank() != 3) return invalid_argument("Tensor must be 3-D or 2-D, got: ", clips.shape());
  if (!(sample_rate > 0)) return invalid_argument("sample_rate must be > 0");
  const int64_t n = std::min(clips.dim(0), most), frames = clips.dim(1), channels = clips.rank() == 2 ? 1 : clips.dim(2);
  for (int64_t i = 0; i < n; ++i) {
    const double rate = std::nearbyint(double(sample_rate));
    WEFT_ASSIGN(std::string wav,
                encode_wav(clips.data<float>() + i * frames * channels, frames, channels, rate < 1e18 ? uint64_t(rate) : UINT64_MAX));
    ProtoWriter audio, v;
    audio.float32(1, sample_rate);
    audio.int64(2, channels);
    if (frames) audio.int64(3, frames);
    audio.bytes(4, wav);
    audio.bytes(5, "audio/wav");
    v.bytes(1, numbered(tag, "audio", most, i));
    v.message(6, audio);
    add_value(summary, std::move(v));
  }
  return {};
}

}  // namespace weft_engine::ops

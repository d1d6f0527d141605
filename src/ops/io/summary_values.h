// What the summary ops put into a tensorflow.Summary (proto/event.proto): values are appended to a serialized one.
#pragma once

#include <cfloat>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace weft_engine::ops {

// Numbers counted by buckets, as HistogramProto has them.
struct Histogram {
  Histogram();
  void add(double v);
  void add_to(std::string& summary, std::string_view tag) const;

  double min = DBL_MAX, max = -DBL_MAX, num = 0, sum = 0, squares = 0;
  std::vector<double> counts;
};

// A number, as simple_value: element i of a tensor of any number type.
core::Status add_scalar(std::string& summary, std::string_view tag, const core::Tensor& values, int64_t i);
// InvalidArgument for NaN and infinity; `name` is whose they are.
core::Status add_histogram(std::string& summary, std::string_view tag, const core::Tensor& values, std::string_view name);
// PNG files of at most `most` images of [n, height, width, channels]. Floats are stretched to what a byte holds; a pixel that is no
// number gets bad_color.
core::Status add_images(std::string& summary, std::string_view tag, const core::Tensor& images, int64_t most, const core::Tensor& bad_color);
// WAV files of at most `most` clips of [n, frames] or [n, frames, channels].
core::Status add_audio(std::string& summary, std::string_view tag, const core::Tensor& clips, int64_t most, float sample_rate);

// audio.cc: a WAV file of 16 bits a sample.
struct Wav {
  uint16_t channels = 0;
  uint32_t sample_rate = 0;
  int64_t frames = 0;
  std::string_view data;  // the samples, in the bytes that were read
  float sample(int64_t frame, int64_t channel) const;  // in [-1, 1)
};
core::Result<Wav> read_wav(std::string_view bytes);
core::Result<std::string> encode_wav(const float* samples, int64_t frames, int64_t channels, uint64_t rate);

}  // namespace weft_engine::ops

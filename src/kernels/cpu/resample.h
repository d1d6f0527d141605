// Resampling with a filter kernel (ScaleAndTranslate): each output sample is a weighted sum of a span of
// input samples; rows first, then columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

enum class SamplingKernel { kLanczos1, kLanczos3, kLanczos5, kGaussian, kBox, kTriangle, kKeysCubic, kMitchellCubic };
std::optional<SamplingKernel> sampling_kernel(std::string_view name);

// For output i: inputs [start[i], start[i] + n) with the n weights from weights[first[i]] to weights[first[i + 1]].
struct Spans {
  std::vector<int64_t> start, first;
  std::vector<float> weights;
};
// Input x lands at output x * scale + translation.
Spans make_spans(SamplingKernel kernel, int64_t out, int64_t in, float scale, float translation, bool antialias);
// The same weights seen from the inputs: what each of `in` inputs sends to the outputs.
Spans transposed_spans(const Spans& spans, int64_t in);

// [batch, in_height, in_width, channels] to [batch, rows.start.size(), columns.start.size(), channels].
void gather_spans(const Spans& rows, const Spans& columns, int64_t batch, int64_t in_height, int64_t in_width, int64_t channels, const float* in,
                  float* out, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

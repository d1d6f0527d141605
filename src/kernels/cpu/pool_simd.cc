#include <limits>

#include "kernels/cpu/pool.h"
#include "kernels/cpu/isa_begin.h"

namespace {

constexpr int kBlock = 64;  // channels whose results stay in registers

template <bool kMax>
void block(float* __restrict acc, const float* __restrict x, int n) {
  for (int i = 0; i < n; ++i) acc[i] = kMax ? (x[i] > acc[i] ? x[i] : acc[i]) : acc[i] + x[i];
}

template <bool kMax>
void run(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end) {
  const int64_t n = g.channels, per_image = g.out_positions();
  for (int64_t p = begin; p < end; ++p) {
    int64_t at = p % per_image;
    const auto w = g.dim[2].inputs(at % g.dim[2].out);
    at /= g.dim[2].out;
    const auto h = g.dim[1].inputs(at % g.dim[1].out);
    const auto d = g.dim[0].inputs(at / g.dim[1].out);
    const float* image = in + p / per_image * g.in_size();
    const int64_t count = d.size() * h.size() * w.size();
    for (int64_t c = 0; c < n; c += kBlock) {
      const int size = int(std::min<int64_t>(kBlock, n - c));
      float acc[kBlock];
      for (int i = 0; i < kBlock; ++i) acc[i] = kMax ? std::numeric_limits<float>::lowest() : 0.0f;
      for (int64_t z = d.begin; z < d.end; ++z) {
        for (int64_t y = h.begin; y < h.end; ++y) {
          const float* row = image + ((z * g.dim[1].in + y) * g.dim[2].in + w.begin) * n + c;
          for (int64_t x = w.begin; x < w.end; ++x, row += n) {
            if (size == kBlock) block<kMax>(acc, row, kBlock);
            else block<kMax>(acc, row, size);
          }
        }
      }
      float* to = out + p * n + c;
      const float scale = float(count);
      for (int i = 0; i < size; ++i) to[i] = kMax ? acc[i] : acc[i] / scale;
    }
  }
}

}  // namespace

void max_pool_float(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end) { run<true>(g, in, out, begin, end); }
void avg_pool_float(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end) { run<false>(g, in, out, begin, end); }

#include "kernels/cpu/isa_end.h"

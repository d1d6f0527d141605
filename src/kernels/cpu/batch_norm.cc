#include "kernels/cpu/batch_norm.h"

#include <algorithm>

namespace weft_engine::kernels {
namespace {

using core::ThreadPool;

// Sums over all of a channel in `width` doubles per channel. Rows are cut into parts of a fixed size,
// whose sums are added in order. body(first row, rows, sums) handles outer indices.
template <class F>
std::vector<double> summed(const ChannelArray& a, int width, ThreadPool& pool, F body) {
  constexpr int64_t kPart = 1 << 15;  // elements
  const int64_t row = std::max<int64_t>(1, a.channels * a.inner);
  const int64_t rows = std::clamp<int64_t>(kPart / row, 1, std::max<int64_t>(a.outer, 1));
  const int64_t parts = std::min<int64_t>(64, (a.outer + rows - 1) / rows);
  const size_t slots = size_t(a.channels) * size_t(width);
  std::vector<double> sums(slots * size_t(std::max<int64_t>(parts, 1)));
  pool.parallel_chunks(parts, [&](int64_t p) {
    const int64_t begin = a.outer * p / parts, end = a.outer * (p + 1) / parts;
    body(begin, end - begin, sums.data() + size_t(p) * slots);
  });
  for (int64_t p = 1; p < parts; ++p) {
    for (size_t i = 0; i < slots; ++i) sums[i] += sums[size_t(p) * slots + i];
  }
  sums.resize(slots);
  return sums;
}

std::vector<double> sums_of(const ChannelArray& a, const float* x, const float* center, ThreadPool& pool) {
  return summed(a, 1, pool, [&](int64_t first, int64_t rows, double* sums) {
    const float* at = x + first * a.channels * a.inner;
    if (a.inner == 1) return WEFT_BEST_ISA(channel_sum_columns)(at, center, rows, a.channels, sums);
    for (int64_t i = 0; i < rows * a.channels; ++i) {
      const int64_t c = i % a.channels;
      sums[c] += WEFT_BEST_ISA(channel_sum_row)(at + i * a.inner, center ? center[c] : 0.f, center != nullptr, a.inner);
    }
  });
}

// body(row of channels) for inner == 1, body(one channel's run) otherwise.
template <class Rows, class Run>
void each(const ChannelArray& a, ThreadPool& pool, Rows rows, Run run) {
  if (a.inner == 1) {
    pool.parallel_for(a.outer, double(a.channels) * 0.3 + 2, [&](int64_t begin, int64_t end) { rows(begin * a.channels, end - begin); });
    return;
  }
  pool.parallel_for(a.outer * a.channels, double(a.inner) * 0.3 + 5, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run(i * a.inner, i % a.channels);
  });
}

}  // namespace

void channel_moments(const ChannelArray& a, const float* x, float* mean, float* variance, ThreadPool& pool) {
  const double count = double(a.per_channel());
  const std::vector<double> sums = sums_of(a, x, nullptr, pool);
  for (int64_t c = 0; c < a.channels; ++c) mean[c] = float(sums[size_t(c)] / count);
  const std::vector<double> squares = sums_of(a, x, mean, pool);
  for (int64_t c = 0; c < a.channels; ++c) variance[c] = float(squares[size_t(c)] / count);
}

void channel_scale(const ChannelArray& a, const float* x, const float* center, const float* factor, const float* offset, float* y, ThreadPool& pool) {
  each(
      a, pool, [&](int64_t at, int64_t rows) { WEFT_BEST_ISA(channel_scale_rows)(x + at, center, factor, offset, y + at, rows, a.channels); },
      [&](int64_t at, int64_t c) { WEFT_BEST_ISA(channel_scale_row)(x + at, center[c], factor[c], offset[c], y + at, a.inner); });
}

void channel_grad_sums(const ChannelArray& a, const float* dy, const float* x, const float* mean, double* sum_dy, double* sum_dy_x,
                       ThreadPool& pool) {
  const int64_t n = a.channels;
  const std::vector<double> sums = summed(a, 2, pool, [&](int64_t first, int64_t rows, double* to) {
    const int64_t at = first * n * a.inner;
    if (a.inner == 1) return WEFT_BEST_ISA(channel_grad_columns)(dy + at, x + at, mean, rows, n, to, to + n);
    for (int64_t i = 0; i < rows * n; ++i) {
      WEFT_BEST_ISA(channel_grad_row)(dy + at + i * a.inner, x + at + i * a.inner, mean[i % n], a.inner, to + i % n, to + n + i % n);
    }
  });
  std::copy_n(sums.data(), n, sum_dy);
  std::copy_n(sums.data() + n, n, sum_dy_x);
}

void channel_grad(const ChannelArray& a, const float* dy, const float* x, const float* mean, const float* dy_shift, const float* dy_factor,
                  const float* x_factor, float* dx, ThreadPool& pool) {
  each(
      a, pool,
      [&](int64_t at, int64_t rows) {
        WEFT_BEST_ISA(channel_dx_rows)(dy + at, x + at, mean, dy_shift, dy_factor, x_factor, dx + at, rows, a.channels);
      },
      [&](int64_t at, int64_t c) {
        WEFT_BEST_ISA(channel_dx_row)(dy + at, x + at, mean[c], dy_shift[c], dy_factor[c], x_factor[c], dx + at, a.inner);
      });
}

}  // namespace weft_engine::kernels

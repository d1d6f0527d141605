#include <algorithm>
#include <cstring>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/isa_begin.h"

namespace {

constexpr int64_t kTile = 256;  // columns at a time
constexpr int64_t kDepth = 32;  // rows summed in float before they join the double sums

#if defined(WEFT_ISA_AVX512)
constexpr int kBytes = 64;
#elif defined(WEFT_ISA_AVX2)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
typedef float V __attribute__((vector_size(kBytes)));
typedef float L __attribute__((vector_size(kBytes), aligned(4), may_alias));
constexpr int N = kBytes / 4;

double lanes_sum(V v) {
  float lanes[N];
  std::memcpy(lanes, &v, sizeof lanes);
  double sum = 0;
  for (float f : lanes) sum += double(f);
  return sum;
}

}  // namespace

// With a center: squares of distances from it; without (null): plain sums.
void channel_sum_columns(const float* x, const float* center, int64_t rows, int64_t n, double* sums) {
  float part[kTile];
  for (int64_t c0 = 0; c0 < n; c0 += kTile) {
    const int64_t w = std::min(kTile, n - c0);
    for (int64_t r0 = 0; r0 < rows; r0 += kDepth) {
      const int64_t r1 = std::min(rows, r0 + kDepth);
      float* __restrict a = part;
      for (int64_t j = 0; j < w; ++j) a[j] = 0;
      for (int64_t r = r0; r < r1; ++r) {
        const float* p = x + r * n + c0;
        if (center) {
          const float* m = center + c0;
          for (int64_t j = 0; j < w; ++j) a[j] += (p[j] - m[j]) * (p[j] - m[j]);
        } else {
          for (int64_t j = 0; j < w; ++j) a[j] += p[j];
        }
      }
      for (int64_t j = 0; j < w; ++j) sums[c0 + j] += double(a[j]);
    }
  }
}

double channel_sum_row(const float* x, float center, bool squares, int64_t n) {
  double total = 0;
  int64_t i = 0;
  while (n - i >= N) {
    const int64_t stop = i + std::min((n - i) / N * N, kDepth * N);
    V s = {};
    if (squares) {
      for (; i < stop; i += N) {
        const V d = *reinterpret_cast<const L*>(x + i) - center;
        s += d * d;
      }
    } else {
      for (; i < stop; i += N) s += *reinterpret_cast<const L*>(x + i);
    }
    total += lanes_sum(s);
  }
  for (; i < n; ++i) total += squares ? double(x[i] - center) * double(x[i] - center) : double(x[i]);
  return total;
}

void channel_grad_columns(const float* dy, const float* x, const float* mean, int64_t rows, int64_t n, double* sums, double* products) {
  float part[kTile], part2[kTile];
  for (int64_t c0 = 0; c0 < n; c0 += kTile) {
    const int64_t w = std::min(kTile, n - c0);
    for (int64_t r0 = 0; r0 < rows; r0 += kDepth) {
      const int64_t r1 = std::min(rows, r0 + kDepth);
      float* __restrict a = part, * __restrict b = part2;
      for (int64_t j = 0; j < w; ++j) a[j] = b[j] = 0;
      for (int64_t r = r0; r < r1; ++r) {
        const float *p = dy + r * n + c0, *q = x + r * n + c0, *m = mean + c0;
        for (int64_t j = 0; j < w; ++j) {
          a[j] += p[j];
          b[j] += p[j] * (q[j] - m[j]);
        }
      }
      for (int64_t j = 0; j < w; ++j) {
        sums[c0 + j] += double(a[j]);
        products[c0 + j] += double(b[j]);
      }
    }
  }
}

void channel_grad_row(const float* dy, const float* x, float mean, int64_t n, double* sum, double* product) {
  int64_t i = 0;
  while (n - i >= N) {
    const int64_t stop = i + std::min((n - i) / N * N, kDepth * N);
    V s = {}, p = {};
    for (; i < stop; i += N) {
      const V g = *reinterpret_cast<const L*>(dy + i);
      s += g;
      p += g * (*reinterpret_cast<const L*>(x + i) - mean);
    }
    *sum += lanes_sum(s);
    *product += lanes_sum(p);
  }
  for (; i < n; ++i) {
    *sum += double(dy[i]);
    *product += double(dy[i]) * double(x[i] - mean);
  }
}

void channel_scale_rows(const float* x, const float* center, const float* factor, const float* offset, float* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center[j]) * factor[j] + offset[j];
  }
}

void channel_scale_row(const float* x, float center, float factor, float offset, float* y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center) * factor + offset;
}

void channel_dx_rows(const float* dy, const float* x, const float* mean, const float* shift, const float* dy_factor, const float* x_factor, float* dx,
                     int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
    for (int64_t j = 0; j < n; ++j) dx[j] = (dy[j] - shift[j]) * dy_factor[j] + (x[j] - mean[j]) * x_factor[j];
  }
}

void channel_dx_row(const float* dy, const float* x, float mean, float shift, float dy_factor, float x_factor, float* dx, int64_t n) {
  for (int64_t j = 0; j < n; ++j) dx[j] = (dy[j] - shift) * dy_factor + (x[j] - mean) * x_factor;
}

#include "kernels/cpu/isa_end.h"

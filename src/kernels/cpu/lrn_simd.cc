#include <cmath>

#include "kernels/cpu/lrn.h"
#include "kernels/cpu/isa_begin.h"

namespace {

#if defined(WEFT_ISA_AVX512)
typedef float Floats __attribute__((vector_size(64)));
#elif defined(WEFT_ISA_AVX2)
typedef float Floats __attribute__((vector_size(32)));
#else
typedef float Floats __attribute__((vector_size(16)));
#endif
constexpr int64_t kLanes = sizeof(Floats) / sizeof(float);
static_assert(kLanes <= kLrnSlack);

inline Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace

// Rows go into a copy with zeros around them; a sum may write behind its row, where the next one's come later.
void lrn_sums(const float* t, int64_t rows, int64_t depth, int64_t radius, bool square, float* padded, float* sums) {
  const int64_t wide = depth + 2 * radius;
  for (int64_t r = 0; r < rows; ++r) {
    float* const to = padded + r * wide + radius;
    const float* const from = t + r * depth;
    if (square) {
      for (int64_t j = 0; j < depth; ++j) to[j] = from[j] * from[j];
    } else {
      for (int64_t j = 0; j < depth; ++j) to[j] = from[j];
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < depth; j += kLanes) {
      const float* const from = padded + r * wide + j;
      Floats even = load(from), odd = {};
      for (int64_t k = 1; k < 2 * radius; k += 2) {
        odd += load(from + k);
        even += load(from + k + 1);
      }
      even += odd;
      __builtin_memcpy(sums + r * depth + j, &even, sizeof even);
    }
  }
}

void lrn_norms(const LrnArgs& args, float* norm, float* power, int64_t n) {
  const float bias = args.bias, alpha = args.alpha;
  for (int64_t i = 0; i < n; ++i) norm[i] = bias + alpha * norm[i];
  if (args.beta == 0.5f) {
    for (int64_t i = 0; i < n; ++i) power[i] = 1 / std::sqrt(norm[i]);
  } else if (args.beta == 0.75f) {
    for (int64_t i = 0; i < n; ++i) power[i] = 1 / (std::sqrt(norm[i]) * std::sqrt(std::sqrt(norm[i])));
  } else if (args.beta == 1) {
    for (int64_t i = 0; i < n; ++i) power[i] = 1 / norm[i];
  }
}

void lrn_scale(const float* x, const float* power, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * power[i];
}

void lrn_reach(const float* dy, const float* y, const float* norm, float* power, float* dx, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    dx[i] = dy[i] * power[i];
    power[i] = dy[i] * y[i] / norm[i];
  }
}

void lrn_gradient(const float* x, const float* sums, float factor, float* dx, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dx[i] += factor * x[i] * sums[i];
}

#include "kernels/cpu/isa_end.h"

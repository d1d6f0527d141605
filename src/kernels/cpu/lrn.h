// Local response normalisation along the last dimension: y = x * (bias + alpha * sum of x^2 over the
// neighbourhood)^-beta.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

struct LrnArgs {
  int64_t radius;
  float bias, alpha, beta;
};

void lrn(const LrnArgs& args, const float* x, float* y, int64_t rows, int64_t depth, core::ThreadPool& pool);
// dy, x and y = lrn(x) to dx.
void lrn_grad(const LrnArgs& args, const float* dy, const float* x, const float* y, float* dx, int64_t rows, int64_t depth, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

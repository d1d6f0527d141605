// Local response normalisation along the last dimension: y = x * (bias + alpha * sum of x^2 over the
// neighbourhood)^-beta.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

struct LrnArgs {
  int64_t radius;
  float bias, alpha, beta;
};

void lrn(const LrnArgs& args, const float* x, float* y, int64_t rows, int64_t depth, core::ThreadPool& pool);
// dy, x and y = lrn(x) to dx.
void lrn_grad(const LrnArgs& args, const float* dy, const float* x, const float* y, float* dx, int64_t rows, int64_t depth, core::ThreadPool& pool);

// The parts of both, over blocks of rows. Arrays that they write have room for kLrnSlack elements more.
constexpr int64_t kLrnSlack = 16;
// sums[i, j] = t[i, j - radius] + ... + t[i, j + radius], of the squares if so asked; `padded` has `radius` zeros around each row.
WEFT_DECLARE_ISA(void lrn_sums(const float* t, int64_t rows, int64_t depth, int64_t radius, bool square, float* padded, float* sums))
// norm = bias + alpha norm; power = norm^-beta where that takes roots only.
WEFT_DECLARE_ISA(void lrn_norms(const LrnArgs& args, float* norm, float* power, int64_t n))
WEFT_DECLARE_ISA(void lrn_scale(const float* x, const float* power, float* y, int64_t n))
// dx = dy power, and then power = dy y / norm.
WEFT_DECLARE_ISA(void lrn_reach(const float* dy, const float* y, const float* norm, float* power, float* dx, int64_t n))
// dx += factor x sums.
WEFT_DECLARE_ISA(void lrn_gradient(const float* x, const float* sums, float factor, float* dx, int64_t n))

}  // namespace weft_engine::kernels

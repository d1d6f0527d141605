// Loops of batch normalisation over an array [outer, channels, inner]: NHWC has inner 1, NCHW outer N.
// Floats; sums per channel are kept in double and cut by shape alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

struct ChannelArray {
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t per_channel() const { return outer * inner; }
};

// Per channel: the mean and the mean of squared distances from it.
void channel_moments(const ChannelArray& a, const float* x, float* mean, float* variance, core::ThreadPool& pool);
// y = (x - center) * factor + offset, channel by channel.
void channel_scale(const ChannelArray& a, const float* x, const float* center, const float* factor, const float* offset, float* y,
                   core::ThreadPool& pool);
// Per channel: sum of dy, and of dy * (x - mean).
void channel_grad_sums(const ChannelArray& a, const float* dy, const float* x, const float* mean, double* sum_dy, double* sum_dy_x,
                       core::ThreadPool& pool);
// dx = (dy - dy_shift) * dy_factor + (x - mean) * x_factor.
void channel_grad(const ChannelArray& a, const float* dy, const float* x, const float* mean, const float* dy_shift, const float* dy_factor,
                  const float* x_factor, float* dx, core::ThreadPool& pool);

// Rows of `n` elements; a channel's number applies to all of one row (inner > 1) or to one column each.
WEFT_DECLARE_ISA(void channel_sum_columns(const float* x, const float* center, int64_t rows, int64_t n, double* sums))
WEFT_DECLARE_ISA(double channel_sum_row(const float* x, float center, bool squares, int64_t n))
WEFT_DECLARE_ISA(void channel_grad_columns(const float* dy, const float* x, const float* mean, int64_t rows, int64_t n, double* sums,
                                           double* products))
WEFT_DECLARE_ISA(void channel_grad_row(const float* dy, const float* x, float mean, int64_t n, double* sum, double* product))
WEFT_DECLARE_ISA(void channel_scale_rows(const float* x, const float* center, const float* factor, const float* offset, float* y, int64_t rows,
                                         int64_t n))
WEFT_DECLARE_ISA(void channel_scale_row(const float* x, float center, float factor, float offset, float* y, int64_t n))
WEFT_DECLARE_ISA(void channel_dx_rows(const float* dy, const float* x, const float* mean, const float* shift, const float* dy_factor,
                                      const float* x_factor, float* dx, int64_t rows, int64_t n))
WEFT_DECLARE_ISA(void channel_dx_row(const float* dy, const float* x, float mean, float shift, float dy_factor, float x_factor, float* dx, int64_t n))

}  // namespace weft_engine::kernels

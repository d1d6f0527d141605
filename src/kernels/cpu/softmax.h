// Softmax and its relatives over rows of a matrix. Narrow floats are computed in float.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// y[i] = exp(x[i] - max x) / sum, or with `log` x[i] - max - log(sum), for each of `rows` rows.
void softmax_rows(core::DType type, bool log, const void* x, void* y, int64_t rows, int64_t columns, core::ThreadPool& pool);

// One row or column that is repeated has the step 0.
struct MatrixView {
  const void* data;
  int64_t row_step, column_step;
};
// loss[i] = -sum_j labels[i, j] log softmax(x)[i, j]; grad = softmax(x) - labels, dense.
void cross_entropy_rows(core::DType type, const MatrixView& x, const MatrixView& labels, void* loss, void* grad, int64_t rows, int64_t columns,
                        core::ThreadPool& pool);
// The same with one class a row, given by its index, which must lie in [0, columns).
void sparse_cross_entropy_rows(core::DType type, const void* x, const int64_t* labels, void* loss, void* grad, int64_t rows, int64_t columns,
                               core::ThreadPool& pool);

WEFT_DECLARE_ISA(void softmax_floats(const float* x, float* y, int64_t rows, int64_t n))
// Row loops on floats. max_row ignores NaN. exp_row: y[i] = exp(x[i] - shift), returns the sum; y may be x, or null for the sum alone.
WEFT_DECLARE_ISA(float max_row(const float* x, int64_t n))
WEFT_DECLARE_ISA(float exp_row(const float* x, float shift, float* y, int64_t n))
WEFT_DECLARE_ISA(void scale_row(float* y, float factor, int64_t n))
WEFT_DECLARE_ISA(void shift_row(const float* x, float shift, float* y, int64_t n))

}  // namespace weft_engine::kernels

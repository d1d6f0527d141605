// SparseFillEmptyRows and RaggedFillEmptyRows are one algorithm: the first column of the indices, or the
// row ids, say in which row each value lies; rows without any value get the default.
#pragma once

#include "op/kernel.h"

namespace weft_engine::ops {

// Inputs: indices [n, rank] or row ids [n] (`columns` 1 then), values [n], the number of rows, a scalar default.
core::Status fill_empty_rows(op::KernelContext& c, int64_t rows, bool ragged);
core::Status fill_empty_rows_grad(op::KernelContext& c);

}  // namespace weft_engine::ops

// Orders: top k, n-th element, sorting, binary search, over rows of a matrix. NaN counts as the
// greatest number, so that the order is one even for hostile data.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/status.h"
#include "core/thread_pool.h"

namespace weft_engine::kernels {

// The k greatest elements of each row and their indices (index_size bytes each), greatest first, the
// lower index first among equals. Not `sorted`: in the order that TensorFlow's heap leaves them in.
core::Status top_k(core::DType type, bool sorted, const void* x, int64_t rows, int64_t n, int64_t k, void* values, void* indices, int index_size,
                   core::ThreadPool& pool);
// The n-th element of each row in ascending order.
core::Status nth_element(core::DType type, const void* x, int64_t rows, int64_t columns, int64_t n, void* out, core::ThreadPool& pool);
// Each row in ascending order; stable. `permutation` (rows * n) tells where each element came from.
core::Status sort_rows(core::DType type, const void* x, int64_t rows, int64_t n, int64_t* permutation, core::ThreadPool& pool);
// The first place in the sorted row where the value (upper: something greater) could stand.
core::Status search_rows(core::DType type, bool upper, const void* sorted, int64_t rows, int64_t n, const void* values, int64_t m, void* out,
                         int out_size, core::ThreadPool& pool);

}  // namespace weft_engine::kernels

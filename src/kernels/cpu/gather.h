// Gathers rows by index: behind Gather, GatherV2, GatherNd, ResourceGather.
#pragma once

#include <cstdint>
#include <string>

#include "core/dtype.h"
#include "core/shape.h"
#include "core/thread_pool.h"

namespace weft_engine::kernels {

// Position of the first index that is not in [0, limit), or -1. Index: int16, int32 or int64.
template <class Index>
int64_t first_bad_index(const Index* indices, int64_t n, int64_t limit);

// out[b, o, i, :] = params[b, o, indices[b, i], :] for params of shape [batch, outer, limit, inner] and
// indices of shape [batch, n]. The indices must have been checked.
template <class Index>
void gather(core::ThreadPool& pool, core::DType dtype, const void* params, int64_t batch, int64_t outer, int64_t limit, int64_t inner,
            const Index* indices, int64_t n, void* out);

// out[i, :] = elements [offsets[i], offsets[i] + inner) of params; zeros where the offset is negative.
void gather_offsets(core::ThreadPool& pool, core::DType dtype, const void* params, const int64_t* offsets, int64_t n, int64_t inner, void* out);

// "[1,2]": where the flat position lies in a tensor of that shape; "" for a scalar.
std::string position_text(const core::Shape& shape, int64_t flat);

}  // namespace weft_engine::kernels

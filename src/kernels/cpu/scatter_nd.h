// Writes rows into an array at places given by index tuples: checks, offsets and update loops of the
// ScatterNd ops, of the tensors' as well as of the variables' kind.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/dtype.h"
#include "core/shape.h"
#include "core/thread_pool.h"

namespace weft_engine::kernels {

struct ScatterNdSizes {
  int64_t updates = 0;     // index tuples
  int64_t tuple = 1;       // numbers in each
  int64_t slice = 1;       // elements that a tuple addresses
};

// Do updates of that shape fit indices and params? TensorFlow's checks and texts.
core::Result<ScatterNdSizes> check_scatter_nd(const core::Shape& params, const core::Shape& indices, const core::Shape& updates);

// Where each tuple points: the first element of its slice, or -1 if it lies outside. Returns the last
// tuple that lies outside (the one that TensorFlow names), or -1. Index: int16, uint16, int32 or int64.
template <class Index>
int64_t scatter_nd_offsets(const Index* indices, const ScatterNdSizes& sizes, const core::Shape& params, int64_t* offsets);

// "indices[0] = [5] does not index into shape [3]"; `what` is what TensorFlow calls the argument.
template <class Index>
core::Status scatter_nd_error(const Index* indices, const core::Shape& indices_shape, const ScatterNdSizes& sizes, const core::Shape& params,
                              int64_t bad, std::string_view what = "shape");

enum class Update { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

// params[offsets[i] + j] op= updates[i * slice + j], tuple after tuple; negative offsets are left out.
// `broadcast`: updates is one element for all. Integers wrap; integer division by zero leaves zero.
// Unimplemented for types that the operation does not know.
core::Status scatter_update(core::ThreadPool& pool, Update op, core::DType dtype, void* params, const void* updates, std::span<const int64_t> offsets,
                            int64_t slice, bool broadcast = false);

}  // namespace weft_engine::kernels

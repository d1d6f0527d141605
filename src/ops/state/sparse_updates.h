// Changes of parts of a tensor in place: what the Scatter, ScatterNd and StridedSliceAssign ops do to
// resource variables (state_sparse.cc) and to reference variables (state_ref.cc). The caller holds the
// variable's lock and has made its memory writable.
#pragma once

#include "kernels/cpu/scatter_nd.h"
#include "op/kernel.h"

namespace weft_engine::ops {

// params[indices[i], ...] op= updates[i, ...]; a scalar update goes to every place.
core::Status scatter_rows(op::KernelContext& c, kernels::Update update, core::Tensor& params, const core::Tensor& indices,
                          const core::Tensor& updates);

// The checks of scatter_rows that come before memory is made writable.
core::Status check_scatter_rows(const core::Tensor& params, const core::Tensor& indices, const core::Tensor& updates);

// params[tuple i] op= updates[i]; reads the attribute bad_indices_policy.
core::Status scatter_tuples(op::KernelContext& c, kernels::Update update, core::Tensor& params, const core::Tensor& indices,
                            const core::Tensor& updates);

// params[slice] = value; the slice stands in inputs 1 to 3 and the masks.
core::Status assign_slice(op::KernelContext& c, core::Tensor& params, const core::Tensor& value);

}  // namespace weft_engine::ops

// Reading and writing the part of a tensor that a strided slice names; for the ops that cut it out and
// those that assign to it.
#pragma once

#include "core/tensor.h"
#include "core/thread_pool.h"
#include "op/strided_slice.h"

namespace weft_engine::ops {

// out (dense, in the slice's shape or any other of that many elements) = in[slice].
void copy_slice(core::ThreadPool& pool, const core::Tensor& in, const op::StridedSlice& slice, core::Tensor& out);

// target[slice] = value, which is dense; value_shape is value's shape in the axes of the target (slice.cut()
// or a shape that broadcasts to it: sizes of 1 repeat).
void assign_slice(core::ThreadPool& pool, const core::Tensor& value, const core::Shape& value_shape, const op::StridedSlice& slice,
                  core::Tensor& target);

// target[slice] = value, where value may broadcast to the slice; TensorFlow's error if it cannot.
core::Status assign_broadcast(core::ThreadPool& pool, const core::Tensor& value, const op::StridedSlice& slice, core::Tensor& target);

}  // namespace weft_engine::ops

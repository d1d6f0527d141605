// SparseParts: one of several sparse tensors that are stored together, and the ways from a sparse tensor to
// its rows and back.
#pragma once

#include <span>

#include "op/kernel.h"

namespace weft_engine::op {
class Registry;
}

namespace weft_engine::ops {

struct SparseParts {
  core::Tensor indices, values, shape;
};

// "Input indices should be a matrix but received shape [2]"
core::Status check_part_ranks(const core::Tensor& indices, const core::Tensor& values, const core::Tensor& shape);

// Rows [begin, end) of a sparse tensor, which lie at one place of its first dimension, as one without it.
// The parts were checked and have a rank of 2 or more.
core::Result<SparseParts> inner_parts(const core::Tensor& indices, const core::Tensor& values, const core::Tensor& shape, int64_t begin, int64_t end);

// All parts, which have one rank, as one sparse tensor with the dimensions `batch` in front: outputs 0 to 2.
enum class DenseSize { kAny, kMustFit };
core::Status output_sparse_batch(op::KernelContext& c, std::span<const SparseParts> parts, const core::Shape& batch, core::DType dtype,
                                 DenseSize size);

}  // namespace weft_engine::ops

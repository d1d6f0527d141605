// What the image families share: the shape of a resized image, inputs read as float, and the parts of
// the families that have files of their own.
#pragma once

#include "op/registry.h"

namespace weft_engine::ops {

// Output 0 is [batch, size[0], size[1], channels], `size` being input `size_input`.
op::Status sized_image_shape(op::ShapeContext& c, int64_t batch, int size_input, int64_t channels);

// Output 0 as input 0, which has at least this rank.
template <int rank>
op::Status same_with_rank_at_least(op::ShapeContext& c) {
  WEFT_ASSIGN(op::PartialShape s, c.with_rank_at_least(0, rank));
  c.output(0, std::move(s));
  return {};
}

// The elements as float: the tensor itself, or a converted copy.
op::Result<op::Tensor> as_float(op::KernelContext& c, const op::Tensor& t);

}  // namespace weft_engine::ops

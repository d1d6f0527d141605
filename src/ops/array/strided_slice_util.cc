#include "ops/array/strided_slice_util.h"

#include <algorithm>

#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

// Elements between neighbours of the slice in one dimension. A single step may have any stride, even one
// whose product with the row size overflows, so it counts as none.
int64_t step_of(const SliceDim& d, int64_t stride) { return d.size > 1 ? d.stride * stride : 0; }

int64_t first_of(const StridedSlice& slice, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) offset += slice.dims[i].begin * strides[i];
  return offset;
}

}  // namespace

void copy_slice(ThreadPool& pool, const Tensor& in, const StridedSlice& slice, Tensor& out) {
  if (out.num_elements() == 0) return;
  const auto from = strides_of(in.shape()), to = strides_of(slice.cut());
  kernels::CopyPlan plan;
  for (size_t i = 0; i < from.size(); ++i) plan.add(slice.dims[i].size, step_of(slice.dims[i], from[i]), to[i]);
  if (plan.empty()) return;
  kernels::strided_copy(pool, in.dtype(), element(in, first_of(slice, from)), out.raw(), plan);
}

void assign_slice(ThreadPool& pool, const Tensor& value, const Shape& value_shape, const StridedSlice& slice, Tensor& target) {
  if (target.num_elements() == 0) return;
  const auto from = strides_of(value_shape), to = strides_of(target.shape());
  kernels::CopyPlan plan;
  for (size_t i = 0; i < to.size(); ++i) plan.add(slice.dims[i].size, value_shape.dim(int(i)) == 1 ? 0 : from[i], step_of(slice.dims[i], to[i]));
  if (plan.empty()) return;
  kernels::strided_copy(pool, value.dtype(), value.raw(), element(target, first_of(slice, to)), plan);
}

Status assign_broadcast(ThreadPool& pool, const Tensor& value, const StridedSlice& slice, Tensor& target) {
  const Shape want(slice.shape.dims());
  auto refuse = [&] { return invalid_argument("Cannot broadcast input shape ", value.shape(), " into final shape ", want); };
  const int extra = value.rank() - want.rank();  // the value may have more leading dimensions of size 1, or fewer dimensions
  for (int i = 0; i < value.rank(); ++i) {
    if (value.dim(i) != 1 && (i < extra || value.dim(i) != want.dim(i - extra))) return refuse();
  }
  // The value in the target's dimensions: what was shrunk or is missing has one step. New axes have size 1
  // in the slice, so leaving them out does not disturb the value's strides.
  std::vector<int64_t> dims(slice.dims.size(), 1);
  for (int axis = std::max(0, -extra); axis < want.rank(); ++axis) {
    const int d = slice.axes[size_t(axis)];
    if (d >= 0) dims[size_t(d)] = value.dim(axis + extra);
  }
  assign_slice(pool, value, Shape(dims), slice, target);
  return {};
}

}  // namespace weft_engine::ops

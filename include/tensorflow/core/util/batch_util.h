// SPDX-License-Identifier: Apache-2.0
//
// batch_util: rows of dimension 0 of a tensor, copied from and to tensors of their own.
#ifndef TENSORFLOW_CORE_UTIL_BATCH_UTIL_H_
#define TENSORFLOW_CORE_UTIL_BATCH_UTIL_H_

#include "tensorflow/core/framework/tensor_util.h"

namespace tensorflow {
namespace batch_util {

namespace internal {
inline Status CheckRow(const Tensor& row, const Tensor& batch, int64 i) {
  TensorShape rest = batch.shape();
  if (rest.dims() < 1) return errors::Internal("the batch has no rows");
  rest.RemoveDim(0);
  if (row.dtype() != batch.dtype() || row.NumElements() != rest.num_elements())
    return errors::Internal("Cannot perform copy: number of elements does not match. Shapes are: [element]: ", row.shape().DebugString(),
                            ", [parent slice]: ", rest.DebugString());
  if (i < 0 || i >= batch.dim_size(0)) return errors::Internal("row ", i, " of ", batch.dim_size(0));
  return OkStatus();
}
}  // namespace internal

inline Status CopyElementToSlice(const Tensor& element, Tensor* parent, int64 index) {
  TF_RETURN_IF_ERROR(internal::CheckRow(element, *parent, index));
  tensor::internal::CopyElements(element, 0, element.NumElements(), parent, index * element.NumElements());
  return OkStatus();
}
inline Status CopySliceToElement(const Tensor& parent, Tensor* element, int64 index) {
  TF_RETURN_IF_ERROR(internal::CheckRow(*element, parent, index));
  tensor::internal::CopyElements(parent, index * element->NumElements(), element->NumElements(), element, 0);
  return OkStatus();
}
inline Status MaybeMoveSliceToElement(Tensor* parent, Tensor* element, int64 index) { return CopySliceToElement(*parent, element, index); }
// `count` rows of src from src_offset on, over those of dst from dst_offset on.
inline Status CopyContiguousSlices(const Tensor& src, int64 src_offset, int64 dst_offset, int64 count, Tensor* dst) {
  if (src.dtype() != dst->dtype() || src.dims() < 1 || dst->dims() < 1)
    return errors::FailedPrecondition("CopyContiguousSlices cannot perform copy: src and dst have different dtypes or no rows");
  const int64 row = src.dim_size(0) ? src.NumElements() / src.dim_size(0) : 0;
  const int64 dst_row = dst->dim_size(0) ? dst->NumElements() / dst->dim_size(0) : 0;
  if (row != dst_row || src_offset < 0 || src_offset + count > src.dim_size(0) || dst_offset < 0 || dst_offset + count > dst->dim_size(0))
    return errors::FailedPrecondition("CopyContiguousSlices cannot perform copy: index out of range or other shapes, src ", src.shape().DebugString(),
                                      ", dst ", dst->shape().DebugString());
  tensor::internal::CopyElements(src, src_offset * row, count * row, dst, dst_offset * row);
  return OkStatus();
}

}  // namespace batch_util
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_BATCH_UTIL_H_

// SPDX-License-Identifier: Apache-2.0
//
// tensor::DeepCopy, Concat and Split along dimension 0, CreateTensorProto.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_UTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_UTIL_H_

#include <cstring>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"

namespace tensorflow {
namespace tensor {

inline Tensor DeepCopy(const Tensor& other) {
  if (!other.c_tensor()) return other;
  TF_Tensor* copy = nullptr;
  const Status s = internal::FromC(weft_tensor_copy(other.c_tensor(), &copy));
  CHECK(s.ok()) << s;
  return Tensor::Owning(copy);
}
namespace internal {
// Elements [from, from + n) of one tensor over those of the other from `to` on.
inline void CopyElements(const Tensor& source, int64 from, int64 n, Tensor* target, int64 to) {
  if (source.dtype() == DT_STRING) {
    for (int64 i = 0; i < n; ++i) target->flat<tstring>()(to + i) = source.flat<tstring>()(from + i);
  } else if (source.dtype() == DT_VARIANT) {
    for (int64 i = 0; i < n; ++i) target->flat<Variant>()(to + i) = source.flat<Variant>()(from + i);
  } else {
    const auto size = static_cast<size_t>(DataTypeSize(source.dtype()));
    CHECK(size > 0) << "elements of " << DataTypeString(source.dtype()) << " are not copied";
    std::memcpy(const_cast<char*>(target->tensor_data().data()) + static_cast<size_t>(to) * size,
                source.tensor_data().data() + static_cast<size_t>(from) * size, static_cast<size_t>(n) * size);
  }
}
}  // namespace internal
// The output has its memory and shape already.
inline void DeepCopy(const Tensor& input, Tensor* output) { internal::CopyElements(input, 0, input.NumElements(), output, 0); }

inline Status Concat(gtl::ArraySlice<Tensor> tensors, Tensor* result) {
  if (tensors.empty()) return errors::InvalidArgument("Cannot concatenate zero tensors");
  int64 rows = 0;
  for (const Tensor& t : tensors) {
    if (t.dims() < 1) return errors::InvalidArgument("Cannot concatenate a zero-dimensional tensor");
    if (t.dtype() != tensors[0].dtype()) return errors::InvalidArgument("Cannot concatenate tensors that have different data types.");
    rows += t.dim_size(0);
  }
  TensorShape shape = tensors[0].shape();
  shape.set_dim(0, rows);
  *result = Tensor(tensors[0].dtype(), shape);
  int64 at = 0;
  for (const Tensor& t : tensors) {
    internal::CopyElements(t, 0, t.NumElements(), result, at);
    at += t.NumElements();
  }
  return OkStatus();
}
inline Status Split(const Tensor& tensor, gtl::ArraySlice<int64> sizes, std::vector<Tensor>* result) {
  if (tensor.dims() < 1) return errors::InvalidArgument("Cannot split a zero-dimensional tensor");
  int64 rows = 0;
  for (const int64 n : sizes) rows += n;
  if (rows != tensor.dim_size(0)) return errors::InvalidArgument("The values in 'sizes' do not sum to the zeroth-dimension size of 'tensor'");
  const int64 row = tensor.dim_size(0) ? tensor.NumElements() / tensor.dim_size(0) : 0;
  int64 at = 0;
  for (const int64 n : sizes) {
    TensorShape shape = tensor.shape();
    shape.set_dim(0, n);
    result->emplace_back(tensor.dtype(), shape);
    internal::CopyElements(tensor, at * row, n * row, &result->back(), 0);
    at += n;
  }
  return OkStatus();
}

template <class T>
TensorProto CreateTensorProto(const std::vector<T>& values, const std::vector<size_t>& shape) {
  TensorShape dims;
  for (const size_t d : shape) dims.AddDim(static_cast<int64>(d));
  Tensor t(DataTypeToEnum<T>::value, dims);
  int64 i = 0;
  for (const auto& v : values) t.flat<T>()(i++) = v;
  TensorProto proto;
  t.AsProtoField(&proto);
  return proto;
}

}  // namespace tensor
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_UTIL_H_

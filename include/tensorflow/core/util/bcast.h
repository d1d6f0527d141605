// SPDX-License-Identifier: Apache-2.0
//
// BCast: two shapes that are broadcast against each other, with neighbouring dimensions of one kind joined.
#ifndef TENSORFLOW_CORE_UTIL_BCAST_H_
#define TENSORFLOW_CORE_UTIL_BCAST_H_

#include <algorithm>
#include <vector>

#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/span.h"

namespace tensorflow {

class BCast {
 public:
  using Vec = gtl::InlinedVector<int64, 4>;
  // A dimension of one side is 1 or that of the other.
  BCast(const Vec& x, const Vec& y, bool fewer_dims_optimization = true, bool return_flattened_batch_indices = false)
      : batch_indices_(return_flattened_batch_indices) {
    const size_t rank = std::max(x.size(), y.size());
    Vec a(rank, 1), b(rank, 1);
    std::copy(x.begin(), x.end(), a.begin() + static_cast<ptrdiff_t>(rank - x.size()));
    std::copy(y.begin(), y.end(), b.begin() + static_cast<ptrdiff_t>(rank - y.size()));
    enum Kind { kNone, kSame, kX, kY };
    Kind before = kNone;
    for (size_t i = 0; i < rank; ++i) {
      if (a[i] != b[i] && a[i] != 1 && b[i] != 1) {
        valid_ = false;
        return;
      }
      output_.push_back(a[i] == 1 ? b[i] : a[i]);
      if (a[i] == 1) grad_x_.push_back(static_cast<int64>(i));
      if (b[i] == 1) grad_y_.push_back(static_cast<int64>(i));
      const Kind kind = a[i] == b[i] ? (a[i] == 1 ? before : kSame) : a[i] == 1 ? kX : kY;
      if (a[i] != b[i]) required_ = true;
      if (a[i] == 1 && b[i] == 1 && fewer_dims_optimization && before != kNone) continue;  // belongs to its neighbour
      if (fewer_dims_optimization && kind == before && before != kNone) {
        x_reshape_.back() *= a[i];
        y_reshape_.back() *= b[i];
        x_bcast_.back() *= a[i] == 1 ? b[i] : 1;
        y_bcast_.back() *= b[i] == 1 ? a[i] : 1;
        result_.back() *= a[i] == 1 ? b[i] : a[i];
      } else {
        x_reshape_.push_back(a[i]);
        y_reshape_.push_back(b[i]);
        x_bcast_.push_back(a[i] == 1 ? b[i] : 1);
        y_bcast_.push_back(b[i] == 1 ? a[i] : 1);
        result_.push_back(a[i] == 1 ? b[i] : a[i]);
      }
      before = kind;
    }
    if (result_.empty()) {
      for (Vec* v : {&x_reshape_, &y_reshape_, &x_bcast_, &y_bcast_, &result_}) v->push_back(1);
    }
    if (batch_indices_) FillBatchIndices(a, b);
  }
  bool IsValid() const { return valid_; }
  bool IsBroadcastingRequired() const { return required_; }
  // x.reshape(x_reshape).broadcast(x_bcast) and the same of y have the shape result_shape; output_shape is it with all dimensions.
  const Vec& x_reshape() const { return x_reshape_; }
  const Vec& y_reshape() const { return y_reshape_; }
  const Vec& x_bcast() const { return x_bcast_; }
  const Vec& y_bcast() const { return y_bcast_; }
  const Vec& result_shape() const { return result_; }
  const Vec& output_shape() const { return output_; }
  // Over which dimensions the gradient is summed.
  const Vec& grad_x_reduce_idx() const { return grad_x_; }
  const Vec& grad_y_reduce_idx() const { return grad_y_; }
  int64 output_batch_size() const {
    int64 n = 1;
    for (int64 d : output_) n *= d;
    return n;
  }
  const std::vector<int64>& x_batch_indices() const { return x_indices_; }
  const std::vector<int64>& y_batch_indices() const { return y_indices_; }

  template <class IndexType, int NDIMS>
  static std::array<IndexType, NDIMS> ToIndexArrayType(const Vec& v) {
    CHECK_EQ(v.size(), static_cast<size_t>(NDIMS));
    std::array<IndexType, NDIMS> out{};
    for (size_t i = 0; i < v.size(); ++i) out[i] = static_cast<IndexType>(v[i]);
    return out;
  }
  template <int NDIMS>
  static auto ToIndexArray(const Vec& v) {
    return ToIndexArrayType<ptrdiff_t, NDIMS>(v);
  }
  static Vec FromShape(const TensorShape& shape) {
    Vec out;
    for (int i = 0; i < shape.dims(); ++i) out.push_back(shape.dim_size(i));
    return out;
  }
  static TensorShape ToShape(const Vec& v) { return TensorShape(gtl::ArraySlice<int64>(v)); }

 private:
  void FillBatchIndices(const Vec& a, const Vec& b) {
    const int64 n = output_batch_size();
    for (int64 i = 0; i < n; ++i) {
      int64 rest = i, x = 0, y = 0, x_stride = 1, y_stride = 1;
      for (size_t d = output_.size(); d-- > 0;) {
        const int64 at = rest % output_[d];
        rest /= output_[d];
        x += (a[d] == 1 ? 0 : at) * x_stride;
        y += (b[d] == 1 ? 0 : at) * y_stride;
        x_stride *= a[d];
        y_stride *= b[d];
      }
      x_indices_.push_back(x);
      y_indices_.push_back(y);
    }
  }
  bool valid_ = true, required_ = false, batch_indices_;
  Vec x_reshape_, y_reshape_, x_bcast_, y_bcast_, result_, output_, grad_x_, grad_y_;
  std::vector<int64> x_indices_, y_indices_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_BCAST_H_

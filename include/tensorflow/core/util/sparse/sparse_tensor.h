// SPDX-License-Identifier: Apache-2.0
//
// SparseTensor: indices, values, a shape, and the order of dimensions by which the indices are sorted (-1: it is not known).
#ifndef TENSORFLOW_CORE_UTIL_SPARSE_SPARSE_TENSOR_H_
#define TENSORFLOW_CORE_UTIL_SPARSE_SPARSE_TENSOR_H_

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/statusor.h"
#include "tensorflow/core/util/sparse/group_iterator.h"

namespace tensorflow {
namespace sparse {

class SparseTensor {
 public:
  using VarDimArray = gtl::ArraySlice<int64>;
  using ShapeArray = gtl::InlinedVector<int64, 8>;

  static Status Create(Tensor ix, Tensor vals, VarDimArray shape, VarDimArray order, SparseTensor* result) {
    if (ix.dtype() != DT_INT64) return errors::InvalidArgument("indices must be type int64 but got: ", static_cast<int>(ix.dtype()));
    if (!TensorShapeUtils::IsVector(vals.shape())) return errors::InvalidArgument("vals must be a vec, but got: ", vals.shape().DebugString());
    if (!TensorShapeUtils::IsMatrix(ix.shape())) return errors::InvalidArgument("indices must be a matrix, but got: ", ix.shape().DebugString());
    if (ix.dim_size(0) != vals.dim_size(0))
      return errors::InvalidArgument("indices and values rows (indexing dimension) must match. (indices = ", ix.dim_size(0),
                                     ", values = ", vals.dim_size(0), ")");
    if (ix.dim_size(1) != static_cast<int64>(order.size())) return errors::InvalidArgument("Order length must be SparseTensor rank.");
    if (ix.dim_size(1) != static_cast<int64>(shape.size())) return errors::InvalidArgument("Shape rank must be SparseTensor rank.");
    result->ix_ = std::move(ix);
    result->vals_ = std::move(vals);
    result->shape_.assign(shape.begin(), shape.end());
    result->order_.assign(order.begin(), order.end());
    return OkStatus();
  }
  static Status Create(Tensor ix, Tensor vals, VarDimArray shape, SparseTensor* result) {
    const ShapeArray unknown(shape.size(), -1);
    return Create(std::move(ix), std::move(vals), shape, unknown, result);
  }
  static Status Create(Tensor ix, Tensor vals, const TensorShape& shape, VarDimArray order, SparseTensor* result) {
    return Create(std::move(ix), std::move(vals), shape.dim_sizes(), order, result);
  }
  static Status Create(Tensor ix, Tensor vals, const TensorShape& shape, SparseTensor* result) {
    return Create(std::move(ix), std::move(vals), shape.dim_sizes(), result);
  }
  SparseTensor() = default;
  // What does not fit throws.
  SparseTensor(Tensor ix, Tensor vals, VarDimArray shape, VarDimArray order) {
    TF_CHECK_OK(Create(std::move(ix), std::move(vals), shape, order, this));
  }
  SparseTensor(Tensor ix, Tensor vals, VarDimArray shape) { TF_CHECK_OK(Create(std::move(ix), std::move(vals), shape, this)); }
  SparseTensor(Tensor ix, Tensor vals, const TensorShape& shape, VarDimArray order) {
    TF_CHECK_OK(Create(std::move(ix), std::move(vals), shape, order, this));
  }
  SparseTensor(Tensor ix, Tensor vals, const TensorShape& shape) { TF_CHECK_OK(Create(std::move(ix), std::move(vals), shape, this)); }

  size_t num_entries() const { return static_cast<size_t>(ix_.dim_size(0)); }
  int dims() const { return static_cast<int>(shape_.size()); }
  const Tensor& indices() const { return ix_; }
  const Tensor& values() const { return vals_; }
  DataType dtype() const { return vals_.dtype(); }
  VarDimArray shape() const { return shape_; }
  VarDimArray order() const { return order_; }
  std::vector<int64> PickDims(gtl::ArraySlice<int64> which) const {
    std::vector<int64> out;
    for (const int64 d : which) out.push_back(shape_.at(static_cast<size_t>(d)));
    return out;
  }

  // Whether all indices are within the shape, sorted by the order, and different.
  Status IndicesValid() const {
    for (const int64 d : order_) {
      if (d < 0) return errors::FailedPrecondition("Order was not provided.  Provide an order at construction time or run ReorderInPlace");
    }
    const auto ix = ix_.matrix<int64>();
    for (int64 n = 0; n < ix_.dim_size(0); ++n) {
      bool inside = true;
      for (int d = 0; d < dims(); ++d) inside &= ix(n, d) >= 0 && ix(n, d) < shape_[static_cast<size_t>(d)];
      const bool less = n == 0 || Before(&ix(n - 1, 0), &ix(n, 0)), more = n > 0 && Before(&ix(n, 0), &ix(n - 1, 0));
      if (inside && less) continue;
      std::string which = strings::StrCat("indices[", n, "] = [");
      for (int d = 0; d < dims(); ++d) strings::StrAppend(&which, d ? "," : "", ix(n, d));
      if (!inside) return errors::InvalidArgument(which, "] is out of bounds: need 0 <= index < ", TensorShape(shape_).DebugString());
      if (!more) return errors::InvalidArgument(which, "] is repeated");
      return errors::InvalidArgument(which, "] is out of order. Many sparse ops require sorted indices.\n",
                                     "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n");
    }
    return OkStatus();
  }
  // Sorts the entries by these dimensions, in place.
  template <class T>
  void Reorder(VarDimArray order) {
    CHECK_EQ(static_cast<int>(order.size()), dims()) << "Order length must be SparseTensor rank";
    order_.assign(order.begin(), order.end());
    const Tensor ix = Copied<int64>(ix_), vals = Copied<T>(vals_);
    const auto from = ix.matrix<int64>();
    std::vector<int64> by(num_entries());
    std::iota(by.begin(), by.end(), 0);
    if (dims() > 0) std::stable_sort(by.begin(), by.end(), [&](int64 a, int64 b) { return Before(&from(a, 0), &from(b, 0)); });
    for (size_t n = 0; n < by.size(); ++n) {
      for (int d = 0; d < dims(); ++d) ix_.matrix<int64>()(static_cast<int64>(n), d) = from(by[n], d);
      vals_.vec<T>()(static_cast<int64>(n)) = vals.vec<T>()(by[n]);
    }
  }
  // Runs of entries that have these dimensions, the first of the order, in common.
  GroupIterable group(VarDimArray dims_of_groups) const {
    for (size_t i = 0; i < dims_of_groups.size(); ++i) {
      CHECK(i < order_.size() && dims_of_groups[i] == order_[i]) << "Group dimension does not match sorted order";
    }
    return GroupIterable(ix_, vals_, dims(), dims_of_groups);
  }
  // False where an entry does not fit into the tensor.
  template <class T>
  bool ToDense(Tensor* out, bool initialize = true) {
    if (out->dims() != dims()) return false;
    for (int d = 0; d < dims(); ++d) {
      if (shape_[static_cast<size_t>(d)] > out->dim_size(d)) return false;
    }
    auto dense = out->flat<T>();
    if (initialize) std::fill(dense.data(), dense.data() + out->NumElements(), T());
    const auto ix = ix_.matrix<int64>();
    const auto vals = vals_.vec<T>();
    for (int64 n = 0; n < ix_.dim_size(0); ++n) {
      int64 at = 0;
      for (int d = 0; d < dims(); ++d) {
        const int64 i = ix(n, d);
        if (i < 0 || i >= out->dim_size(d)) return false;
        at = at * out->dim_size(d) + i;
      }
      dense(at) = vals(n);
    }
    return true;
  }

  // Along the first dimension of the order, in which alone the shapes may differ.
  template <class T>
  static SparseTensor Concat(gtl::ArraySlice<SparseTensor> tensors) {
    CHECK(!tensors.empty()) << "Cannot concat 0 SparseTensors";
    const SparseTensor& first = tensors[0];
    CHECK(first.dims() >= 1 && first.order_[0] >= 0) << "SparseTensor must be ordered";
    const int64 along = first.order_[0];
    std::vector<std::vector<int64>> indices;
    std::vector<T> values;
    ShapeArray shape = first.shape_;
    shape[static_cast<size_t>(along)] = 0;
    bool same_order = true;
    for (const SparseTensor& t : tensors) {
      CHECK_EQ(t.dims(), first.dims()) << "All SparseTensors must have the same rank.";
      CHECK(t.order_[0] == along) << "All SparseTensors' order[0] must match.  This is the concat dim.";
      same_order &= t.order_ == first.order_;
      for (int d = 0; d < t.dims(); ++d) {
        CHECK(d == along || t.shape_[static_cast<size_t>(d)] == shape[static_cast<size_t>(d)])
            << "All SparseTensors' shapes must match except on the concat dim.";
      }
      t.ForEach<T>([&](std::vector<int64> ix, const T& value) {
        ix[static_cast<size_t>(along)] += shape[static_cast<size_t>(along)];
        indices.push_back(std::move(ix));
        values.push_back(value);
      });
      shape[static_cast<size_t>(along)] += t.shape_[static_cast<size_t>(along)];
    }
    return Of<T>(indices, values, shape, same_order ? first.order_ : ShapeArray(shape.size(), -1));
  }
  // In parts of a dimension; the first ones are longer by one where they cannot be equal.
  template <class T>
  static Status Split(const SparseTensor& tensor, int split_dim, int num_split, std::vector<SparseTensor>* result) {
    if (split_dim < 0 || split_dim >= tensor.dims())
      return errors::InvalidArgument("num_split dim out of bounds: ", split_dim, " of ", tensor.dims(), " dimensions");
    const int64 size = tensor.shape_[static_cast<size_t>(split_dim)];
    if (num_split < 1) return errors::InvalidArgument("num_split must be at least 1, got ", num_split);
    if (num_split > size)
      return errors::InvalidArgument("Split dim ", split_dim, " size ", size, " must be at least the number of splits ", num_split);
    result->clear();
    int64 begin = 0;
    for (int i = 0; i < num_split; ++i) {
      const int64 part = size / num_split + (i < size % num_split ? 1 : 0);
      std::vector<int64> start(tensor.shape_.size(), 0), sizes(tensor.shape_.begin(), tensor.shape_.end());
      start[static_cast<size_t>(split_dim)] = begin;
      sizes[static_cast<size_t>(split_dim)] = part;
      StatusOr<SparseTensor> made = Slice<T>(tensor, start, sizes);
      TF_RETURN_IF_ERROR(made.status());
      result->push_back(*std::move(made));
      begin += part;
    }
    return OkStatus();
  }
  // The entries from `start` on, `size` many in each dimension; the shape ends where the tensor's does.
  template <class T>
  static StatusOr<SparseTensor> Slice(const SparseTensor& tensor, gtl::ArraySlice<int64> start, gtl::ArraySlice<int64> size) {
    const auto rank = static_cast<size_t>(tensor.dims());
    if (start.size() != rank || size.size() != rank)
      return errors::InvalidArgument("start and size have one number for each of ", rank, " dimensions");
    ShapeArray shape(rank);
    for (size_t d = 0; d < rank; ++d) shape[d] = std::max<int64>(0, std::min(size[d], tensor.shape_[d] - start[d]));
    std::vector<std::vector<int64>> indices;
    std::vector<T> values;
    tensor.ForEach<T>([&](std::vector<int64> ix, const T& value) {
      for (size_t d = 0; d < rank; ++d) {
        if (ix[d] < start[d] || ix[d] >= start[d] + size[d]) return;
        ix[d] -= start[d];
      }
      indices.push_back(std::move(ix));
      values.push_back(value);
    });
    return Of<T>(indices, values, shape, ShapeArray(rank, -1));
  }

 private:
  bool Before(const int64* a, const int64* b) const {
    for (const int64 d : order_) {
      if (a[d] != b[d]) return a[d] < b[d];
    }
    return false;
  }
  template <class T>
  static Tensor Copied(const Tensor& t) {
    Tensor copy(t.dtype(), t.shape());
    std::copy(t.flat<T>().data(), t.flat<T>().data() + t.NumElements(), copy.flat<T>().data());
    return copy;
  }
  template <class T, class F>
  void ForEach(F f) const {
    const auto ix = ix_.matrix<int64>();
    const auto vals = vals_.vec<T>();
    for (int64 n = 0; n < ix_.dim_size(0); ++n) {
      std::vector<int64> index;
      for (int d = 0; d < dims(); ++d) index.push_back(ix(n, d));
      f(std::move(index), vals(n));
    }
  }
  template <class T>
  static SparseTensor Of(const std::vector<std::vector<int64>>& indices, const std::vector<T>& values, const ShapeArray& shape,
                         const ShapeArray& order) {
    const auto n = static_cast<int64>(values.size()), rank = static_cast<int64>(shape.size());
    Tensor ix(DT_INT64, TensorShape({n, rank})), vals(DataTypeToEnum<T>::value, TensorShape({n}));
    for (int64 i = 0; i < n; ++i) {
      for (int64 d = 0; d < rank; ++d) ix.matrix<int64>()(i, d) = indices[static_cast<size_t>(i)][static_cast<size_t>(d)];
      vals.vec<T>()(i) = values[static_cast<size_t>(i)];
    }
    return SparseTensor(std::move(ix), std::move(vals), VarDimArray(shape), VarDimArray(order));
  }
  Tensor ix_, vals_;
  ShapeArray shape_, order_;
};

}  // namespace sparse
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_SPARSE_SPARSE_TENSOR_H_

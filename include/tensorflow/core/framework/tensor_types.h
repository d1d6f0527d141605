// SPDX-License-Identifier: Apache-2.0
//
// TTypes<T, N>: what Tensor::flat, matrix, tensor ... give. With Eigen on the include path they are Eigen's TensorMaps; without it small views of
// ours, with the functions of those that need no expressions: (i, j), data(), size(), dimension(i), setZero(), setConstant(x), assignment.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_TYPES_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_TYPES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

#include "tensorflow/core/framework/numeric_types.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/tstring.h"

namespace tensorflow {

namespace internal {
// Sources for the first versions of TensorFlow 2 name the elements of string tensors std::string; views of them are of what is stored.
template <class T>
using StoredType =
    std::conditional_t<std::is_same_v<T, std::string>, tstring, std::conditional_t<std::is_same_v<T, const std::string>, const tstring, T>>;
}  // namespace internal

#ifdef WEFT_WITH_EIGEN
// Views are of aligned elements, as TensorFlow's: one of elements that are not (rows of a tensor may begin anywhere) has to be asked for as unaligned.
namespace internal {
template <class T, int NDIMS, class Index, int kAlignment>
using EigenView = Eigen::TensorMap<Eigen::Tensor<T, NDIMS, Eigen::RowMajor, Index>, kAlignment>;
template <class T, class Index, int kAlignment>
using EigenScalar = Eigen::TensorMap<Eigen::TensorFixedSize<T, Eigen::Sizes<>, Eigen::RowMajor, Index>, kAlignment>;
}  // namespace internal
template <class T, int NDIMS = 1, class IndexType = Eigen::DenseIndex>
struct TTypes {
  using Tensor = internal::EigenView<T, NDIMS, IndexType, Eigen::Aligned>;
  using ConstTensor = internal::EigenView<const T, NDIMS, IndexType, Eigen::Aligned>;
  using UnalignedTensor = internal::EigenView<T, NDIMS, IndexType, Eigen::Unaligned>;
  using UnalignedConstTensor = internal::EigenView<const T, NDIMS, IndexType, Eigen::Unaligned>;
  using Tensor32Bit = internal::EigenView<T, NDIMS, int, Eigen::Aligned>;
  using Scalar = internal::EigenScalar<T, IndexType, Eigen::Aligned>;
  using ConstScalar = internal::EigenScalar<const T, IndexType, Eigen::Aligned>;
  using UnalignedScalar = internal::EigenScalar<T, IndexType, Eigen::Unaligned>;
  using UnalignedConstScalar = internal::EigenScalar<const T, IndexType, Eigen::Unaligned>;
  using Flat = internal::EigenView<T, 1, IndexType, Eigen::Aligned>;
  using ConstFlat = internal::EigenView<const T, 1, IndexType, Eigen::Aligned>;
  using Vec = Flat;
  using ConstVec = ConstFlat;
  using Matrix = internal::EigenView<T, 2, IndexType, Eigen::Aligned>;
  using ConstMatrix = internal::EigenView<const T, 2, IndexType, Eigen::Aligned>;
  using UnalignedFlat = internal::EigenView<T, 1, IndexType, Eigen::Unaligned>;
  using UnalignedConstFlat = internal::EigenView<const T, 1, IndexType, Eigen::Unaligned>;
  using UnalignedVec = UnalignedFlat;
  using UnalignedConstVec = UnalignedConstFlat;
  using UnalignedMatrix = internal::EigenView<T, 2, IndexType, Eigen::Unaligned>;
  using UnalignedConstMatrix = internal::EigenView<const T, 2, IndexType, Eigen::Unaligned>;
};
// The same view with indices of 32 bits.
template <class View>
bool SafeFor32BitIndexing(const View& in) {
  return in.size() <= std::numeric_limits<int>::max();
}
template <class View>
auto To32Bit(View in) {
  using E = typename View::Scalar;
  using Element = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(in.data())>>, const E, E>;
  Eigen::DSizes<int, View::NumDimensions> dims;
  for (int i = 0; i < View::NumDimensions; ++i) dims[i] = static_cast<int>(in.dimension(i));
  return internal::EigenView<Element, View::NumDimensions, int, Eigen::Aligned>(in.data(), dims);
}
namespace internal {
template <class View>
struct NeedsAlignment : std::false_type {};
template <class Of>
struct NeedsAlignment<Eigen::TensorMap<Of, Eigen::Aligned>> : std::true_type {};
#if EIGEN_MAX_ALIGN_BYTES > 0
inline constexpr size_t kViewAlignment = EIGEN_MAX_ALIGN_BYTES;
#else
inline constexpr size_t kViewAlignment = 1;
#endif
}  // namespace internal
template <class View, class T, size_t N>
View MakeView(T* data, const std::array<ptrdiff_t, N>& dims) {
  if constexpr (N == 0) {
    return View(data);
  } else {
    Eigen::array<typename View::Index, N> sizes{};
    std::copy(dims.begin(), dims.end(), sizes.begin());
    return View(data, sizes);
  }
}
#else
namespace internal {
template <class View>
struct NeedsAlignment : std::false_type {};
inline constexpr size_t kViewAlignment = 1;
}  // namespace internal
// Elements in row-major order, N dimensions. Copying a view copies no elements, assigning to one does.
template <class T, int N, class Index = ptrdiff_t>
class TensorView {
 public:
  using Scalar = T;
  using Dimensions = std::array<Index, static_cast<size_t>(N)>;
  static constexpr int NumDimensions = N;
  TensorView(T* data, const Dimensions& dims) : data_(data), dims_(dims) {}
  TensorView(const TensorView&) = default;
  TensorView& operator=(const TensorView& o) { return AssignFrom(o.data(), o.dimensions()); }
  template <class U>
  TensorView& operator=(const TensorView<U, N, Index>& o) {
    return AssignFrom(o.data(), o.dimensions());
  }
  operator TensorView<const T, N, Index>() const { return {data_, dims_}; }  // NOLINT

  T* data() const { return data_; }
  Index size() const {
    Index n = 1;
    for (Index d : dims_) n *= d;
    return n;
  }
  Index dimension(size_t i) const { return dims_[i]; }
  const Dimensions& dimensions() const { return dims_; }
  int rank() const { return N; }

  template <class... I>
  T& operator()(I... index) const {
    static_assert(sizeof...(I) == static_cast<size_t>(N), "one index for each dimension");
    Index at = 0;
    size_t i = 0;
    ((at = at * dims_[i++] + static_cast<Index>(index)), ...);
    return data_[at];
  }
  T& operator()(const Dimensions& index) const {
    Index at = 0;
    for (size_t i = 0; i < dims_.size(); ++i) at = at * dims_[i] + index[i];
    return data_[at];
  }
  template <int M = N, class = std::enable_if_t<M == 1>>
  T& operator[](Index i) const {
    return data_[i];
  }

  TensorView& setConstant(const T& value) {
    std::fill_n(data_, size(), value);
    return *this;
  }
  TensorView& setZero() { return setConstant(T(0)); }

 private:
  template <class U>
  TensorView& AssignFrom(const U* from, const Dimensions& dims) {
    CHECK(dims == dims_) << "assignment of a view of other dimensions";
    std::copy_n(from, size(), data_);
    return *this;
  }
  T* data_;
  Dimensions dims_;
};

template <class T, int NDIMS = 1, class IndexType = ptrdiff_t>
struct TTypes {
  using Tensor = TensorView<T, NDIMS, IndexType>;
  using ConstTensor = TensorView<const T, NDIMS, IndexType>;
  using UnalignedTensor = Tensor;
  using UnalignedConstTensor = ConstTensor;
  using Scalar = TensorView<T, 0, IndexType>;
  using ConstScalar = TensorView<const T, 0, IndexType>;
  using Flat = TensorView<T, 1, IndexType>;
  using ConstFlat = TensorView<const T, 1, IndexType>;
  using Vec = Flat;
  using ConstVec = ConstFlat;
  using Matrix = TensorView<T, 2, IndexType>;
  using ConstMatrix = TensorView<const T, 2, IndexType>;
  using UnalignedFlat = Flat;
  using UnalignedConstFlat = ConstFlat;
  using UnalignedVec = Vec;
  using UnalignedConstVec = ConstVec;
  using UnalignedMatrix = Matrix;
  using UnalignedConstMatrix = ConstMatrix;
};
template <class View, class T, size_t N>
View MakeView(T* data, const std::array<ptrdiff_t, N>& dims) {
  typename View::Dimensions sizes{};
  std::copy(dims.begin(), dims.end(), sizes.begin());
  return View(data, sizes);
}
#endif
template <int NDIMS, class IndexType>
struct TTypes<std::string, NDIMS, IndexType> : TTypes<tstring, NDIMS, IndexType> {};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_TYPES_H_

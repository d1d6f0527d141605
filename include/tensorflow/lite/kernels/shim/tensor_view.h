// SPDX-License-Identifier: Apache-2.0
//
// TensorView: the elements of a tensor, which stays with its owner. A view asked for another type or rank than the tensor has fails as a CHECK does.
#ifndef TENSORFLOW_LITE_KERNELS_SHIM_TENSOR_VIEW_H_
#define TENSORFLOW_LITE_KERNELS_SHIM_TENSOR_VIEW_H_

#include <array>
#include <cstddef>
#include <new>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/logging.h"

namespace tflite {
namespace shim {

class TensorView {
 public:
  template <class T, int N>
  class Tensor {
   public:
    explicit Tensor(const TensorView* view) : data_(view->Data<T>()) {
      CHECK_EQ(static_cast<size_t>(N), view->Shape().size()) << " dimensions";
      for (size_t i = 0; i < dims_.size(); ++i) dims_[i] = view->Shape()[i];
    }
    template <class... I>
    T& operator()(I... index) {
      return data_[At(index...)];
    }
    template <class... I>
    const T& operator()(I... index) const {
      return data_[At(index...)];
    }
    T* Ptr() { return data_.data(); }
    const T* Ptr() const { return data_.data(); }
    // A negative i counts from the end.
    int Dim(int i) const { return dims_.at(static_cast<size_t>(i < 0 ? i + N : i)); }
    constexpr size_t Rank() const { return N; }

   private:
    template <class... I>
    size_t At(I... index) const {
      static_assert(sizeof...(I) == N, "one index for each dimension");
      size_t at = 0, i = 0;
      ((at = at * static_cast<size_t>(dims_[i++]) + static_cast<size_t>(index)), ...);
      return at;
    }
    absl::Span<T> data_;
    std::array<int, N> dims_{};
  };

  virtual ~TensorView() = default;
  explicit TensorView(const ::tensorflow::Tensor& t) : type_(t.dtype()), data_(t.data()), size_(static_cast<size_t>(t.NumElements())) {
    for (int i = 0; i < t.dims(); ++i) shape_.push_back(static_cast<int>(t.dim_size(i)));
  }
  template <class W>
  static absl::StatusOr<TensorView> New(W* tensor) {
    return TensorView(*tensor);
  }

  absl::Span<int> Shape() { return absl::Span<int>(shape_.data(), shape_.size()); }
  absl::Span<const int> Shape() const { return absl::Span<const int>(shape_.data(), shape_.size()); }
  template <class T>
  absl::Span<T> Data() const {
    CHECK_EQ(type_, ::tensorflow::DataTypeToEnum<T>::value) << " types of elements";
    return absl::Span<T>(static_cast<T*>(data_), size_);
  }
  // The same, for those who bind it to a name.
  template <class T>
  absl::Span<T>& Data() {
    static_assert(sizeof(absl::Span<T>) == sizeof span_);
    return *new (span_) absl::Span<T>(static_cast<const TensorView*>(this)->Data<T>());
  }
  template <class T, int N>
  Tensor<T, N> As() {
    return Tensor<T, N>(this);
  }
  template <class T, int N>
  const Tensor<T, N> As() const {
    return Tensor<T, N>(this);
  }
  template <class T>
  T& AsScalar() {
    return Scalar<T>();
  }
  template <class T>
  const T& AsScalar() const {
    return Scalar<T>();
  }

 private:
  template <class T>
  T& Scalar() const {
    CHECK(shape_.empty()) << "Tensor is not a scalar";
    return Data<T>()[0];
  }
  ::tensorflow::DataType type_;
  alignas(absl::Span<char>) unsigned char span_[sizeof(absl::Span<char>)] = {};
  void* data_;
  size_t size_;
  std::vector<int> shape_;
};
using TfTensorView = TensorView;

}  // namespace shim
}  // namespace tflite

#endif  // TENSORFLOW_LITE_KERNELS_SHIM_TENSOR_VIEW_H_

// SPDX-License-Identifier: Apache-2.0
//
// Shape: dimensions as far as they are known, -1 for one that is not, without a value where the rank is not.
#ifndef TENSORFLOW_LITE_KERNELS_SHIM_SHAPE_H_
#define TENSORFLOW_LITE_KERNELS_SHIM_SHAPE_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tflite {
namespace shim {

class Shape {
 public:
  using ValueType = std::vector<int>;
  static constexpr int kUnknownDim = -1;
  static constexpr int kUnknownRank = -1;

  Shape() = default;
  Shape(const std::initializer_list<int>& dims) : dims_(dims), known_(true) {}  // NOLINT
  explicit Shape(ValueType dims) : dims_(std::move(dims)), known_(true) {}
  explicit Shape(absl::Span<const int> dims) : Shape(dims.begin(), dims.end()) {}
  explicit Shape(absl::Span<int> dims) : Shape(dims.begin(), dims.end()) {}
  Shape(size_t rank, int dim) : dims_(rank, dim), known_(true) {}
  template <class Iterator, class = decltype(*std::declval<Iterator>())>
  Shape(Iterator begin, Iterator end) : dims_(begin, end), known_(true) {}

  bool has_value() const { return known_; }
  ValueType& value() { return dims_; }
  const ValueType& value() const { return dims_; }
  ValueType* operator->() { return &dims_; }
  const ValueType* operator->() const { return &dims_; }
  ValueType& operator*() { return dims_; }
  const ValueType& operator*() const { return dims_; }

  int Rank() const { return known_ ? static_cast<int>(dims_.size()) : kUnknownRank; }
  // Unknown where there is no such dimension.
  int Dim(int i) const { return known_ && i >= 0 && i < Rank() ? dims_[static_cast<size_t>(i)] : kUnknownDim; }
  bool FullyDefined() const {
    for (const int d : dims_) {
      if (d == kUnknownDim) return false;
    }
    return known_;
  }
  std::string ToString() const {
    if (!known_) return "?";
    std::string out = "[";
    for (const int d : dims_) out += (out.size() > 1 ? " " : "") + (d == kUnknownDim ? "?" : std::to_string(d));
    return out + "]";
  }
  static int AddDims(int a, int b) { return a == kUnknownDim || b == kUnknownDim ? kUnknownDim : a + b; }

  // Whether both are the same for sure; Compatible: whether they may be.
  bool operator==(const Shape& o) const { return FullyDefined() && o.FullyDefined() && dims_ == o.dims_; }
  bool operator!=(const Shape& o) const { return !(*this == o); }
  bool Compatible(const Shape& o) const {
    if (!known_ || !o.known_) return true;
    if (dims_.size() != o.dims_.size()) return false;
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (dims_[i] != o.dims_[i] && dims_[i] != kUnknownDim && o.dims_[i] != kUnknownDim) return false;
    }
    return true;
  }

 private:
  ValueType dims_;
  bool known_ = false;
};
using ShapeOr = absl::StatusOr<Shape>;

}  // namespace shim
}  // namespace tflite

#endif  // TENSORFLOW_LITE_KERNELS_SHIM_SHAPE_H_

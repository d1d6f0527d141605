// SPDX-License-Identifier: Apache-2.0
//
// TensorSlice: a box inside a tensor, "0,2:-": rows 0 and 1, all columns.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_SLICE_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_SLICE_H_

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/numbers.h"

namespace tensorflow {

class TensorSlice {
 public:
  TensorSlice() = default;
  explicit TensorSlice(int dims) { SetFullSlice(dims); }
  // Starts and lengths; a length of -1 is all of the dimension.
  explicit TensorSlice(std::initializer_list<std::pair<int64, int64>> extents) : extents_(extents) {}

  static Status Parse(const std::string& text, TensorSlice* out) {
    out->Clear();
    for (size_t at = 0; at <= text.size() && !text.empty();) {
      const size_t end = std::min(text.find(':', at), text.size());
      const std::string part = text.substr(at, end - at);
      const size_t comma = part.find(',');
      int64 start = 0, length = kFull;
      if (part != "-") {
        if (comma == std::string::npos || !strings::safe_strto64(part.substr(0, comma), &start) ||
            !strings::safe_strto64(part.substr(comma + 1), &length))
          return errors::InvalidArgument("Expected a pair of numbers or '-' but got '", part, "': string = ", text);
        if (start < 0 || length <= 0)
          return errors::InvalidArgument("Expected non-negative start and positive length but got start = ", start, ", length = ", length,
                                         ": string = ", text);
      }
      out->extents_.emplace_back(start, length);
      at = end + 1;
    }
    return OkStatus();
  }
  static TensorSlice ParseOrDie(const std::string& text) {
    TensorSlice out;
    CHECK(Parse(text, &out).ok()) << "Could not parse TensorSlice";
    return out;
  }
  std::string DebugString() const {
    std::string out;
    for (int d = 0; d < dims(); ++d) out += (d ? ":" : "") + (IsFullAt(d) ? std::string("-") : strings::StrCat(start(d), ",", length(d)));
    return out;
  }

  void Clear() { extents_.clear(); }
  void SetFullSlice(int dims) { extents_.assign(static_cast<size_t>(dims), {0, kFull}); }
  void Extend(int dims) { extents_.resize(std::max(extents_.size(), static_cast<size_t>(dims)), {0, kFull}); }
  int dims() const { return static_cast<int>(extents_.size()); }
  int64 start(int d) const { return extents_[static_cast<size_t>(d)].first; }
  int64 length(int d) const { return extents_[static_cast<size_t>(d)].second; }
  int64 end(int d) const { return start(d) + length(d); }
  void set_start(int d, int64 start) { extents_[static_cast<size_t>(d)].first = start; }
  void set_length(int d, int64 length) { extents_[static_cast<size_t>(d)].second = length; }
  bool IsFullAt(int d) const { return length(d) == kFull && start(d) == 0; }
  bool IsFull() const {
    for (int d = 0; d < dims(); ++d) {
      if (!IsFullAt(d)) return false;
    }
    return true;
  }
  // What both have in common; false where that is nothing.
  bool Intersect(const TensorSlice& other, TensorSlice* result) const {
    if (result) result->Clear();
    if (dims() != other.dims()) return false;
    TensorSlice both(dims());
    for (int d = 0; d < dims(); ++d) {
      if (IsFullAt(d) || other.IsFullAt(d)) {
        both.extents_[static_cast<size_t>(d)] = (IsFullAt(d) ? other : *this).extents_[static_cast<size_t>(d)];
        continue;
      }
      const int64 from = std::max(start(d), other.start(d)), to = std::min(end(d), other.end(d));
      if (to <= from) return false;
      both.extents_[static_cast<size_t>(d)] = {from, to - from};
    }
    if (result) *result = both;
    return true;
  }
  bool Overlaps(const TensorSlice& other) const { return Intersect(other, nullptr); }
  bool operator==(const TensorSlice& o) const { return extents_ == o.extents_; }
  bool operator!=(const TensorSlice& o) const { return !(*this == o); }
  // The shape of this part of a tensor of that shape.
  Status SliceTensorShape(const TensorShape& shape, TensorShape* result) const {
    result->Clear();
    if (shape.dims() != dims()) return errors::Internal("Mismatching ranks: shape = ", shape.DebugString(), ", slice = ", DebugString());
    for (int d = 0; d < dims(); ++d) {
      if (!IsFullAt(d) && end(d) > shape.dim_size(d))
        return errors::Internal("Extent in dimension ", d, " out of bounds: shape = ", shape.DebugString(), ", slice = ", DebugString());
      result->AddDim(IsFullAt(d) ? shape.dim_size(d) : length(d));
    }
    return OkStatus();
  }

 private:
  static constexpr int64 kFull = -1;
  std::vector<std::pair<int64, int64>> extents_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_SLICE_H_

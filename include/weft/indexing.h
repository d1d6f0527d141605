// What stands in the brackets of a tensor or a variable, with the meaning that Python's brackets have in TensorFlow and numpy.
//
//   Tensor row = x[0], last = x[-1];
//   Tensor same = x[{0, _}];                            // Python: x[0, :]
//   Tensor some = x[{slice(1, 5, 2), ellipsis}];        // x[1:5:2, ...]
//   Tensor column = x[{slice(_, -1), newaxis}];         // x[:-1, tf.newaxis]
//   Tensor positive = x[x > 0.f];                       // the elements where a mask is true (boolean_mask)
//   Tensor columns = x[{_, Tensor{2, 0}}];              // columns by number (gather)
//
// Gradients flow through all of them. An index that is out of range, or of a wrong type, throws weft::Error.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/tensor.h"

namespace weft {

// In brackets all of a dimension (Python's `:`); as an end of a slice: open.
struct All {};
inline constexpr All _{};
// As many whole dimensions as are left.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};
// A new dimension of size 1.
struct NewAxis {};
inline constexpr NewAxis newaxis{};

// An end or the step of a slice: a number (negative ones count from the end), a scalar tensor, or `_`.
class Bound {
 public:
  Bound(All = {}) {}  // NOLINT: implicit on purpose
  template <std::integral T>
    requires(!std::is_same_v<T, bool>)
  Bound(T value) : open_(false), value_(int64_t(value)) {}                // NOLINT
  Bound(Tensor value) : open_(false), tensor_(std::move(value)) {}        // NOLINT
  // What it is: open, a number, or a tensor.
  bool open() const { return open_; }
  int64_t value() const { return value_; }
  const Tensor& tensor() const { return tensor_; }  // no value where it is a number

 private:
  bool open_ = true;
  int64_t value_ = 0;
  Tensor tensor_;
};

// start:stop:step.
struct Slice {
  Bound start, stop, step;
};
// Python's start:stop:step, where `_` leaves one out: slice(1, _), slice(_, -1), slice(_, _, -1).
inline Slice slice(Bound start, Bound stop, Bound step = _) { return {std::move(start), std::move(stop), std::move(step)}; }

// One item in the brackets.
class Index {
 public:
  enum class Kind { integer, slice, ellipsis, newaxis, tensor };
  template <std::integral T>
    requires(!std::is_same_v<T, bool>)
  Index(T i) : kind_(Kind::integer), slice_{i, _, _} {}                                // NOLINT: implicit on purpose
  Index(All) {}                                                                        // NOLINT
  Index(Slice s) : slice_(std::move(s)) {}                                             // NOLINT
  Index(Ellipsis) : kind_(Kind::ellipsis) {}                                           // NOLINT
  Index(NewAxis) : kind_(Kind::newaxis) {}                                             // NOLINT
  Index(Tensor t) : kind_(Kind::tensor), slice_{std::move(t), _, _} {}                 // NOLINT: integers, or a mask
  // Which kind of item it is, and what it holds.
  Kind kind() const { return kind_; }
  const Slice& slice() const { return slice_; }
  int64_t integer() const { return slice_.start.value(); }
  const Tensor& tensor() const { return slice_.start.tensor(); }

 private:
  Kind kind_ = Kind::slice;
  Slice slice_;
};

// Steps along the first dimension: `for (Tensor row : x)`.
class TensorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Tensor;
  using difference_type = int64_t;
  using pointer = void;
  using reference = Tensor;
  TensorIterator() = default;
  TensorIterator(Tensor of, int64_t at) : of_(std::move(of)), at_(at) {}
  Tensor operator*() const { return of_[at_]; }
  TensorIterator& operator++() {
    ++at_;
    return *this;
  }
  TensorIterator operator++(int) {
    TensorIterator before = *this;
    ++at_;
    return before;
  }
  bool operator==(const TensorIterator& o) const { return at_ == o.at_; }

 private:
  Tensor of_;
  int64_t at_ = 0;
};

inline Tensor Tensor::operator[](std::initializer_list<Index> items) const { return index(std::vector<Index>(items)); }
inline Tensor Tensor::operator[](const Index& item) const { return index({item}); }

}  // namespace weft

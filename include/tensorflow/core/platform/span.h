// SPDX-License-Identifier: Apache-2.0
//
// gtl::ArraySlice, gtl::MutableArraySlice and gtl::InlinedVector; absl::Span (stringpiece.h).
#ifndef TENSORFLOW_CORE_PLATFORM_SPAN_H_
#define TENSORFLOW_CORE_PLATFORM_SPAN_H_

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "tensorflow/core/platform/stringpiece.h"

namespace tensorflow {
namespace gtl {

// Elements that somebody else keeps, in a row.
template <class T>
class Span {
 public:
  using value_type = std::remove_cv_t<T>;
  using iterator = T*;
  using const_iterator = const T*;
  static constexpr size_t npos = static_cast<size_t>(-1);
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}  // NOLINT
  template <class C,
            class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C&>().data()), T*> && !std::is_same_v<std::decay_t<C>, Span>>>
  constexpr Span(C&& container) : data_(container.data()), size_(container.size()) {}  // NOLINT
  template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<value_type> list) {  // NOLINT: for arguments of calls
    data_ = list.begin();
    size_ = list.size();
  }

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr size_t length() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T& at(size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr Span subspan(size_t at, size_t n = npos) const { return Span(data_ + at, n < size_ - at ? n : size_ - at); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
using ArraySlice = Span<const T>;
template <class T>
using MutableArraySlice = Span<T>;
template <class T, size_t N = 4>
using InlinedVector = std::vector<T>;

}  // namespace gtl
}  // namespace tensorflow

namespace tensorflow {
namespace absl_forms {
using gtl::Span;
}
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_SPAN_H_

// SPDX-License-Identifier: Apache-2.0
//
// gtl::ArraySlice, gtl::MutableArraySlice and gtl::InlinedVector; absl::Span (stringpiece.h).
#ifndef TENSORFLOW_CORE_PLATFORM_SPAN_H_
#define TENSORFLOW_CORE_PLATFORM_SPAN_H_

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/stringpiece.h"

namespace tensorflow {
namespace gtl {

// Elements that somebody else keeps, in a row.
template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using pointer = T*;
  using const_pointer = const T*;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<T*>;
  using const_reverse_iterator = std::reverse_iterator<const T*>;
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
  constexpr const T* cbegin() const { return data_; }
  constexpr const T* cend() const { return data_ + size_; }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr void remove_prefix(size_t n) { data_ += n, size_ -= n; }
  constexpr void remove_suffix(size_t n) { size_ -= n; }
  constexpr Span first(size_t n) const { return Span(data_, n); }
  constexpr Span last(size_t n) const { return Span(data_ + (size_ - n), n); }
  constexpr Span subspan(size_t at, size_t n = npos) const { return Span(data_ + at, n < size_ - at ? n : size_ - at); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};
namespace internal {
template <class A, class B>
bool SameElements(Span<A> a, Span<B> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}
}  // namespace internal
template <class A, class B, class = std::enable_if_t<std::is_same_v<std::remove_const_t<A>, std::remove_const_t<B>>>>
bool operator==(Span<A> a, Span<B> b) {
  return internal::SameElements(a, b);
}
template <class A, class B, class = std::enable_if_t<std::is_same_v<std::remove_const_t<A>, std::remove_const_t<B>>>>
bool operator!=(Span<A> a, Span<B> b) {
  return !internal::SameElements(a, b);
}
template <class T, class C, class = std::enable_if_t<std::is_same_v<typename C::value_type, std::remove_const_t<T>> && !std::is_same_v<C, Span<T>>>,
          class = decltype(Span<const T>(std::declval<const C&>()))>
bool operator==(Span<T> a, const C& b) {
  return internal::SameElements(a, Span<const T>(b));
}

template <class T>
using ArraySlice = Span<const T>;
template <class T>
using MutableArraySlice = Span<T>;
namespace internal {
// A std::vector of bool has no row of bools: this has, as those of all other types.
class BoolVector {
 public:
  using value_type = bool;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = bool&;
  using const_reference = const bool&;
  using iterator = bool*;
  using const_iterator = const bool*;
  BoolVector() = default;
  explicit BoolVector(size_t n, bool value = false) : bytes_(n, value) {}
  BoolVector(std::initializer_list<bool> list) : bytes_(list.begin(), list.end()) {}
  template <class I, class = decltype(*std::declval<I>())>
  BoolVector(I begin, I end) : bytes_(begin, end) {}
  bool* data() { return reinterpret_cast<bool*>(bytes_.data()); }
  const bool* data() const { return reinterpret_cast<const bool*>(bytes_.data()); }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  bool& operator[](size_t i) { return data()[i]; }
  const bool& operator[](size_t i) const { return data()[i]; }
  bool& at(size_t i) { return bytes_.at(i), data()[i]; }
  const bool& at(size_t i) const { return bytes_.at(i), data()[i]; }
  bool& front() { return data()[0]; }
  bool& back() { return data()[size() - 1]; }
  const bool& back() const { return data()[size() - 1]; }
  bool* begin() { return data(); }
  bool* end() { return data() + size(); }
  const bool* begin() const { return data(); }
  const bool* end() const { return data() + size(); }
  void push_back(bool value) { bytes_.push_back(value); }
  bool& emplace_back(bool value = false) { return bytes_.push_back(value), back(); }
  void pop_back() { bytes_.pop_back(); }
  void resize(size_t n, bool value = false) { bytes_.resize(n, value); }
  void reserve(size_t n) { bytes_.reserve(n); }
  void assign(size_t n, bool value) { bytes_.assign(n, value); }
  template <class I, class = decltype(*std::declval<I>())>
  void assign(I begin, I end) {
    bytes_.assign(begin, end);
  }
  void clear() { bytes_.clear(); }
  friend bool operator==(const BoolVector& a, const BoolVector& b) { return a.bytes_ == b.bytes_; }
  friend bool operator!=(const BoolVector& a, const BoolVector& b) { return a.bytes_ != b.bytes_; }

 private:
  static_assert(sizeof(bool) == 1, "a bool is a byte");
  std::vector<unsigned char> bytes_;
};
}  // namespace internal
// The standard library's, so that its functions take it: there is no room inside.
template <class T, size_t N = 4>
using InlinedVector = std::conditional_t<std::is_same_v<T, bool>, internal::BoolVector, std::vector<T>>;

}  // namespace gtl
}  // namespace tensorflow

namespace tensorflow {
namespace absl_forms {
using gtl::Span;
}
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_SPAN_H_

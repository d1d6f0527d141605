// SPDX-License-Identifier: Apache-2.0
//
// tstring: an element of a DT_STRING tensor, in place.
#ifndef TENSORFLOW_CORE_PLATFORM_TSTRING_H_
#define TENSORFLOW_CORE_PLATFORM_TSTRING_H_

#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensorflow/core/platform/ctstring.h"
#include "tensorflow/core/platform/stringpiece.h"

namespace tensorflow {

class tstring {
 public:
  enum Type { SMALL = TF_TSTR_SMALL, LARGE = TF_TSTR_LARGE, OFFSET = TF_TSTR_OFFSET, VIEW = TF_TSTR_VIEW };
  // A string whose bytes belong to somebody else, who keeps them.
  class view {
   public:
    explicit view(const char* s) : view(s, std::char_traits<char>::length(s)) {}
    view(const char* data, size_t size) : data_(data), size_(size) {}
    const char* data() const { return data_; }
    size_t size() const { return size_; }

   private:
    const char* data_;
    size_t size_;
  };
  using const_iterator = const char*;
  using iterator = char*;
  static constexpr size_t npos = std::string_view::npos;

  tstring() { TF_TString_Init(&s_); }
  tstring(const char* s) : tstring(std::string_view(s)) {}         // NOLINT: implicit, as std::string
  tstring(const std::string& s) : tstring(std::string_view(s)) {}  // NOLINT
  tstring(std::string_view s) : tstring() { assign(s); }           // NOLINT
  template <class T, std::enable_if_t<internal::IsForeignView<T>::value, int> = 0>
  tstring(const T& s) : tstring(s.data(), s.size()) {}  // NOLINT
  tstring(const char* s, size_t n) : tstring(std::string_view(s, n)) {}
  tstring(size_t n, char c) : tstring() { TF_TString_Resize(&s_, n, c); }
  explicit tstring(const view& v) : tstring() { TF_TString_AssignView(&s_, v.data(), v.size()); }
  tstring(const tstring& o) : tstring() { TF_TString_Assign(&s_, &o.s_); }
  tstring(tstring&& o) noexcept : tstring() { TF_TString_Move(&s_, &o.s_); }
  ~tstring() { TF_TString_Dealloc(&s_); }

  tstring& operator=(const tstring& o) {
    if (this != &o) TF_TString_Assign(&s_, &o.s_);
    return *this;
  }
  tstring& operator=(tstring&& o) noexcept {
    if (this != &o) TF_TString_Move(&s_, &o.s_);
    return *this;
  }
  tstring& operator=(std::string_view s) { return assign(s); }
  tstring& operator=(const std::string& s) { return assign(std::string_view(s)); }
  tstring& operator=(const char* s) { return assign(std::string_view(s)); }
  template <class T, std::enable_if_t<internal::IsForeignView<T>::value, int> = 0>
  tstring& operator=(const T& s) {
    return assign(std::string_view(s.data(), s.size()));
  }
  tstring& operator=(char c) { return assign(std::string_view(&c, 1)); }
  tstring& operator=(const view& v) { return assign_as_view(v.data(), v.size()); }

  Type type() const { return static_cast<Type>(TF_TString_GetType(&s_)); }
  size_t size() const { return TF_TString_GetSize(&s_); }
  size_t length() const { return size(); }
  size_t capacity() const { return TF_TString_GetCapacity(&s_); }
  bool empty() const { return size() == 0; }
  const char* data() const { return TF_TString_GetDataPointer(&s_); }
  const char* c_str() const { return data(); }
  char* mdata() { return TF_TString_GetMutableDataPointer(&s_); }
  char* data() { return mdata(); }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size(); }
  iterator begin() { return mdata(); }
  iterator end() { return mdata() + size(); }
  const char& operator[](size_t i) const { return data()[i]; }
  char& operator[](size_t i) { return mdata()[i]; }
  char back() const { return data()[size() - 1]; }
  char front() const { return data()[0]; }

  operator std::string() const { return std::string(data(), size()); }      // NOLINT
  operator std::string_view() const { return std::string_view(data(), size()); }  // NOLINT

  // Views of other libraries, both ways.
  template <class T, class = std::enable_if_t<internal::IsForeignView<T>::value>>
  operator T() const {  // NOLINT
    return T(data(), size());
  }

  void resize(size_t n, char c = 0) { TF_TString_Resize(&s_, n, c); }
  void resize_uninitialized(size_t n) { TF_TString_ResizeUninitialized(&s_, n); }
  void reserve(size_t n) { TF_TString_Reserve(&s_, n); }
  void clear() { resize_uninitialized(0); }
  tstring& assign(std::string_view s) {
    // A part of this string itself would move while it is copied.
    if (s.data() >= data() && s.data() <= data() + size()) return *this = tstring(std::string(s));
    TF_TString_Copy(&s_, s.data(), s.size());
    return *this;
  }
  tstring& assign(const char* s, size_t n) { return assign(std::string_view(s, n)); }
  tstring& assign_as_view(const char* s, size_t n) {
    TF_TString_AssignView(&s_, s, n);
    return *this;
  }
  tstring& assign_as_view(const std::string& s) { return assign_as_view(s.data(), s.size()); }
  tstring& assign_as_view(const tstring& s) { return assign_as_view(s.data(), s.size()); }
  tstring& append(std::string_view s) {
    const std::string copy(s);
    TF_TString_AppendN(&s_, copy.data(), copy.size());
    return *this;
  }
  tstring& append(const char* s, size_t n) { return append(std::string_view(s, n)); }
  tstring& append(size_t n, char c) {
    resize(size() + n, c);
    return *this;
  }
  tstring& operator+=(std::string_view s) { return append(s); }
  tstring& operator+=(const char* s) { return append(std::string_view(s)); }
  tstring& operator+=(char c) { return append(std::string_view(&c, 1)); }
  void push_back(char c) { append(std::string_view(&c, 1)); }
  void swap(tstring& o) noexcept {
    tstring mine(std::move(*this));
    *this = std::move(o);
    o = std::move(mine);
  }
  int compare(std::string_view s) const { return std::string_view(*this).compare(s); }

  friend bool operator==(const tstring& a, const tstring& b) { return a.compare(b) == 0; }
  friend bool operator!=(const tstring& a, const tstring& b) { return a.compare(b) != 0; }
  friend bool operator<(const tstring& a, const tstring& b) { return a.compare(b) < 0; }
  friend bool operator>(const tstring& a, const tstring& b) { return a.compare(b) > 0; }
  friend bool operator<=(const tstring& a, const tstring& b) { return a.compare(b) <= 0; }
  friend bool operator>=(const tstring& a, const tstring& b) { return a.compare(b) >= 0; }
  friend bool operator==(const tstring& a, const char* b) { return a.compare(b) == 0; }
  friend bool operator==(const char* a, const tstring& b) { return b.compare(a) == 0; }
  friend bool operator!=(const tstring& a, const char* b) { return a.compare(b) != 0; }
  friend bool operator==(const tstring& a, const std::string& b) { return a.compare(b) == 0; }
  friend bool operator==(const std::string& a, const tstring& b) { return b.compare(a) == 0; }
  friend bool operator!=(const tstring& a, const std::string& b) { return a.compare(b) != 0; }
  friend tstring operator+(const tstring& a, const tstring& b) {
    tstring sum(a);
    return std::move(sum.append(b));
  }
  friend std::ostream& operator<<(std::ostream& out, const tstring& s) { return out << std::string_view(s); }

 private:
  TF_TString s_;
};
static_assert(sizeof(tstring) == 24, "an element of a string tensor has 24 bytes");

}  // namespace tensorflow

template <>
struct std::hash<tensorflow::tstring> {
  size_t operator()(const tensorflow::tstring& s) const { return std::hash<std::string_view>()(s); }
};

#endif  // TENSORFLOW_CORE_PLATFORM_TSTRING_H_

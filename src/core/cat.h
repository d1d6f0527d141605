// String building without streams: cat(a, b, ...) joins anything printable into one std::string.
// Numbers print as TensorFlow's StrCat prints them, so error texts come out alike.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft_engine::core {

void append_int(std::string& out, long long v);
void append_uint(std::string& out, unsigned long long v);
void append_double(std::string& out, double v);  // %g with six digits, like StrCat

inline void append(std::string& out, std::string_view s) { out.append(s); }
inline void append(std::string& out, const char* s) { out.append(s ? s : "(null)"); }
inline void append(std::string& out, char c) { out.push_back(c); }
inline void append(std::string& out, bool b) { out.push_back(b ? '1' : '0'); }

template <std::integral T>
void append(std::string& out, T v) {
  if constexpr (std::is_signed_v<T>) append_int(out, v);
  else append_uint(out, v);
}
template <std::floating_point T>
void append(std::string& out, T v) {
  append_double(out, static_cast<double>(v));
}

// Anything else that knows how to print itself.
template <class T>
  requires requires(const T& t) {
    { t.to_string() } -> std::convertible_to<std::string>;
  }
void append(std::string& out, const T& t) {
  out += t.to_string();
}

template <class... Args>
std::string cat(const Args&... args) {
  std::string out;
  (append(out, args), ...);
  return out;
}

// "1,2,3"
template <class Range>
std::string join(const Range& range, std::string_view separator = ",") {
  std::string out;
  bool first = true;
  for (const auto& x : range) {
    if (!first) out.append(separator);
    first = false;
    append(out, x);
  }
  return out;
}

}  // namespace weft_engine::core

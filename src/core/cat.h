// String building without streams: cat(a, b, ...) joins anything printable into one std::string.
// Numbers print as TensorFlow's StrCat prints them, so error texts come out alike.
#pragma once

#include <concepts>
#include <cstdint>
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

// The arguments of one call as numbers and addresses, with a letter for each: a thousand places build texts, and each is a few stores and a call.
namespace detail {
template <class T>
constexpr char kind_of() {
  if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>) return 's';
  else if constexpr (std::is_same_v<T, std::string>) return 'S';
  else if constexpr (std::is_same_v<T, bool>) return 'b';
  else if constexpr (std::is_same_v<T, char>) return 'c';
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) return 'i';
  else if constexpr (std::is_integral_v<T>) return 'u';
  else return 'o';  // the address of the value, then that of the function that prints it
}
template <class T>
void print(std::string& out, const void* value) {
  append(out, *static_cast<const T*>(value));
}
template <class... Ts>  // hidden by name: g++ shows variable templates of a library whatever -fvisibility says
__attribute__((visibility("hidden"))) inline constexpr char kKinds[] = {kind_of<Ts>()..., 0};
}  // namespace detail

template <class... Ts>  // decayed
struct CatArguments {
  static_assert(sizeof(uintptr_t) == 8);
  static constexpr const char* kinds = detail::kKinds<Ts...>;
  uintptr_t words[sizeof...(Ts) + ((detail::kind_of<Ts>() == 'o') + ... + 0) + (sizeof...(Ts) == 0)];

  template <class... Args>
  [[gnu::always_inline]] explicit CatArguments(const Args&... args) {
    [[maybe_unused]] uintptr_t* w = words;
    (put<Ts>(w, args), ...);
  }

 private:
  template <class T, class Arg>
  [[gnu::always_inline]] static void put(uintptr_t*& w, const Arg& arg) {
    constexpr char kind = detail::kind_of<T>();
    if constexpr (kind == 's') *w++ = reinterpret_cast<uintptr_t>(static_cast<const char*>(arg));
    else if constexpr (kind == 'S') *w++ = reinterpret_cast<uintptr_t>(&arg);
    else if constexpr (kind != 'o') *w++ = static_cast<uintptr_t>(arg);
    else {
      *w++ = reinterpret_cast<uintptr_t>(&arg);
      *w++ = reinterpret_cast<uintptr_t>(&detail::print<T>);
    }
  }
};
std::string cat_words(const char* kinds, const uintptr_t* words);

template <class... Args>
[[gnu::always_inline]] inline std::string cat(const Args&... args) {
  const CatArguments<std::decay_t<const Args&>...> all(args...);
  return cat_words(all.kinds, all.words);
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

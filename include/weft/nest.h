// Structures of tensors taken apart and put together again: what functions and tapes take and give. A structure is a
// Tensor, a plain value (number, bool, enum, string), or a std::vector, array, pair, tuple, optional or map<string, ...>
// of structures.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/tensor.h"

namespace weft::nest {

// A structure in a row: its tensors, and everything else as text. Equal texts mean equal structures and plain values.
struct Flat {
  std::vector<Tensor> tensors;
  std::string key;
  std::vector<std::string> layout;  // lengths and names, in the order of the walk
};

// For the library itself. Where a structure is read back from.
struct Reader {
  const std::vector<Tensor>& tensors;
  const std::vector<std::string>& layout;
  size_t tensor = 0, line = 0;
  const Tensor& next() { return tensors.at(tensor++); }
  const std::string& next_line() { return layout.at(line++); }
};

// For the library itself.
template <class T>
struct Walk;

// The structure, behind what is there already or alone.
template <class T>
void flatten(const T& value, Flat& out) {
  Walk<T>::flatten(value, out);
}
template <class T>
Flat flatten(const T& value) {
  Flat out;
  Walk<T>::flatten(value, out);
  return out;
}
// The structure that was flattened, with other tensors.
template <class T>
T rebuild(Reader& in) {
  return Walk<T>::rebuild(in);
}

// For the library itself.
template <>
struct Walk<Tensor> {
  static void flatten(const Tensor& t, Flat& out) {
    out.key += 't';
    out.tensors.push_back(t);
  }
  static Tensor rebuild(Reader& in) { return in.next(); }
};

// For the library itself.
template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
struct Walk<T> {
  static void flatten(const T& v, Flat& out) {
    std::string text;
    if constexpr (std::is_enum_v<T>) {
      text = std::to_string(int64_t(v));
    } else if constexpr (std::is_floating_point_v<T>) {
      char digits[40];
      text.assign(digits, size_t(snprintf(digits, sizeof digits, "%a", double(v))));
    } else {
      text = std::to_string(v);
    }
    out.key += (std::is_same_v<T, bool> ? 'b' : std::is_floating_point_v<T> ? 'f' : 'i') + text + ';';
    out.layout.push_back(std::move(text));
  }
  static T rebuild(Reader& in) {
    const std::string& text = in.next_line();
    if constexpr (std::is_floating_point_v<T>) return T(std::stod(text));
    else if constexpr (std::is_same_v<T, uint64_t>) return std::stoull(text);
    else return T(std::stoll(text));
  }
};

// For the library itself.
template <>
struct Walk<std::string> {
  static void flatten(const std::string& v, Flat& out) {
    out.key += 's' + std::to_string(v.size()) + ':' + v;
    out.layout.push_back(v);
  }
  static std::string rebuild(Reader& in) { return in.next_line(); }
};

// For the library itself.
template <class T>
struct Walk<std::vector<T>> {
  static void flatten(const std::vector<T>& list, Flat& out) {
    out.layout.push_back(std::to_string(list.size()));
    out.key += '[' + out.layout.back();
    for (const T& x : list) Walk<T>::flatten(x, out);
    out.key += ']';
  }
  static std::vector<T> rebuild(Reader& in) {
    std::vector<T> list;
    for (size_t n = std::stoull(in.next_line()); n > 0; --n) list.push_back(Walk<T>::rebuild(in));
    return list;
  }
};

// For the library itself.
template <class T, size_t N>
struct Walk<std::array<T, N>> {
  static void flatten(const std::array<T, N>& list, Flat& out) {
    for (const T& x : list) Walk<T>::flatten(x, out);
  }
  static std::array<T, N> rebuild(Reader& in) {
    std::array<T, N> list;
    for (T& x : list) x = Walk<T>::rebuild(in);
    return list;
  }
};

// For the library itself.
template <class T>
struct Walk<std::optional<T>> {
  static void flatten(const std::optional<T>& v, Flat& out) {
    out.layout.push_back(v ? "1" : "0");
    out.key += v ? 'o' : 'n';
    if (v) Walk<T>::flatten(*v, out);
  }
  static std::optional<T> rebuild(Reader& in) {
    if (in.next_line() == "0") return {};
    return Walk<T>::rebuild(in);
  }
};

// For the library itself.
template <class T>
struct Walk<std::map<std::string, T>> {
  static void flatten(const std::map<std::string, T>& m, Flat& out) {
    out.layout.push_back(std::to_string(m.size()));
    out.key += '{';
    for (const auto& [name, x] : m) {
      Walk<std::string>::flatten(name, out);
      Walk<T>::flatten(x, out);
    }
    out.key += '}';
  }
  static std::map<std::string, T> rebuild(Reader& in) {
    std::map<std::string, T> m;
    for (size_t n = std::stoull(in.next_line()); n > 0; --n) {
      std::string name = in.next_line();
      m.emplace(std::move(name), Walk<T>::rebuild(in));
    }
    return m;
  }
};

// For the library itself.
template <class A, class B>
struct Walk<std::pair<A, B>> {
  static void flatten(const std::pair<A, B>& p, Flat& out) {
    Walk<A>::flatten(p.first, out);
    Walk<B>::flatten(p.second, out);
  }
  static std::pair<A, B> rebuild(Reader& in) {
    A a = Walk<A>::rebuild(in);
    B b = Walk<B>::rebuild(in);
    return {std::move(a), std::move(b)};
  }
};

// For the library itself.
template <class... T>
struct Walk<std::tuple<T...>> {
  static void flatten(const std::tuple<T...>& t, Flat& out) {
    std::apply([&](const T&... x) { (Walk<T>::flatten(x, out), ...); }, t);
  }
  static std::tuple<T...> rebuild(Reader& in) { return std::tuple<T...>{Walk<T>::rebuild(in)...}; }  // braces: in order
};

}  // namespace weft::nest

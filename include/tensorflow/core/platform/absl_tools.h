// SPDX-License-Identifier: Apache-2.0
//
// More of what programs take from abseil's headers (absl_forms.h): functions, algorithms over containers, escaping, Substitute.
#ifndef TENSORFLOW_CORE_PLATFORM_ABSL_TOOLS_H_
#define TENSORFLOW_CORE_PLATFORM_ABSL_TOOLS_H_

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tensorflow/core/platform/absl_forms.h"
#include "tensorflow/core/platform/cleanup.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {
namespace absl_forms {

// ---- Functions ----
using once_flag = std::once_flag;
template <class F, class... Args>
void call_once(once_flag& once, F&& f, Args&&... args) {
  std::call_once(once, std::forward<F>(f), std::forward<Args>(args)...);
}
template <class F, class... Bound>
auto bind_front(F&& f, Bound&&... bound) {
  return [f = std::forward<F>(f), held = std::make_tuple(std::forward<Bound>(bound)...)](auto&&... rest) mutable -> decltype(auto) {
    return std::apply([&](auto&... b) -> decltype(auto) { return std::invoke(f, b..., std::forward<decltype(rest)>(rest)...); }, held);
  };
}
// What it refers to lives as long as it.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>>>
  FunctionRef(F&& f)  // NOLINT
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))), call_([](void* object, Args... args) -> R {
          return std::invoke(*static_cast<std::remove_reference_t<F>*>(object), std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};
// May hold what cannot be copied.
template <class Signature>
class AnyInvocable;
template <class R, class... Args>
class AnyInvocable<R(Args...)> {
 public:
  AnyInvocable() = default;
  AnyInvocable(std::nullptr_t) {}  // NOLINT
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, AnyInvocable> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>>>
  AnyInvocable(F&& f) {  // NOLINT
    auto held = std::make_shared<std::decay_t<F>>(std::forward<F>(f));
    call_ = [held](Args... args) -> R { return std::invoke(*held, std::forward<Args>(args)...); };
  }
  AnyInvocable(AnyInvocable&&) = default;
  AnyInvocable& operator=(AnyInvocable&&) = default;
  AnyInvocable(const AnyInvocable&) = delete;
  AnyInvocable& operator=(const AnyInvocable&) = delete;
  explicit operator bool() const { return static_cast<bool>(call_); }
  R operator()(Args... args) const { return call_(std::forward<Args>(args)...); }

 private:
  std::function<R(Args...)> call_;
};
template <class R, class... Args>
class AnyInvocable<R(Args...) &&> : public AnyInvocable<R(Args...)> {
  using AnyInvocable<R(Args...)>::AnyInvocable;
};
template <class R, class... Args>
class AnyInvocable<R(Args...) const> : public AnyInvocable<R(Args...)> {
  using AnyInvocable<R(Args...)>::AnyInvocable;
};
template <class F>
auto MakeCleanup(F&& f) {
  return gtl::MakeCleanup(std::forward<F>(f));
}
template <class To, class From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "of one size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
template <class T>
using Hash = ::tensorflow::hash<T>;

// ---- Algorithms over whole containers ----
#define WEFT_ALGORITHM(name)                                                                                           \
  template <class C, class... Args>                                                                                    \
  auto c_##name(C&& c, Args&&... args)->decltype(std::name(std::begin(c), std::end(c), std::forward<Args>(args)...)) { \
    return std::name(std::begin(c), std::end(c), std::forward<Args>(args)...);                                         \
  }
WEFT_ALGORITHM(all_of)
WEFT_ALGORITHM(any_of)
WEFT_ALGORITHM(none_of)
WEFT_ALGORITHM(for_each)
WEFT_ALGORITHM(find)
WEFT_ALGORITHM(find_if)
WEFT_ALGORITHM(count)
WEFT_ALGORITHM(count_if)
WEFT_ALGORITHM(copy)
WEFT_ALGORITHM(copy_if)
WEFT_ALGORITHM(transform)
WEFT_ALGORITHM(replace)
WEFT_ALGORITHM(fill)
WEFT_ALGORITHM(generate)
WEFT_ALGORITHM(remove_if)
WEFT_ALGORITHM(unique)
WEFT_ALGORITHM(reverse)
WEFT_ALGORITHM(shuffle)
WEFT_ALGORITHM(sort)
WEFT_ALGORITHM(stable_sort)
WEFT_ALGORITHM(is_sorted)
WEFT_ALGORITHM(lower_bound)
WEFT_ALGORITHM(upper_bound)
WEFT_ALGORITHM(binary_search)
WEFT_ALGORITHM(min_element)
WEFT_ALGORITHM(max_element)
WEFT_ALGORITHM(accumulate)
WEFT_ALGORITHM(iota)
#undef WEFT_ALGORITHM
template <class C, class T>
bool c_linear_search(const C& c, const T& value) {
  return std::find(std::begin(c), std::end(c), value) != std::end(c);
}
template <class A, class B>
bool c_equal(const A& a, const B& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}

// ---- Texts ----
// $0 to $9 stand for the arguments, $$ for $.
template <class... Args>
void SubstituteAndAppend(std::string* out, std::string_view format, const Args&... args) {
  const std::string texts[] = {strings::StrCat(args)..., ""};
  for (size_t i = 0; i < format.size(); ++i) {
    const bool wanted = format[i] == '$' && i + 1 < format.size();
    const size_t n = wanted ? static_cast<size_t>(format[i + 1] - '0') : 10;
    if (n < sizeof...(Args)) out->append(texts[n]), ++i;
    else if (wanted && format[i + 1] == '$') out->push_back('$'), ++i;
    else out->push_back(format[i]);
  }
}
template <class... Args>
std::string Substitute(std::string_view format, const Args&... args) {
  std::string out;
  SubstituteAndAppend(&out, format, args...);
  return out;
}
using str_util::CEscape;
// False for what no C compiler takes.
inline bool CUnescape(std::string_view source, std::string* out) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\\') {
      text.push_back(source[i]);
      continue;
    }
    if (++i == source.size()) return false;
    static constexpr std::string_view kNames = "abfnrtv\\'\"?", kMeans = "\a\b\f\n\r\t\v\\'\"?";
    const size_t at = kNames.find(source[i]);
    const bool hex = source[i] == 'x' || source[i] == 'X';
    if (at != kNames.npos) {
      text.push_back(kMeans[at]);
      continue;
    }
    unsigned value = 0;
    size_t digits = 0, first = hex ? i + 1 : i;
    for (; first + digits < source.size() && (hex || digits < 3); ++digits) {
      const char c = source[first + digits];
      if (hex ? !ascii_isxdigit(static_cast<unsigned char>(c)) : c < '0' || c > '7') break;
      value = value * (hex ? 16 : 8) + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (digits == 0 || value > 255) return false;
    text.push_back(static_cast<char>(value));
    i = first + digits - 1;
  }
  *out = std::move(text);
  return true;
}
inline void InitializeLog() {}
inline std::string BytesToHexString(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    out.push_back("0123456789abcdef"[c & 15]);
  }
  return out;
}

}  // namespace absl_forms
}  // namespace tensorflow

#ifndef ABSL_LOG
#define ABSL_LOG LOG
#define ABSL_CHECK CHECK
#define ABSL_CHECK_EQ CHECK_EQ
#define ABSL_CHECK_NE CHECK_NE
#define ABSL_CHECK_LT CHECK_LT
#define ABSL_CHECK_LE CHECK_LE
#define ABSL_CHECK_GT CHECK_GT
#define ABSL_CHECK_GE CHECK_GE
#define ABSL_DIE_IF_NULL CHECK_NOTNULL
#endif

#endif  // TENSORFLOW_CORE_PLATFORM_ABSL_TOOLS_H_

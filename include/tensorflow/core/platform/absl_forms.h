// SPDX-License-Identifier: Apache-2.0
//
// What programs take from abseil's headers besides Status, StrCat and Span, over the standard library: for those who have no abseil. The headers of
// include/tensorflow/fallback/absl, which the build writes (cmake/header_aliases.txt), are names of this one.
#ifndef TENSORFLOW_CORE_PLATFORM_ABSL_FORMS_H_
#define TENSORFLOW_CORE_PLATFORM_ABSL_FORMS_H_

#include <algorithm>
#include <any>
#include <cctype>
#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "tensorflow/core/platform/blocking_counter.h"
#include "tensorflow/core/platform/hash.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/notification.h"
#include "tensorflow/core/platform/numbers.h"
#include "tensorflow/core/platform/span.h"
#include "tensorflow/core/platform/statusor.h"
#include "tensorflow/core/platform/str_util.h"
#include "tensorflow/core/platform/stringprintf.h"

namespace tensorflow {
namespace absl_forms {

using std::any;
using std::any_cast;
using std::bad_any_cast;
using std::get;
using std::get_if;
using std::holds_alternative;
using std::in_place;
using std::make_optional;
using std::make_unique;
using std::monostate;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::variant;
using std::visit;
using ::tensorflow::BlockingCounter;
using ::tensorflow::Notification;
template <class T>
std::unique_ptr<T> WrapUnique(T* pointer) {
  return std::unique_ptr<T>(pointer);
}
template <class C>
auto MakeSpan(C& container) {
  return Span<std::remove_reference_t<decltype(*container.data())>>(container.data(), container.size());
}
template <class T>
Span<T> MakeSpan(T* data, size_t n) {
  return Span<T>(data, n);
}
template <class T>
Span<T> MakeSpan(T* begin, T* end) {
  return Span<T>(begin, static_cast<size_t>(end - begin));
}
template <class C>
auto MakeConstSpan(const C& container) {
  return Span<std::remove_reference_t<decltype(*container.data())>>(container.data(), container.size());
}
template <class T>
Span<const T> MakeConstSpan(const T* data, size_t n) {
  return Span<const T>(data, n);
}

// Containers: their iterators and references live as long as the standard library says, which is longer than abseil's.
namespace internal {
template <class Base>
class WithContains : public Base {
 public:
  using Base::Base;
  WithContains() = default;
  bool contains(const typename Base::key_type& key) const { return this->find(key) != this->end(); }
};
}  // namespace internal
template <class K, class V, class H = ::tensorflow::hash<K>, class E = std::equal_to<K>, class A = std::allocator<std::pair<const K, V>>>
using flat_hash_map = internal::WithContains<std::unordered_map<K, V, H, E, A>>;
template <class K, class V, class H = ::tensorflow::hash<K>, class E = std::equal_to<K>, class A = std::allocator<std::pair<const K, V>>>
using node_hash_map = flat_hash_map<K, V, H, E, A>;
template <class K, class H = ::tensorflow::hash<K>, class E = std::equal_to<K>, class A = std::allocator<K>>
using flat_hash_set = internal::WithContains<std::unordered_set<K, H, E, A>>;
template <class K, class H = ::tensorflow::hash<K>, class E = std::equal_to<K>, class A = std::allocator<K>>
using node_hash_set = flat_hash_set<K, H, E, A>;
template <class K, class V, class C = std::less<K>>
using btree_map = internal::WithContains<std::map<K, V, C>>;
template <class K, class V, class C = std::less<K>>
using btree_multimap = internal::WithContains<std::multimap<K, V, C>>;
template <class K, class C = std::less<K>>
using btree_multiset = internal::WithContains<std::multiset<K, C>>;
template <class K, class C = std::less<K>>
using btree_set = internal::WithContains<std::set<K, C>>;
template <class T, size_t N, class A = std::allocator<T>>
using InlinedVector = std::conditional_t<std::is_same_v<T, bool>, gtl::internal::BoolVector, std::vector<T, A>>;
template <class T, size_t N = 0, class A = std::allocator<T>>
using FixedArray = InlinedVector<T, N, A>;

// Texts.
inline bool ascii_isspace(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool ascii_isdigit(unsigned char c) { return c >= '0' && c <= '9'; }
inline bool ascii_isupper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
inline bool ascii_islower(unsigned char c) { return c >= 'a' && c <= 'z'; }
inline bool ascii_isalpha(unsigned char c) { return ascii_isupper(c) || ascii_islower(c); }
inline bool ascii_isalnum(unsigned char c) { return ascii_isalpha(c) || ascii_isdigit(c); }
inline bool ascii_ispunct(unsigned char c) { return c > ' ' && c < 127 && !ascii_isalnum(c); }
inline bool ascii_isxdigit(unsigned char c) { return ascii_isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
inline char ascii_tolower(unsigned char c) { return static_cast<char>(ascii_isupper(c) ? c + 32 : c); }
inline char ascii_toupper(unsigned char c) { return static_cast<char>(ascii_islower(c) ? c - 32 : c); }
inline std::string AsciiStrToLower(std::string_view s) { return str_util::Lowercase(s); }
inline std::string AsciiStrToUpper(std::string_view s) { return str_util::Uppercase(s); }
inline void AsciiStrToLower(std::string* s) { *s = str_util::Lowercase(*s); }
inline void AsciiStrToUpper(std::string* s) { *s = str_util::Uppercase(*s); }
inline std::string_view StripLeadingAsciiWhitespace(std::string_view s) {
  while (!s.empty() && ascii_isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  return s;
}
inline std::string_view StripTrailingAsciiWhitespace(std::string_view s) {
  while (!s.empty() && ascii_isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}
inline std::string_view StripAsciiWhitespace(std::string_view s) { return StripLeadingAsciiWhitespace(StripTrailingAsciiWhitespace(s)); }
inline void StripAsciiWhitespace(std::string* s) { *s = std::string(StripAsciiWhitespace(std::string_view(*s))); }
using str_util::StripPrefix;
using str_util::StripSuffix;
inline bool StrContains(std::string_view s, char c) { return s.find(c) != s.npos; }
inline bool EqualsIgnoreCase(std::string_view a, std::string_view b) { return str_util::Lowercase(a) == str_util::Lowercase(b); }
inline bool StartsWithIgnoreCase(std::string_view s, std::string_view head) { return EqualsIgnoreCase(s.substr(0, head.size()), head); }
inline bool EndsWithIgnoreCase(std::string_view s, std::string_view tail) {
  return s.size() >= tail.size() && EqualsIgnoreCase(s.substr(s.size() - tail.size()), tail);
}
template <class Int>
bool SimpleAtoi(std::string_view s, Int* value) {
  std::conditional_t<std::is_signed_v<Int>, int64, uint64> wide = 0;
  bool ok = false;
  if constexpr (std::is_signed_v<Int>) ok = strings::safe_strto64(s, &wide);
  else ok = strings::safe_strtou64(s, &wide);
  *value = static_cast<Int>(wide);
  return ok && static_cast<decltype(wide)>(*value) == wide;
}
inline bool SimpleAtof(std::string_view s, float* value) { return strings::safe_strtof(s, value); }
inline bool SimpleAtod(std::string_view s, double* value) { return strings::safe_strtod(s, value); }
inline bool SimpleAtob(std::string_view s, bool* value) {
  const std::string lower = str_util::Lowercase(s);
  *value = lower == "true" || lower == "t" || lower == "yes" || lower == "y" || lower == "1";
  return *value || lower == "false" || lower == "f" || lower == "no" || lower == "n" || lower == "0";
}
template <class List>
std::string StrJoin(const List& list, std::string_view separator) {
  return str_util::Join(list, std::string(separator).c_str());
}
template <class T>
std::string StrJoin(std::initializer_list<T> list, std::string_view separator) {
  return str_util::Join(std::vector<T>(list), std::string(separator).c_str());
}
template <class List, class Formatter>
std::string StrJoin(const List& list, std::string_view separator, Formatter&& format) {
  return str_util::Join(list, std::string(separator).c_str(), format);
}
inline std::string StrReplaceAll(std::string_view s, std::initializer_list<std::pair<std::string_view, std::string_view>> with) {
  std::string out;
  while (!s.empty()) {
    const auto* longest = with.end();
    for (const auto* r = with.begin(); r != with.end(); ++r)
      if (!r->first.empty() && s.substr(0, r->first.size()) == r->first && (longest == with.end() || r->first.size() > longest->first.size()))
        longest = r;
    out.append(longest == with.end() ? s.substr(0, 1) : longest->second);
    s.remove_prefix(longest == with.end() ? 1 : longest->first.size());
  }
  return out;
}
// %s takes std::string too, %v is not there.
namespace internal {
template <class T>
auto Printed(const T& value) {
  if constexpr (std::is_convertible_v<const T&, const char*>) return static_cast<const char*>(value);
  else if constexpr (std::is_same_v<T, std::string>) return value.c_str();
  else return value;
}
}  // namespace internal
template <class... Args>
std::string StrFormat(const std::string& format, const Args&... args) {
  std::string out;
  out.resize(static_cast<size_t>(std::max(0, std::snprintf(nullptr, 0, format.c_str(), internal::Printed(args)...))) + 1);
  std::snprintf(out.data(), out.size(), format.c_str(), internal::Printed(args)...);
  out.pop_back();
  return out;
}
template <class... Args>
void StrAppendFormat(std::string* out, const std::string& format, const Args&... args) {
  out->append(StrFormat(format, args...));
}

struct ByAnyChar {
  explicit ByAnyChar(std::string_view chars) : chars(chars) {}
  std::pair<size_t, size_t> Find(std::string_view s) const { return {s.find_first_of(chars), 1}; }
  std::string chars;
};
struct ByString {
  explicit ByString(std::string_view text) : text(text) {}
  std::pair<size_t, size_t> Find(std::string_view s) const { return {s.find(text), text.size()}; }
  std::string text;
};
struct ByChar : ByString {
  explicit ByChar(char c) : ByString(std::string_view(&c, 1)) {}
};
using str_util::AllowEmpty;
using str_util::SkipEmpty;
using str_util::SkipWhitespace;
namespace internal {
// The parts, as any container of strings or views.
class Split : public std::vector<std::string_view> {
 public:
  template <class C, class T = typename C::value_type,
            class = std::enable_if_t<!std::is_same_v<C, Split> && std::is_constructible_v<T, std::string_view> && std::is_default_constructible_v<C>>>
  operator C() const {  // NOLINT
    C out;
    for (const std::string_view part : *this) out.insert(out.end(), T(part));
    return out;
  }
  template <class A, class B>
  operator std::pair<A, B>() const {  // NOLINT
    return {A(size() > 0 ? (*this)[0] : std::string_view()), B(size() > 1 ? (*this)[1] : std::string_view())};
  }
};
inline ByChar By(char c) { return ByChar(c); }
inline ByString By(std::string_view s) { return ByString(s); }
template <class D, class = decltype(std::declval<D>().Find(std::string_view()))>
const D& By(const D& delimiter) {
  return delimiter;
}
}  // namespace internal
template <class Delimiter, class Predicate = AllowEmpty>
internal::Split StrSplit(std::string_view s, Delimiter delimiter, Predicate wanted = Predicate()) {
  const auto by = internal::By(delimiter);
  internal::Split out;
  for (;;) {
    const auto [at, n] = by.Find(s);
    const std::string_view part = s.substr(0, at);
    if (wanted(part)) out.push_back(part);
    if (at == s.npos) return out;
    s.remove_prefix(at + std::max<size_t>(n, 1));
  }
}

}  // namespace absl_forms
}  // namespace tensorflow

#ifndef ABSL_GUARDED_BY
#define ABSL_GUARDED_BY(x)
#define ABSL_PT_GUARDED_BY(x)
#define ABSL_EXCLUSIVE_LOCKS_REQUIRED(...)
#define ABSL_SHARED_LOCKS_REQUIRED(...)
#define ABSL_LOCKS_EXCLUDED(...)
#define ABSL_NO_THREAD_SAFETY_ANALYSIS
#endif
#ifndef ABSL_PREDICT_TRUE
#define ABSL_PREDICT_TRUE(x) TF_PREDICT_TRUE(x)
#define ABSL_PREDICT_FALSE(x) TF_PREDICT_FALSE(x)
#endif
#ifndef ABSL_ATTRIBUTE_UNUSED
#define ABSL_ATTRIBUTE_UNUSED __attribute__((unused))
#define ABSL_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))
#define ABSL_ATTRIBUTE_NOINLINE __attribute__((noinline))
#define ABSL_ATTRIBUTE_LIFETIME_BOUND
#define ABSL_MUST_USE_RESULT [[nodiscard]]
#endif
#ifndef ABSL_CONST_INIT
#define ABSL_CONST_INIT
#endif

#endif  // TENSORFLOW_CORE_PLATFORM_ABSL_FORMS_H_

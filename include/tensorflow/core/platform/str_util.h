// SPDX-License-Identifier: Apache-2.0
//
// str_util: texts split, joined and compared.
#ifndef TENSORFLOW_CORE_PLATFORM_STR_UTIL_H_
#define TENSORFLOW_CORE_PLATFORM_STR_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {
namespace str_util {

inline bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
inline bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}
inline bool StrContains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
inline bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  if (!StartsWith(*text, prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}
inline bool ConsumeSuffix(std::string_view* text, std::string_view suffix) {
  if (!EndsWith(*text, suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}
inline std::string_view StripPrefix(std::string_view text, std::string_view prefix) { return ConsumePrefix(&text, prefix), text; }
inline std::string_view StripSuffix(std::string_view text, std::string_view suffix) { return ConsumeSuffix(&text, suffix), text; }
inline std::string Lowercase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}
inline std::string Uppercase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}
inline std::string StringReplace(std::string_view text, std::string_view from, std::string_view to, bool all) {
  std::string out(text);
  for (size_t at = 0; !from.empty() && (at = out.find(from, at)) != std::string::npos; at += to.size()) {
    out.replace(at, from.size(), to);
    if (!all) break;
  }
  return out;
}

struct AllowEmpty {
  bool operator()(std::string_view) const { return true; }
};
struct SkipEmpty {
  bool operator()(std::string_view text) const { return !text.empty(); }
};
struct SkipWhitespace {
  bool operator()(std::string_view text) const { return text.find_first_not_of(" \t\r\n\v\f") != std::string_view::npos; }
};
// At each of the delimiters.
template <class Keep = AllowEmpty>
std::vector<std::string> Split(std::string_view text, std::string_view delimiters, Keep keep = {}) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (size_t at = 0; at <= text.size();) {
    size_t end = text.find_first_of(delimiters, at);
    if (end == std::string_view::npos) end = text.size();
    if (keep(text.substr(at, end - at))) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}
template <class Keep = AllowEmpty>
std::vector<std::string> Split(std::string_view text, char delimiter, Keep keep = {}) {
  return Split(text, std::string_view(&delimiter, 1), keep);
}
template <class List>
std::string Join(const List& list, const char* separator) {
  std::string out;
  bool first = true;
  for (const auto& one : list) {
    strings::StrAppend(&out, first ? "" : separator, one);
    first = false;
  }
  return out;
}

}  // namespace str_util
}  // namespace tensorflow

#ifndef ABSL_STRINGS_MATCH_H_
namespace absl {
using tensorflow::str_util::ConsumePrefix;
using tensorflow::str_util::ConsumeSuffix;
using tensorflow::str_util::EndsWith;
using tensorflow::str_util::StartsWith;
using tensorflow::str_util::StrContains;
}  // namespace absl
#endif

#endif  // TENSORFLOW_CORE_PLATFORM_STR_UTIL_H_

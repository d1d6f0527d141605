// SPDX-License-Identifier: Apache-2.0
//
// Texts: split, join, replace, strip.
#ifndef TENSORFLOW_CORE_PLATFORM_STR_UTIL_H_
#define TENSORFLOW_CORE_PLATFORM_STR_UTIL_H_

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "tensorflow/core/platform/span.h"
#include "tensorflow/core/platform/strcat.h"
#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace str_util {

struct AllowEmpty {
  bool operator()(StringPiece) const { return true; }
};
struct SkipEmpty {
  bool operator()(StringPiece s) const { return !s.empty(); }
};
struct SkipWhitespace {
  bool operator()(StringPiece s) const { return s.find_first_not_of(" \t\r\n\v\f") != StringPiece::npos; }
};
// At each of the characters of `delimiters`.
template <class Predicate = AllowEmpty>
std::vector<std::string> Split(StringPiece text, StringPiece delimiters, Predicate keep = Predicate()) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && delimiters.find(text[i]) == StringPiece::npos) continue;
    const StringPiece part = text.substr(begin, i - begin);
    if (keep(part)) out.emplace_back(part);
    begin = i + 1;
  }
  return out;
}
template <class Predicate = AllowEmpty>
std::vector<std::string> Split(StringPiece text, char delimiter, Predicate keep = Predicate()) {
  return Split(text, StringPiece(&delimiter, 1), keep);
}
template <class List>
std::string Join(const List& list, const char* separator) {
  std::string out;
  bool first = true;
  for (const auto& one : list) {
    if (!first) out += separator;
    first = false;
    strings::StrAppend(&out, one);
  }
  return out;
}
template <class List, class Formatter>
std::string Join(const List& list, const char* separator, Formatter format) {
  std::string out;
  bool first = true;
  for (const auto& one : list) {
    if (!first) out += separator;
    first = false;
    format(&out, one);
  }
  return out;
}
inline std::string Lowercase(StringPiece s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}
inline std::string Uppercase(StringPiece s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}
inline bool StartsWith(StringPiece text, StringPiece head) { return text.substr(0, head.size()) == head; }
inline bool EndsWith(StringPiece text, StringPiece tail) { return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail; }
inline bool StrContains(StringPiece text, StringPiece part) { return text.find(part) != StringPiece::npos; }
inline bool ConsumePrefix(StringPiece* s, StringPiece head) {
  if (!StartsWith(*s, head)) return false;
  s->remove_prefix(head.size());
  return true;
}
inline bool ConsumeSuffix(StringPiece* s, StringPiece tail) {
  if (!EndsWith(*s, tail)) return false;
  s->remove_suffix(tail.size());
  return true;
}
inline StringPiece StripPrefix(StringPiece s, StringPiece head) {
  ConsumePrefix(&s, head);
  return s;
}
inline StringPiece StripSuffix(StringPiece s, StringPiece tail) {
  ConsumeSuffix(&s, tail);
  return s;
}
inline size_t RemoveLeadingWhitespace(StringPiece* s) {
  size_t n = 0;
  while (n < s->size() && std::isspace(static_cast<unsigned char>((*s)[n]))) ++n;
  s->remove_prefix(n);
  return n;
}
inline size_t RemoveTrailingWhitespace(StringPiece* s) {
  size_t n = 0;
  while (n < s->size() && std::isspace(static_cast<unsigned char>((*s)[s->size() - 1 - n]))) ++n;
  s->remove_suffix(n);
  return n;
}
inline size_t RemoveWhitespaceContext(StringPiece* s) {
  const size_t front = RemoveLeadingWhitespace(s);
  return front + RemoveTrailingWhitespace(s);
}
inline void StripTrailingWhitespace(std::string* s) {
  while (!s->empty() && std::isspace(static_cast<unsigned char>(s->back()))) s->pop_back();
}
inline std::string StringReplace(StringPiece text, StringPiece old, StringPiece with, bool all) {
  std::string out(text);
  if (old.empty()) return out;
  for (size_t at = 0; (at = out.find(old, at)) != std::string::npos; at += with.size()) {
    out.replace(at, old.size(), with);
    if (!all) break;
  }
  return out;
}
inline std::string CEscape(StringPiece s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x7f || static_cast<unsigned char>(c) < 0x20) {
          const unsigned v = static_cast<unsigned char>(c);
          out += '\\';
          for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((v >> shift) & 7));
        } else {
          out += c;
        }
    }
  }
  return out;
}
inline size_t Strnlen(const char* s, size_t limit) {
  size_t n = 0;
  while (n < limit && s[n] != 0) ++n;
  return n;
}

}  // namespace str_util

namespace absl_forms {
using str_util::ConsumePrefix;
using str_util::ConsumeSuffix;
using str_util::EndsWith;
using str_util::StartsWith;
using str_util::StrContains;
}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_STR_UTIL_H_

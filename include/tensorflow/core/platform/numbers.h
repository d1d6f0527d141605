// SPDX-License-Identifier: Apache-2.0
//
// Numbers from texts and as texts.
#ifndef TENSORFLOW_CORE_PLATFORM_NUMBERS_H_
#define TENSORFLOW_CORE_PLATFORM_NUMBERS_H_

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "tensorflow/core/platform/strcat.h"
#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace strings {
namespace internal {

inline StringPiece Trimmed(StringPiece s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}
template <class Int>
bool ParseInt(StringPiece s, Int* value) {
  s = Trimmed(s);
  Int parsed{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), parsed);
  if (error != std::errc() || end != s.data() + s.size() || s.empty()) return false;
  *value = parsed;
  return true;
}

}  // namespace internal

// Spaces around it are allowed; false for anything else, or a number that does not fit.
inline bool safe_strto32(StringPiece s, int32* value) { return internal::ParseInt(s, value); }
inline bool safe_strto64(StringPiece s, int64* value) { return internal::ParseInt(s, value); }
inline bool safe_strtou32(StringPiece s, uint32* value) { return internal::ParseInt(s, value); }
inline bool safe_strtou64(StringPiece s, uint64* value) { return internal::ParseInt(s, value); }
inline bool safe_strtod(StringPiece s, double* value) {
  const std::string text(internal::Trimmed(s));
  if (text.empty()) return false;
  char* end = nullptr;
  *value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}
inline bool safe_strtof(StringPiece s, float* value) {
  const std::string text(internal::Trimmed(s));
  if (text.empty()) return false;
  char* end = nullptr;
  *value = std::strtof(text.c_str(), &end);
  return end == text.c_str() + text.size();
}
inline bool ProtoParseNumeric(StringPiece s, int32* value) { return safe_strto32(s, value); }
inline bool ProtoParseNumeric(StringPiece s, int64* value) { return safe_strto64(s, value); }
inline bool ProtoParseNumeric(StringPiece s, float* value) { return safe_strtof(s, value); }
inline bool ProtoParseNumeric(StringPiece s, double* value) { return safe_strtod(s, value); }

inline std::string FpToString(Fprint f) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(f));  // NOLINT
  return text;
}
// "1.50GiB", "12.3k"
inline std::string HumanReadableNumBytes(int64 n) {
  if (n == std::numeric_limits<int64>::min()) return "-8E";
  const char* sign = n < 0 ? "-" : "";
  if (n < 0) n = -n;
  char text[32];
  if (n < 1024) {
    std::snprintf(text, sizeof text, "%s%lldB", sign, static_cast<long long>(n));  // NOLINT
    return text;
  }
  const char* unit = "KMGTPE";
  for (; n >= 1024 * 1024; n /= 1024) ++unit;
  const double v = static_cast<double>(n) / 1024.0;
  std::snprintf(text, sizeof text, *unit == 'K' ? "%s%.1f%ciB" : "%s%.2f%ciB", sign, v, *unit);
  return text;
}

}  // namespace strings
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_NUMBERS_H_

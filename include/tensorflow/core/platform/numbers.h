// SPDX-License-Identifier: Apache-2.0
//
// Numbers from texts; false where a text is none.
#ifndef TENSORFLOW_CORE_PLATFORM_NUMBERS_H_
#define TENSORFLOW_CORE_PLATFORM_NUMBERS_H_

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace strings {

namespace internal {
template <class T, class Read>
bool Whole(std::string_view text, T* value, Read read) {
  const std::string all(text);
  char* end = nullptr;
  errno = 0;
  const auto wide = read(all.c_str(), &end);
  while (end && (*end == ' ' || *end == '\t' || *end == '\n')) ++end;
  *value = static_cast<T>(wide);
  return !all.empty() && end != all.c_str() && *end == 0 && errno != ERANGE &&
         (static_cast<decltype(wide)>(*value) == wide || wide != wide || sizeof(T) == sizeof wide);
}
}  // namespace internal

inline bool safe_strto32(std::string_view text, int32* v) {
  return internal::Whole(text, v, [](const char* s, char** e) { return std::strtoll(s, e, 10); });
}
inline bool safe_strto64(std::string_view text, int64* v) {
  return internal::Whole(text, v, [](const char* s, char** e) { return std::strtoll(s, e, 10); });
}
inline bool safe_strtou32(std::string_view text, uint32* v) {
  return text.find('-') == std::string_view::npos && internal::Whole(text, v, [](const char* s, char** e) { return std::strtoull(s, e, 10); });
}
inline bool safe_strtou64(std::string_view text, uint64* v) {
  return text.find('-') == std::string_view::npos && internal::Whole(text, v, [](const char* s, char** e) { return std::strtoull(s, e, 10); });
}
inline bool safe_strtof(std::string_view text, float* v) {
  return internal::Whole(text, v, [](const char* s, char** e) { return std::strtof(s, e); });
}
inline bool safe_strtod(std::string_view text, double* v) {
  return internal::Whole(text, v, [](const char* s, char** e) { return std::strtod(s, e); });
}

}  // namespace strings
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_NUMBERS_H_

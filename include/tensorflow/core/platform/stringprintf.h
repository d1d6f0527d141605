// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_PLATFORM_STRINGPRINTF_H_
#define TENSORFLOW_CORE_PLATFORM_STRINGPRINTF_H_

#include <cstdarg>
#include <cstdio>
#include <string>

namespace tensorflow {
namespace strings {

inline void Appendv(std::string* out, const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size < 0) return;
  const size_t before = out->size();
  out->resize(before + static_cast<size_t>(size) + 1);
  std::vsnprintf(out->data() + before, static_cast<size_t>(size) + 1, format, args);
  out->resize(before + static_cast<size_t>(size));
}
__attribute__((format(printf, 1, 2))) inline std::string Printf(const char* format, ...) {
  std::string out;
  va_list args;
  va_start(args, format);
  Appendv(&out, format, args);
  va_end(args);
  return out;
}
__attribute__((format(printf, 2, 3))) inline void Appendf(std::string* out, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Appendv(out, format, args);
  va_end(args);
}

}  // namespace strings
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_STRINGPRINTF_H_

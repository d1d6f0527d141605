// SPDX-License-Identifier: Apache-2.0
//
// strings::Printf.
#ifndef TENSORFLOW_CORE_PLATFORM_STRINGPRINTF_H_
#define TENSORFLOW_CORE_PLATFORM_STRINGPRINTF_H_

#include <cstdarg>
#include <cstdio>
#include <string>

namespace tensorflow {
namespace strings {

inline void Appendv(std::string* to, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int n = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (n < 0) return;
  const size_t had = to->size();
  to->resize(had + static_cast<size_t>(n) + 1);
  std::vsnprintf(to->data() + had, static_cast<size_t>(n) + 1, format, arguments);
  to->resize(had + static_cast<size_t>(n));
}
__attribute__((format(printf, 1, 2))) inline std::string Printf(const char* format, ...) {
  std::string out;
  va_list arguments;
  va_start(arguments, format);
  Appendv(&out, format, arguments);
  va_end(arguments);
  return out;
}
__attribute__((format(printf, 2, 3))) inline void Appendf(std::string* to, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Appendv(to, format, arguments);
  va_end(arguments);
}

}  // namespace strings
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_STRINGPRINTF_H_

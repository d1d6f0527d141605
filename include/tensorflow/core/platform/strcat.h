// SPDX-License-Identifier: Apache-2.0
//
// strings::StrCat and StrAppend: texts and numbers put together.
#ifndef TENSORFLOW_CORE_PLATFORM_STRCAT_H_
#define TENSORFLOW_CORE_PLATFORM_STRCAT_H_

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace strings {
namespace internal {

inline void AppendPiece(std::string* out, std::string_view text) { out->append(text.data(), text.size()); }

// What TensorFlow's AlphaNum takes: texts, integers, enumerators as their numbers, floats with six digits.
template <class T>
void AppendPiece(std::string* out, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    AppendPiece(out, static_cast<std::string_view>(value));
  } else if constexpr (::tensorflow::internal::IsForeignView<T>::value) {
    out->append(value.data(), value.size());
  } else if constexpr (std::is_floating_point_v<T>) {
    char digits[40];
    AppendPiece(out, std::string_view(digits, static_cast<size_t>(std::snprintf(digits, sizeof digits, "%.6g", static_cast<double>(value)))));
  } else if constexpr (std::is_integral_v<T>) {
    out->append(std::to_string(value));
  } else if constexpr (std::is_enum_v<T>) {
    out->append(std::to_string(static_cast<std::underlying_type_t<T>>(value)));
  } else if constexpr (std::is_convertible_v<const T&, std::string>) {
    out->append(static_cast<std::string>(value));
  } else {
    AppendPiece(out, static_cast<float>(value));
  }
}

}  // namespace internal

template <class... Args>
void StrAppend(std::string* out, const Args&... args) {
  (internal::AppendPiece(out, args), ...);
}
template <class... Args>
std::string StrCat(const Args&... args) {
  std::string out;
  StrAppend(&out, args...);
  return out;
}

}  // namespace strings

namespace absl_forms {
using strings::StrAppend;
using strings::StrCat;
}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_STRCAT_H_

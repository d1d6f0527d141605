// SPDX-License-Identifier: Apache-2.0
//
// strings::StrCat and StrAppend: texts and numbers put together.
#ifndef TENSORFLOW_CORE_PLATFORM_STRCAT_H_
#define TENSORFLOW_CORE_PLATFORM_STRCAT_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace strings {

// How wide a number is written: zeros or blanks in front of it.
#define WEFT_PADS(F) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16) F(17) F(18) F(19) F(20)
enum PadSpec : unsigned char {
  kNoPad = 1,
#define WEFT_PAD(n) kZeroPad##n = n, kSpacePad##n = 64 + n,
  WEFT_PADS(WEFT_PAD)
#undef WEFT_PAD
};
namespace internal {
inline std::string Padded(const char* digits, bool negative, PadSpec pad) {
  std::string text = digits;
  const size_t width = pad & 63, sign = negative && pad < 64;
  if (negative && !sign) text.insert(0, 1, '-');
  if (text.size() + sign < width) text.insert(0, width - sign - text.size(), pad < 64 ? '0' : ' ');
  return sign ? "-" + text : text;
}
}  // namespace internal
// A number in hexadecimal digits, those of its own type; and in decimal ones.
struct Hex {
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int> || std::is_enum_v<Int>>>
  explicit Hex(Int value, PadSpec pad = kNoPad) {
    const auto all = static_cast<unsigned long long>(value);
    Write(sizeof(Int) == 8 ? all : all & ((1ull << (8 * (sizeof(Int) % 8))) - 1), pad);
  }
  template <class T>
  explicit Hex(T* pointer, PadSpec pad = kNoPad) {
    Write(reinterpret_cast<uintptr_t>(pointer), pad);
  }
  operator std::string() const { return text; }  // NOLINT
  std::string text;

 private:
  void Write(unsigned long long value, PadSpec pad) {
    char digits[20];
    std::snprintf(digits, sizeof digits, "%llx", value);
    text = internal::Padded(digits, false, pad);
  }
};
struct Dec {
  template <class Int, class = std::enable_if_t<std::is_integral_v<Int> || std::is_enum_v<Int>>>
  explicit Dec(Int value, PadSpec pad = kNoPad) {
    const std::string digits = std::to_string(value);
    text = internal::Padded(digits.c_str() + (value < 0), value < 0, pad);
  }
  operator std::string() const { return text; }  // NOLINT
  std::string text;
};

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
using strings::Dec;
using strings::Hex;
using strings::kNoPad;
using strings::PadSpec;
#define WEFT_PAD(n)           \
  using strings::kZeroPad##n; \
  using strings::kSpacePad##n;
WEFT_PADS(WEFT_PAD)
#undef WEFT_PAD
#undef WEFT_PADS
using strings::StrAppend;
using strings::StrCat;
}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_STRCAT_H_

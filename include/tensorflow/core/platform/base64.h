// SPDX-License-Identifier: Apache-2.0
//
// Base64 with the alphabet for URLs ('-' and '_'); '+' and '/' are not read.
#ifndef TENSORFLOW_CORE_PLATFORM_BASE64_H_
#define TENSORFLOW_CORE_PLATFORM_BASE64_H_

#include <array>
#include <string>
#include <string_view>

#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

namespace internal {
inline constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
inline int Base64Value(char c) {
  static const auto* const values = [] {
    auto* all = new std::array<signed char, 256>;
    all->fill(-1);
    for (int i = 0; i < 64; ++i) (*all)[static_cast<unsigned char>(kBase64[i])] = static_cast<signed char>(i);
    return all;
  }();
  return (*values)[static_cast<unsigned char>(c)];
}
}  // namespace internal

// T is std::string or tstring.
template <class T>
Status Base64Encode(std::string_view source, bool with_padding, T* encoded) {
  if (!encoded) return errors::Internal("'encoded' cannot be nullptr.");
  std::string out;
  out.reserve((source.size() + 2) / 3 * 4);
  for (size_t i = 0; i < source.size(); i += 3) {
    const size_t n = std::min<size_t>(3, source.size() - i);
    unsigned bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<unsigned char>(source[i + k]) : 0);
    for (size_t k = 0; k < n + 1; ++k) out += internal::kBase64[bits >> (18 - 6 * k) & 63];
    if (with_padding) out.append(3 - n, '=');
  }
  *encoded = out;
  return OkStatus();
}
template <class T>
Status Base64Encode(std::string_view source, T* encoded) {
  return Base64Encode(source, false, encoded);
}
template <class T>
Status Base64Decode(std::string_view data, T* decoded) {
  if (!decoded) return errors::Internal("'decoded' cannot be nullptr.");
  const auto wrong = [] { return errors::InvalidArgument("Invalid character found in base64."); };
  if (data.size() % 4 == 0 && !data.empty()) {  // only whole groups may be padded
    for (int i = 0; i < 2 && !data.empty() && data.back() == '='; ++i) data.remove_suffix(1);
  }
  if (data.size() % 4 == 1) return errors::InvalidArgument("Base64 string length cannot be 1 modulo 4.");
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : data) {
    const int value = internal::Base64Value(c);
    if (value < 0) return wrong();
    bits = bits << 6 | static_cast<unsigned>(value);
    if ((count += 6) < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 255);
  }
  *decoded = out;
  return OkStatus();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_BASE64_H_

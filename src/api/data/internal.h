// What the readers of files share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/error.h"

namespace weft::data {

[[noreturn]] inline void bad(const std::string& name, const std::string& what) { throw Error(Code::kDataLoss, name + ": " + what); }

// Little-endian numbers of `bytes` bytes; the caller has checked that they are there.
inline uint64_t little(std::string_view s, size_t at, int bytes) {
  uint64_t v = 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | static_cast<unsigned char>(s[at + size_t(i)]);
  return v;
}
inline void put_little(std::string& s, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) s += char(v >> (8 * i));
}

// Turns big-endian numbers of `width` bytes into little-endian ones, or back.
inline void swap_bytes(std::string& s, size_t width) {
  for (size_t at = 0; at + width <= s.size(); at += width) {
    for (size_t i = 0; i < width / 2; ++i) std::swap(s[at + i], s[at + width - 1 - i]);
  }
}

}  // namespace weft::data

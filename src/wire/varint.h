// Numbers of variable length: seven bits a byte, low ones first, the top bit set on all but the last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft_engine::wire {

// Takes a number off the front of `in`; false if it is cut off or has more than 64 bits.
inline bool take_varint(std::string_view& in, uint64_t& value) {
  value = 0;
  size_t i = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (i == in.size()) return false;
    const auto byte = static_cast<uint8_t>(in[i++]);
    if (shift == 63 && byte > 1) return false;
    value |= uint64_t(byte & 127) << shift;
    if (byte < 128) {
      in.remove_prefix(i);
      return true;
    }
  }
  return false;
}

// As above, for numbers of at most 32 bits.
inline bool take_varint32(std::string_view& in, uint32_t& value) {
  uint64_t wide;
  if (!take_varint(in, wide) || wide > UINT32_MAX) return false;
  value = uint32_t(wide);
  return true;
}

inline void put_varint(std::string& out, uint64_t value) {
  while (value > 127) {
    out.push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

}  // namespace weft_engine::wire

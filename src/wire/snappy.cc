#include "wire/snappy.h"

#include <cstring>

#include "wire/varint.h"

namespace weft::wire {
namespace {

// A little-endian number of n bytes (at most four) off the front; false if there are fewer.
bool take_number(std::string_view& in, size_t n, size_t& value) {
  if (in.size() < n) return false;
  value = 0;
  for (size_t i = 0; i < n; ++i) value |= size_t(uint8_t(in[i])) << (8 * i);
  in.remove_prefix(n);
  return true;
}

}  // namespace

std::optional<std::string> snappy_uncompress(std::string_view in) {
  uint32_t length;
  if (!take_varint32(in, length)) return std::nullopt;
  // Three bytes of input stand for at most 64 of output; what claims more is not worth the memory.
  if (length / 64 > in.size() / 3 + 1) return std::nullopt;
  std::string out(length, '\0');
  size_t at = 0;  // bytes written; never beyond `length`
  while (!in.empty()) {
    const auto tag = uint8_t(in[0]);
    in.remove_prefix(1);
    size_t n, offset;
    if ((tag & 3) == 0) {  // bytes as they are
      n = size_t(tag >> 2) + 1;
      if (n > 60) {
        if (!take_number(in, n - 60, n)) return std::nullopt;
        ++n;
      }
      if (n > in.size() || n > length - at) return std::nullopt;
      std::memcpy(out.data() + at, in.data(), n);
      in.remove_prefix(n);
      at += n;
      continue;
    }
    if ((tag & 3) == 1) {
      n = size_t((tag >> 2) & 7) + 4;
      if (!take_number(in, 1, offset)) return std::nullopt;
      offset |= size_t(tag >> 5) << 8;
    } else {
      n = size_t(tag >> 2) + 1;
      if (!take_number(in, (tag & 3) == 2 ? 2 : 4, offset)) return std::nullopt;
    }
    if (offset == 0 || offset > at || n > length - at) return std::nullopt;
    // A copy may read bytes that it has just written: that is how runs are stored.
    for (size_t i = 0; i < n; ++i, ++at) out[at] = out[at - offset];
  }
  if (at != length) return std::nullopt;
  return out;
}

}  // namespace weft::wire

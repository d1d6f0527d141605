#include "wire/snappy.h"

#include <cstring>
#include <vector>

#include "wire/varint.h"

namespace weft_engine::wire {
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

namespace {

void put_literal(std::string& out, std::string_view bytes) {
  if (bytes.empty()) return;
  const size_t n = bytes.size() - 1;
  if (n < 60) {
    out.push_back(char(n << 2));
  } else {
    const size_t width = n < 1u << 8 ? 1 : n < 1u << 16 ? 2 : n < 1u << 24 ? 3 : 4;
    out.push_back(char((59 + width) << 2));
    for (size_t i = 0; i < width; ++i) out.push_back(char(n >> (8 * i)));
  }
  out += bytes;
}

// Both are checked by the caller: an offset of at most 16 bits, four bytes or more.
void put_copy(std::string& out, size_t offset, size_t n) {
  if (n < 12 && offset < 2048) {
    out.push_back(char(1 | (n - 4) << 2 | (offset >> 8) << 5));
    out.push_back(char(offset));
    return;
  }
  for (size_t part; n > 0; n -= part) {
    part = n < 64 ? n : 64;
    out.push_back(char(2 | (part - 1) << 2));
    out.push_back(char(offset));
    out.push_back(char(offset >> 8));
  }
}

}  // namespace

std::string snappy_compress(std::string_view in) {
  constexpr size_t kFar = 65535, kLeast = 4;
  constexpr int kBits = 14;
  std::string out;
  put_varint(out, in.size());
  std::vector<uint32_t> seen(size_t(1) << kBits);  // by four bytes: one more than where they were last
  size_t done = 0, at = 0;                         // what is before `done` is written
  while (at + kLeast <= in.size()) {
    uint32_t word;
    std::memcpy(&word, in.data() + at, sizeof word);
    uint32_t& last = seen[(word * 0x9E3779B1u) >> (32 - kBits)];
    const size_t before = last;
    last = uint32_t(at + 1);
    const size_t offset = at + 1 - before;
    if (before == 0 || offset > kFar || std::memcmp(in.data() + before - 1, in.data() + at, kLeast) != 0) {
      at += 1 + (at - done) / 32;  // bytes that do not repeat are passed ever faster
      continue;
    }
    size_t n = kLeast;
    while (at + n < in.size() && in[at + n] == in[at + n - offset]) ++n;
    put_literal(out, in.substr(done, at - done));
    put_copy(out, offset, n);
    done = at += n;
  }
  put_literal(out, in.substr(done));
  return out;
}

}  // namespace weft_engine::wire

// Reads a message where its pieces lie, so that large values in it are copied once.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "remote/transport.h"
#include "wire/proto.h"

namespace weft_engine::remote {

// Whatever gives a bool: false, and nothing useful read, where the message is shorter than it should be.
class PieceReader {
 public:
  explicit PieceReader(const Message& m) : pieces_(m.pieces()), left_(m.size()) {}
  size_t left() const { return left_; }

  // `to` may be null: the bytes are skipped.
  bool copy(void* to, size_t n) {
    if (n > left_) return false;
    left_ -= n;
    auto* at = static_cast<char*>(to);
    while (n > 0) {
      const std::string_view piece = pieces_[at_].bytes;
      const size_t now = std::min(n, piece.size() - offset_);
      if (at) {
        std::memcpy(at, piece.data() + offset_, now);
        at += now;
      }
      n -= now;
      offset_ += now;
      if (offset_ < piece.size()) continue;
      ++at_;
      offset_ = 0;
    }
    return true;
  }
  // The memory of the next `n` bytes, where they are all that a piece has and somebody may take it over; else null, with nothing read.
  RefPtr<Buffer> take_buffer(size_t n) {
    if (offset_ > 0 || n > left_ || n == 0 || pieces_[at_].bytes.size() != n || !pieces_[at_].buffer) return nullptr;
    left_ -= n;
    return pieces_[at_++].buffer;
  }
  bool append_to(std::string& to, size_t n) {
    if (n > left_) return false;
    const size_t before = to.size();
    to.resize(before + n);
    return copy(to.data() + before, n);
  }
  bool varint(uint64_t& v) {
    v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      unsigned char byte;
      if (!copy(&byte, 1)) return false;
      v |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return true;
    }
    return false;
  }
  // The next tag and, of bytes, their length.
  bool tag(int& field, wire::WireType& type, uint64_t& length) {
    uint64_t t;
    if (!varint(t)) return false;
    field = int(t >> 3);
    type = wire::WireType(t & 7);
    switch (type) {
      case wire::WireType::kVarint: length = 0; return true;
      case wire::WireType::kFixed64: length = 8; return left_ >= 8;
      case wire::WireType::kFixed32: length = 4; return left_ >= 4;
      case wire::WireType::kBytes: return varint(length) && length <= left_;
    }
    return false;
  }
  // The value behind such a tag.
  bool skip(wire::WireType type, uint64_t length) {
    uint64_t v;
    return type == wire::WireType::kVarint ? varint(v) : copy(nullptr, length);
  }

 private:
  const std::vector<Message::Piece>& pieces_;
  size_t left_, at_ = 0, offset_ = 0;
};

}  // namespace weft_engine::remote

#include "wire/proto.h"

namespace weft_engine::wire {

bool ProtoReader::read_varint(uint64_t& v) {
  if (at_ != end_ && static_cast<int8_t>(*at_) >= 0) [[likely]] {  // one byte, as most are
    v = static_cast<uint8_t>(*at_++);
    return true;
  }
  v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) return false;
    const auto b = static_cast<uint8_t>(*at_++);
    v |= static_cast<uint64_t>(b & 127) << shift;
    if (b < 128) return true;
  }
  return false;
}

bool ProtoReader::next() {
  if (!ok_ || at_ == end_) return false;
  uint64_t tag;
  ok_ = false;  // until the field is read whole
  if (!read_varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
  field_ = static_cast<int>(tag >> 3);
  number_ = 0;
  bytes_ = {};
  switch (tag & 7) {
    case 0:
      type_ = WireType::kVarint;
      if (!read_varint(number_)) return false;
      break;
    case 1:
    case 5: {
      type_ = (tag & 7) == 1 ? WireType::kFixed64 : WireType::kFixed32;
      const ptrdiff_t size = (tag & 7) == 1 ? 8 : 4;
      if (end_ - at_ < size) return false;
      std::memcpy(&number_, at_, static_cast<size_t>(size));
      at_ += size;
      break;
    }
    case 2: {
      type_ = WireType::kBytes;
      uint64_t n;
      if (!read_varint(n) || n > static_cast<uint64_t>(end_ - at_)) return false;
      bytes_ = std::string_view(at_, n);
      at_ += n;
      break;
    }
    default: return false;  // groups are not used by any format here
  }
  return ok_ = true;
}

void ProtoWriter::raw_varint(uint64_t v) {
  while (v > 127) {
    out_.push_back(static_cast<char>((v & 127) | 128));
    v >>= 7;
  }
  out_.push_back(static_cast<char>(v));
}

void ProtoWriter::varint(int field, uint64_t v) {
  tag(field, WireType::kVarint);
  raw_varint(v);
}

void ProtoWriter::float32(int field, float v) {
  tag(field, WireType::kFixed32);
  out_.append(reinterpret_cast<const char*>(&v), 4);
}

void ProtoWriter::float64(int field, double v) {
  tag(field, WireType::kFixed64);
  out_.append(reinterpret_cast<const char*>(&v), 8);
}

void ProtoWriter::fixed32(int field, uint32_t v) {
  tag(field, WireType::kFixed32);
  out_.append(reinterpret_cast<const char*>(&v), 4);
}

void ProtoWriter::fixed64(int field, uint64_t v) {
  tag(field, WireType::kFixed64);
  out_.append(reinterpret_cast<const char*>(&v), 8);
}

void ProtoWriter::bytes(int field, std::string_view v) {
  tag(field, WireType::kBytes);
  raw_varint(v.size());
  out_.append(v);
}

void ProtoWriter::packed_varints(int field, const std::vector<int64_t>& v) {
  ProtoWriter inner;
  for (int64_t x : v) inner.raw_varint(static_cast<uint64_t>(x));
  bytes(field, inner.out_);
}

void ProtoWriter::packed_floats(int field, const std::vector<float>& v) {
  bytes(field, std::string_view(reinterpret_cast<const char*>(v.data()), v.size() * 4));
}

}  // namespace weft_engine::wire

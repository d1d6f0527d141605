// Reading and writing protobuf's wire format by hand. The engine exchanges a few dozen message types;
// this keeps a protobuf library, its global tables and its symbols out of libweft.
//
//   ProtoReader r(bytes);
//   while (r.next()) switch (r.field()) {
//     case 1: name = r.bytes(); break;
//     case 2: size = r.varint(); break;
//     default: break;             // skipped
//   }
//   if (!r.ok()) return data_loss(...);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace weft_engine::wire {

enum class WireType : int { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Hostile input is expected: every length is checked, and after the first error next() returns false.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Moves to the next field, past the value of the last one.
  bool next();
  bool ok() const { return ok_; }
  int field() const { return field_; }
  WireType type() const { return type_; }

  // The value of the current field; zero or empty if it has another wire type.
  uint64_t varint() const { return type_ == WireType::kVarint ? number_ : 0; }
  int64_t int64() const { return static_cast<int64_t>(varint()); }
  int32_t int32() const { return static_cast<int32_t>(varint()); }
  int64_t zigzag() const { return static_cast<int64_t>(varint() >> 1) ^ -static_cast<int64_t>(varint() & 1); }
  bool boolean() const { return varint() != 0; }
  uint64_t fixed64() const { return type_ == WireType::kFixed64 ? number_ : 0; }
  uint32_t fixed32() const { return type_ == WireType::kFixed32 ? static_cast<uint32_t>(number_) : 0; }
  float float32() const {
    uint32_t v = fixed32();
    float f;
    std::memcpy(&f, &v, 4);
    return f;
  }
  double float64() const {
    uint64_t v = fixed64();
    double f;
    std::memcpy(&f, &v, 8);
    return f;
  }
  std::string_view bytes() const { return type_ == WireType::kBytes ? bytes_ : std::string_view(); }
  std::string string() const { return std::string(bytes()); }
  ProtoReader message() const { return ProtoReader(bytes()); }

  // Repeated numbers come packed (one bytes field) or one by one; these append either form.
  template <class T>
  bool append_varints(std::vector<T>& out) {
    if (type_ == WireType::kVarint) {
      out.push_back(static_cast<T>(number_));
      return true;
    }
    ProtoReader inner(bytes());
    uint64_t v;
    while (inner.at_ < inner.end_) {
      if (!inner.read_varint(v)) return ok_ = false;
      out.push_back(static_cast<T>(v));
    }
    return true;
  }
  template <class T>
  bool append_fixed(std::vector<T>& out) {  // float, double, fixed32, fixed64
    if (type_ == WireType::kBytes) {
      if (bytes_.size() % sizeof(T)) return ok_ = false;
      const size_t n = bytes_.size() / sizeof(T), old = out.size();
      out.resize(old + n);
      if (n) std::memcpy(out.data() + old, bytes_.data(), bytes_.size());
      return true;
    }
    T v;
    if constexpr (sizeof(T) == 4) {
      uint32_t raw = fixed32();
      std::memcpy(&v, &raw, 4);
    } else {
      uint64_t raw = fixed64();
      std::memcpy(&v, &raw, 8);
    }
    out.push_back(v);
    return true;
  }

 private:
  bool read_varint(uint64_t& v);
  const char *at_, *end_;
  bool ok_ = true;
  int field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

class ProtoWriter {
 public:
  void varint(int field, uint64_t v);                  // always written
  void int64(int field, int64_t v) { varint(field, static_cast<uint64_t>(v)); }
  void boolean(int field, bool v) { varint(field, v); }
  void float32(int field, float v);
  void float64(int field, double v);
  void fixed32(int field, uint32_t v);
  void fixed64(int field, uint64_t v);
  void bytes(int field, std::string_view v);
  void message(int field, const ProtoWriter& m) { bytes(field, m.out_); }
  void packed_varints(int field, const std::vector<int64_t>& v);
  void packed_floats(int field, const std::vector<float>& v);
  void raw_varint(uint64_t v);

  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void tag(int field, WireType t) { raw_varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(t)); }
  std::string out_;
};

}  // namespace weft_engine::wire

// SPDX-License-Identifier: Apache-2.0
//
// What the message classes of these headers are made of: protobuf's wire format, and the functions that every message has. No protobuf library.
#ifndef TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_
#define TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace protobuf {

class MessageLite {
 public:
  virtual ~MessageLite() = default;
  bool ParseFromString(std::string_view bytes) {
    Clear();
    return MergeBytes(bytes);
  }
  bool ParseFromArray(const void* data, int size) {
    return ParseFromString(std::string_view(static_cast<const char*>(data), static_cast<size_t>(size)));
  }
  std::string SerializeAsString() const {
    std::string out;
    AppendBytes(&out);
    return out;
  }
  bool SerializeToString(std::string* out) const {
    *out = SerializeAsString();
    return true;
  }
  size_t ByteSizeLong() const { return SerializeAsString().size(); }
  virtual void Clear() = 0;

 protected:
  virtual bool MergeBytes(std::string_view bytes) = 0;
  virtual void AppendBytes(std::string* out) const = 0;
  friend class Wire;
};
using Message = MessageLite;

// A map of messages by name, as protobuf's Map is used.
template <class Key, class Value>
class Map : public std::map<Key, Value> {
 public:
  bool contains(const Key& key) const { return this->count(key) != 0; }
};

// One field after the other; ok() says at the end whether the bytes were well-formed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  int field() const { return field_; }
  int type() const { return type_; }
  uint64 number() const { return number_; }
  std::string_view bytes() const { return bytes_; }
  double real() const {
    double d;
    std::memcpy(&d, &number_, 8);
    return d;
  }
  std::string_view whole() const { return std::string_view(start_, static_cast<size_t>(rest_.data() - start_)); }  // the field with its tag
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    start_ = rest_.data();
    uint64 tag = 0;
    if (!Varint(&tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return ok_ = false;
    field_ = static_cast<int>(tag >> 3);
    type_ = static_cast<int>(tag & 7);
    switch (type_) {
      case 0: return ok_ = Varint(&number_);
      case 1: return ok_ = Fixed(8);
      case 5: return ok_ = Fixed(4);
      case 2: {
        uint64 size = 0;
        if (!Varint(&size) || size > rest_.size()) return ok_ = false;
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
      default: return ok_ = false;
    }
  }

 private:
  bool Varint(uint64* out) {
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const uint64 byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      *out |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }
  bool Fixed(size_t size) {
    if (rest_.size() < size) return false;
    number_ = 0;
    std::memcpy(&number_, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  std::string_view rest_, bytes_;
  const char* start_ = nullptr;
  uint64 number_ = 0;
  int field_ = 0, type_ = 0;
  bool ok_ = true;
};

class Wire {
 public:
  static void Varint(std::string* out, uint64 v) {
    for (; v >= 128; v >>= 7) out->push_back(static_cast<char>(v | 128));
    out->push_back(static_cast<char>(v));
  }
  static void Number(std::string* out, int field, uint64 v) {
    Varint(out, static_cast<uint64>(field) << 3);
    Varint(out, v);
  }
  static void Double(std::string* out, int field, double v) {
    Varint(out, static_cast<uint64>(field) << 3 | 1);
    out->append(reinterpret_cast<const char*>(&v), 8);
  }
  static void Bytes(std::string* out, int field, std::string_view v) {
    Varint(out, static_cast<uint64>(field) << 3 | 2);
    Varint(out, v.size());
    out->append(v);
  }
  static bool Parse(MessageLite* m, std::string_view bytes) { return m->MergeBytes(bytes); }
};

}  // namespace protobuf
}  // namespace tensorflow

// For message classes: a field with its accessors.
#define WEFT_FIELD(type, name, initial)            \
 public:                                           \
  type name() const { return name##_; }            \
  void set_##name(type value) { name##_ = value; } \
                                                   \
 private:                                          \
  type name##_ = initial;
#define WEFT_STRING_FIELD(name)                                      \
 public:                                                             \
  const std::string& name() const { return name##_; }                \
  void set_##name(std::string value) { name##_ = std::move(value); } \
  std::string* mutable_##name() { return &name##_; }                 \
                                                                     \
 private:                                                            \
  std::string name##_;
#define WEFT_MESSAGE_FIELD(Type, name)                                       \
 public:                                                                     \
  bool has_##name() const { return name##_ != nullptr; }                     \
  const Type& name() const {                                                 \
    static const Type* const kNone = new Type;                               \
    return name##_ ? *name##_ : *kNone;                                      \
  }                                                                          \
  Type* mutable_##name() {                                                   \
    if (!name##_) name##_ = std::make_shared<Type>();                        \
    if (name##_.use_count() > 1) name##_ = std::make_shared<Type>(*name##_); \
    return name##_.get();                                                    \
  }                                                                          \
  void clear_##name() { name##_.reset(); }                                   \
                                                                             \
 private:                                                                    \
  std::shared_ptr<Type> name##_;

#endif  // TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_

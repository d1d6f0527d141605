// The tables behind wire/schema.h, as the generator writes them from proto/ and as a FileDescriptorSet is turned
// into. Plain numbers without pointers: the built-in tables need no work at start-up. Names are offsets into one
// block of zero-terminated strings. Messages and enums are sorted by name, fields and values by number.
#pragma once

#include <cstdint>

namespace weft_engine::wire {

// FieldDescriptorProto.Type; kNone is a name that is reserved, which text may mention and no one reads.
enum class FieldType : uint8_t {
  kNone = 0,
  kDouble = 1,
  kFloat = 2,
  kInt64 = 3,
  kUint64 = 4,
  kInt32 = 5,
  kFixed64 = 6,
  kFixed32 = 7,
  kBool = 8,
  kString = 9,
  kGroup = 10,
  kMessage = 11,
  kBytes = 12,
  kUint32 = 13,
  kEnum = 14,
  kSfixed32 = 15,
  kSfixed64 = 16,
  kSint32 = 17,
  kSint64 = 18,
};

constexpr bool is_packable(FieldType t) {
  return t != FieldType::kNone && t != FieldType::kString && t != FieldType::kBytes && t != FieldType::kMessage && t != FieldType::kGroup;
}

struct FieldFlags {
  enum : int { kRepeated = 1, kPacked = 2, kPresence = 4, kUtf8 = 8, kRequired = 16 };
};
constexpr int kMapEntry = 1;    // flag of a message
constexpr int kClosedEnum = 1;  // flag of an enum: only the listed numbers

struct FieldRow {
  uint32_t name;
  uint32_t oneof;     // name; 0: none
  uint32_t fallback;  // the default as text; 0: none
  int32_t number;     // 0: the name is reserved
  int32_t ref;        // message or enum
  uint8_t type;       // FieldType
  uint8_t flags;
};
// The fields of message i are those from messages[i].first up to messages[i + 1].first; one row more closes the list.
struct MessageRow {
  uint32_t name, first;
  int32_t flags;
};
struct EnumRow {
  uint32_t name, first;
  int32_t flags;
};
struct ValueRow {
  uint32_t name;
  int32_t number;
};

}  // namespace weft_engine::wire

// One level of a serialized message, read by its schema as protobuf reads it: the last value of a single field
// counts, messages given twice are merged, a member of a oneof drops the others, packed and unpacked lists are one.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "wire/schema.h"

namespace weft_engine::wire {

// Messages deeper than this are refused, as protobuf does.
constexpr int kMaxMessageDepth = 100;

// A number is sign-extended, un-zigzagged and cut to the width of its type; a float is its bits.
struct WireValue {
  uint64_t number = 0;
  std::string_view bytes = {};
};

class MessageView {
 public:
  struct Field {
    FieldDef def;
    size_t first, count;
  };
  struct Unknown {
    int number;
    WireType type;
    WireValue value;
  };

  MessageView() = default;
  MessageView(MessageView&&) = default;
  MessageView& operator=(MessageView&&) = default;
  MessageView(const MessageView&) = delete;  // a copy's values would look into what the original merged

  // The view borrows the bytes. DataLoss if they are no message of this type.
  static core::Result<MessageView> read(MessageDef def, std::string_view bytes);

  MessageDef def() const { return def_; }
  const std::vector<Field>& fields() const { return fields_; }  // those that are set, by number
  std::span<const WireValue> values(const Field& f) const { return std::span(values_).subspan(f.first, f.count); }
  const WireValue* find(int number) const;  // the first value; null if not set
  const std::vector<Unknown>& unknown() const { return unknown_; }

 private:
  MessageDef def_;
  std::vector<Field> fields_;
  std::vector<WireValue> values_;
  std::vector<Unknown> unknown_;
  std::deque<std::string> merged_;  // bytes of messages that came in pieces
};

// The entries of a map: one for each key, the last one given, in the order of the keys. The views borrow the bytes.
core::Result<std::vector<MessageView>> read_map(MessageDef entry, std::span<const WireValue> entries);

// Appends one value as it lies on the wire, behind its tag if wanted.
void append_value(std::string& out, FieldDef field, const WireValue& value, bool with_tag);

}  // namespace weft_engine::wire

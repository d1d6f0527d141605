// What messages look like: fields by name and number. Built in are the formats of proto/; others come from a
// FileDescriptorSet at run time (DecodeProto). Readers of text and printers work on either.
//
//   MessageDef graph = Schema::builtin().find("tensorflow.GraphDef");
//   graph.find("node").message().name();   // "tensorflow.NodeDef"
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "wire/proto.h"
#include "wire/schema_rows.h"

namespace weft_engine::wire {

class Schema;
class MessageDef;

// Handles into a schema: cheap to copy, false where nothing was found, alive as long as the schema.
class EnumDef {
 public:
  EnumDef() = default;
  EnumDef(const Schema* schema, int index) : schema_(schema), index_(index) {}
  std::string_view name() const;
  bool closed() const;                                     // proto2: only the listed numbers
  std::span<const ValueRow> values() const;                // by number
  std::string_view name_of(int32_t number) const;          // empty: not listed
  const int32_t* number_of(std::string_view value) const;  // null: not listed
  std::string_view value_name(const ValueRow& row) const;

 private:
  const Schema* schema_ = nullptr;
  int index_ = 0;
};

class FieldDef {
 public:
  FieldDef() = default;
  FieldDef(const Schema* schema, const FieldRow* row) : schema_(schema), row_(row) {}
  explicit operator bool() const { return row_ != nullptr; }
  bool operator==(const FieldDef& o) const { return row_ == o.row_; }

  std::string_view name() const;
  int number() const { return row_->number; }
  FieldType type() const { return FieldType(row_->type); }
  bool repeated() const { return row_->flags & FieldFlags::kRepeated; }
  bool packed() const { return row_->flags & FieldFlags::kPacked; }
  bool required() const { return row_->flags & FieldFlags::kRequired; }
  // A zero that was set differs from one that was not: messages, members of a oneof, optional fields.
  bool has_presence() const { return row_->flags & FieldFlags::kPresence; }
  bool must_be_utf8() const { return row_->flags & FieldFlags::kUtf8; }
  bool is_map() const;
  std::string_view oneof() const;          // name; empty: none
  std::string_view default_value() const;  // as text; empty: none
  MessageDef message() const;              // of a field of type kMessage or kGroup
  EnumDef enumeration() const { return {schema_, row_->ref}; }

 private:
  const Schema* schema_ = nullptr;
  const FieldRow* row_ = nullptr;
};

class MessageDef {
 public:
  MessageDef() = default;
  MessageDef(const Schema* schema, int index) : schema_(schema), index_(index) {}
  explicit operator bool() const { return schema_ != nullptr; }

  const Schema& schema() const { return *schema_; }
  std::string_view name() const;
  bool map_entry() const;
  std::span<const FieldRow> fields() const;  // by number; reserved names come first, as number 0
  FieldDef field(const FieldRow& row) const { return {schema_, &row}; }
  FieldDef find(std::string_view name) const;
  FieldDef find(int number) const;
  bool is_reserved(std::string_view name) const;

 private:
  const FieldRow* row_named(std::string_view name) const;
  const Schema* schema_ = nullptr;
  int index_ = 0;
};

class Schema {
 public:
  static const Schema& builtin();
  // From a serialized FileDescriptorSet.
  static core::Result<std::shared_ptr<const Schema>> parse(std::string_view file_descriptor_set);

  MessageDef find(std::string_view message) const;  // full name, without a leading dot
  std::span<const MessageRow> messages() const { return messages_.first(messages_.size() - 1); }
  std::span<const EnumRow> enums() const { return enums_.first(enums_.size() - 1); }

  struct Tables {
    std::string names;
    std::vector<MessageRow> messages;
    std::vector<FieldRow> fields;
    std::vector<EnumRow> enums;
    std::vector<ValueRow> values;
  };
  explicit Schema(Tables tables);
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

 private:
  friend class EnumDef;
  friend class FieldDef;
  friend class MessageDef;
  Schema(const char* names, std::span<const MessageRow> messages, std::span<const FieldRow> fields, std::span<const EnumRow> enums,
         std::span<const ValueRow> values);
  std::string_view text(uint32_t offset) const { return names_ + offset; }

  Tables own_;  // of a schema made at run time
  const char* names_ = nullptr;
  std::span<const MessageRow> messages_;
  std::span<const FieldRow> fields_;
  std::span<const EnumRow> enums_;
  std::span<const ValueRow> values_;
};

// How a value of the type lies on the wire when it is not packed.
WireType wire_type(FieldType type);

}  // namespace weft_engine::wire

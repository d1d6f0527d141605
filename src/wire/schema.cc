#include "wire/schema.h"

#include <algorithm>

namespace weft_engine::wire {
namespace {

#include "wire/schema_tables.inc"

constexpr size_t kTableBytes = sizeof(kNames) + sizeof(kMessages) + sizeof(kFields) + sizeof(kEnums) + sizeof(kValues);
static_assert(kTableBytes < 60'000);

}  // namespace

const Schema& Schema::builtin() {
  static const Schema schema(kNames, kMessages, kFields, kEnums, kValues);
  return schema;
}

Schema::Schema(const char* names, std::span<const MessageRow> messages, std::span<const FieldRow> fields, std::span<const EnumRow> enums,
               std::span<const ValueRow> values)
    : names_(names), messages_(messages), fields_(fields), enums_(enums), values_(values) {}

Schema::Schema(Tables tables) : own_(std::move(tables)) {
  names_ = own_.names.c_str();
  messages_ = own_.messages;
  fields_ = own_.fields;
  enums_ = own_.enums;
  values_ = own_.values;
}

MessageDef Schema::find(std::string_view message) const {
  const auto rows = messages();
  const auto it =
      std::lower_bound(rows.begin(), rows.end(), message, [&](const MessageRow& r, std::string_view name) { return text(r.name) < name; });
  if (it == rows.end() || text(it->name) != message) return {};
  return {this, int(it - rows.begin())};
}

std::string_view EnumDef::name() const { return schema_->text(schema_->enums_[size_t(index_)].name); }
bool EnumDef::closed() const { return schema_->enums_[size_t(index_)].flags & kClosedEnum; }
std::span<const ValueRow> EnumDef::values() const {
  const auto first = schema_->enums_[size_t(index_)].first;
  return schema_->values_.subspan(first, schema_->enums_[size_t(index_) + 1].first - first);
}
std::string_view EnumDef::value_name(const ValueRow& row) const { return schema_->text(row.name); }
std::string_view EnumDef::name_of(int32_t number) const {
  const auto rows = values();
  const auto it = std::lower_bound(rows.begin(), rows.end(), number, [](const ValueRow& r, int32_t n) { return r.number < n; });
  return it != rows.end() && it->number == number ? value_name(*it) : std::string_view();
}
const int32_t* EnumDef::number_of(std::string_view value) const {
  for (const ValueRow& r : values())
    if (value_name(r) == value) return &r.number;
  return nullptr;
}

std::string_view FieldDef::name() const { return schema_->text(row_->name); }
std::string_view FieldDef::oneof() const { return schema_->text(row_->oneof); }
std::string_view FieldDef::default_value() const { return schema_->text(row_->fallback); }
MessageDef FieldDef::message() const { return {schema_, row_->ref}; }
bool FieldDef::is_map() const { return type() == FieldType::kMessage && repeated() && message().map_entry(); }

std::string_view MessageDef::name() const { return schema_->text(schema_->messages_[size_t(index_)].name); }
bool MessageDef::map_entry() const { return schema_->messages_[size_t(index_)].flags & kMapEntry; }
std::span<const FieldRow> MessageDef::fields() const {
  const auto first = schema_->messages_[size_t(index_)].first;
  return schema_->fields_.subspan(first, schema_->messages_[size_t(index_) + 1].first - first);
}
const FieldRow* MessageDef::row_named(std::string_view name) const {
  for (const FieldRow& r : fields())
    if (schema_->text(r.name) == name) return &r;
  return nullptr;
}
FieldDef MessageDef::find(std::string_view name) const {
  const FieldRow* row = row_named(name);
  return row && row->number ? FieldDef(schema_, row) : FieldDef();
}
bool MessageDef::is_reserved(std::string_view name) const {
  const FieldRow* row = row_named(name);
  return row && !row->number;
}
FieldDef MessageDef::find(int number) const {
  const auto rows = fields();
  const auto it = std::lower_bound(rows.begin(), rows.end(), number, [](const FieldRow& r, int n) { return r.number < n; });
  return it != rows.end() && it->number == number && number ? FieldDef(schema_, &*it) : FieldDef();
}

WireType wire_type(FieldType type) {
  switch (type) {
    case FieldType::kDouble:
    case FieldType::kFixed64:
    case FieldType::kSfixed64: return WireType::kFixed64;
    case FieldType::kFloat:
    case FieldType::kFixed32:
    case FieldType::kSfixed32: return WireType::kFixed32;
    case FieldType::kString:
    case FieldType::kGroup:
    case FieldType::kMessage:
    case FieldType::kBytes: return WireType::kBytes;
    default: return WireType::kVarint;
  }
}

}  // namespace weft_engine::wire

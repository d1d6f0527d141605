// A schema from a FileDescriptorSet (google/protobuf/descriptor.proto): the message types of DecodeProto and
// EncodeProto that are known only at run time.
#include <algorithm>
#include <map>

#include "wire/schema.h"

namespace weft_engine::wire {
namespace {

using core::Result;
using core::Status;

constexpr int kMaxDepth = 64;  // of messages inside messages

enum class Syntax { kProto2, kProto3, kEditions };

struct Field {
  std::string name, type_name, default_value;
  int number = 0, label = 0, type = 0, packed = -1, oneof = -1;
  bool proto3_optional = false;
};
struct Message {
  Syntax syntax = Syntax::kProto2;
  bool map_entry = false;
  std::vector<Field> fields;
  std::vector<std::string> oneofs, reserved;
};
struct Enum {
  bool closed = false;
  std::vector<std::pair<int, std::string>> values;
};

std::string qualified(const std::string& scope, std::string_view name) { return scope.empty() ? std::string(name) : core::cat(scope, ".", name); }

bool read_field(std::string_view bytes, Field& f) {
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: f.name = r.string(); break;
      case 3: f.number = r.int32(); break;
      case 4: f.label = r.int32(); break;
      case 5: f.type = r.int32(); break;
      case 6: f.type_name = r.string().substr(r.bytes().starts_with('.') ? 1 : 0); break;
      case 7: f.default_value = r.string(); break;
      case 8: {
        ProtoReader options = r.message();
        while (options.next())
          if (options.field() == 2) f.packed = options.boolean();
        break;
      }
      case 9: f.oneof = r.int32(); break;
      case 17: f.proto3_optional = r.boolean(); break;
      default: break;
    }
  }
  return r.ok() && f.type >= 1 && f.type <= 18 && f.number > 0 && f.number < (1 << 29);
}

class Builder {
 public:
  bool add_file(std::string_view bytes) {
    std::string package, syntax;
    std::vector<std::string_view> messages, enums;
    ProtoReader r(bytes);
    while (r.next()) {
      if (r.field() == 2) package = r.string();
      else if (r.field() == 4) messages.push_back(r.bytes());
      else if (r.field() == 5) enums.push_back(r.bytes());
      else if (r.field() == 12) syntax = r.string();
    }
    syntax_ = syntax == "proto3" ? Syntax::kProto3 : syntax == "editions" ? Syntax::kEditions : Syntax::kProto2;
    bool good = r.ok();
    for (auto m : messages) good = good && add_message(m, package, 0);
    for (auto e : enums) good = good && add_enum(e, package);
    return good;
  }

  Result<Schema::Tables> finish() {
    Schema::Tables t;
    t.names.push_back('\0');
    for (auto& [name, m] : messages_) {
      t.messages.push_back({text(t, name), uint32_t(t.fields.size()), m.map_entry ? kMapEntry : 0});
      for (const std::string& r : m.reserved) t.fields.push_back({text(t, r), 0, 0, 0, -1, 0, 0});
      std::stable_sort(m.fields.begin(), m.fields.end(), [](const Field& a, const Field& b) { return a.number < b.number; });
      for (const Field& f : m.fields) WEFT_RETURN_IF_ERROR(add_row(t, name, m, f));
    }
    t.messages.push_back({0, uint32_t(t.fields.size()), 0});
    for (auto& [name, e] : enums_) {
      t.enums.push_back({text(t, name), uint32_t(t.values.size()), e.closed ? kClosedEnum : 0});
      std::stable_sort(e.values.begin(), e.values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [number, value] : e.values) t.values.push_back({text(t, value), number});
    }
    t.enums.push_back({0, uint32_t(t.values.size()), 0});
    return t;
  }

 private:
  bool add_message(std::string_view bytes, const std::string& scope, int depth) {
    if (depth > kMaxDepth) return false;
    Message m{.syntax = syntax_};
    std::string name;
    std::vector<std::string_view> nested, enums;
    ProtoReader r(bytes);
    while (r.next()) {
      switch (r.field()) {
        case 1: name = qualified(scope, r.bytes()); break;
        case 2:
          if (!read_field(r.bytes(), m.fields.emplace_back())) return false;
          break;
        case 3: nested.push_back(r.bytes()); break;
        case 4: enums.push_back(r.bytes()); break;
        case 7: {
          ProtoReader options = r.message();
          while (options.next())
            if (options.field() == 7) m.map_entry = options.boolean();
          break;
        }
        case 8: {
          ProtoReader oneof = r.message();
          m.oneofs.emplace_back();
          while (oneof.next())
            if (oneof.field() == 1) m.oneofs.back() = oneof.string();
          break;
        }
        case 10: m.reserved.push_back(r.string()); break;
        default: break;
      }
    }
    bool good = r.ok();
    for (auto n : nested) good = good && add_message(n, name, depth + 1);
    for (auto e : enums) good = good && add_enum(e, name);
    messages_[name] = std::move(m);
    return good;
  }

  bool add_enum(std::string_view bytes, const std::string& scope) {
    std::string name;
    Enum e{.closed = syntax_ == Syntax::kProto2, .values = {}};
    ProtoReader r(bytes);
    while (r.next()) {
      if (r.field() == 1) name = qualified(scope, r.bytes());
      if (r.field() != 2) continue;
      ProtoReader v = r.message();
      auto& value = e.values.emplace_back();
      while (v.next()) {
        if (v.field() == 1) value.second = v.string();
        if (v.field() == 2) value.first = v.int32();
      }
    }
    enums_[name] = std::move(e);
    return r.ok();
  }

  uint32_t text(Schema::Tables& t, std::string_view name) {
    if (name.empty()) return 0;
    const auto offset = uint32_t(t.names.size());
    t.names.append(name.substr(0, name.find('\0'))).push_back('\0');
    return offset;
  }

  template <class Map>
  static int index_of(const Map& map, const std::string& name) {
    const auto it = map.find(name);
    return it == map.end() ? -1 : int(std::distance(map.begin(), it));
  }

  Status add_row(Schema::Tables& t, const std::string& message, const Message& m, const Field& f) {
    const auto type = FieldType(f.type);
    int ref = -1;
    if (type == FieldType::kMessage || type == FieldType::kGroup) ref = index_of(messages_, f.type_name);
    if (type == FieldType::kEnum) ref = index_of(enums_, f.type_name);
    if (ref < 0 && (type == FieldType::kMessage || type == FieldType::kGroup || type == FieldType::kEnum))
      return core::invalid_argument("\"", f.type_name, "\" of ", message, ".", f.name, " is not defined.");
    const bool repeated = f.label == 3, in_oneof = f.oneof >= 0 && size_t(f.oneof) < m.oneofs.size() && !f.proto3_optional;
    int flags = 0;
    if (repeated) flags |= FieldFlags::kRepeated;
    if (f.label == 2) flags |= FieldFlags::kRequired;
    if (repeated && is_packable(type) && (f.packed >= 0 ? f.packed != 0 : m.syntax != Syntax::kProto2)) flags |= FieldFlags::kPacked;
    if (!repeated && (m.syntax != Syntax::kProto3 || f.oneof >= 0 || type == FieldType::kMessage)) flags |= FieldFlags::kPresence;
    if (type == FieldType::kString && m.syntax != Syntax::kProto2) flags |= FieldFlags::kUtf8;
    const uint32_t oneof = in_oneof ? oneof_name(t, message, m.oneofs[size_t(f.oneof)]) : 0;
    t.fields.push_back({text(t, f.name), oneof, text(t, f.default_value), f.number, ref, uint8_t(f.type), uint8_t(flags)});
    return {};
  }
  // One text for all members, which are compared by its place.
  uint32_t oneof_name(Schema::Tables& t, const std::string& message, const std::string& oneof) {
    uint32_t& offset = oneofs_[{message, oneof}];
    if (!offset) offset = text(t, oneof);
    return offset;
  }

  Syntax syntax_ = Syntax::kProto2;
  std::map<std::string, Message> messages_;
  std::map<std::string, Enum> enums_;
  std::map<std::pair<std::string, std::string>, uint32_t> oneofs_;
};

}  // namespace

Result<std::shared_ptr<const Schema>> Schema::parse(std::string_view bytes) {
  if (bytes.size() > UINT32_MAX / 2) return core::invalid_argument("The FileDescriptorSet is too large: ", bytes.size(), " bytes");
  Builder builder;
  ProtoReader r(bytes);
  bool good = true;
  while (good && r.next())
    if (r.field() == 1) good = builder.add_file(r.bytes());
  if (!good || !r.ok()) return core::invalid_argument("Failed to parse the FileDescriptorSet");
  WEFT_ASSIGN(Tables tables, builder.finish());
  return std::shared_ptr<const Schema>(std::make_shared<Schema>(std::move(tables)));
}

}  // namespace weft_engine::wire

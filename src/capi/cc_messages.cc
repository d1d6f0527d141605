// The message classes of TensorFlow's C++ headers (tensorflow/core/platform/protobuf.h): tables of their fields, and their text.
#include <map>
#include <mutex>

#include "capi/cc_internal.h"
#include "wire/cpp_text.h"
#include "wire/text_format.h"

using namespace weft_engine::capi;  // NOLINT
namespace wire = weft_engine::wire;

namespace {

struct Type : weft_message_type {
  std::vector<weft_message_field> rows;
};

// The tables refer to each other, and some to themselves.
class Types {
 public:
  const weft_message_type* of(wire::MessageDef message) {
    auto [it, fresh] = types_.try_emplace(message.name());
    if (fresh) fill(message, *(it->second = std::make_unique<Type>()));
    return it->second.get();
  }

 private:
  void fill(wire::MessageDef message, Type& type) {
    std::map<std::string_view, int> oneofs;
    int fields = 0, slots = 0;
    for (const auto& row : message.fields()) fields += row.number != 0;
    for (const auto& row : message.fields()) {
      const wire::FieldDef f = message.field(row);
      if (f.number() == 0) continue;
      weft_message_field out{f.number(), int(f.type()), 0, (f.repeated() ? 1 : 0) | (f.packed() ? 2 : 0), -1, nullptr};
      const bool sub = f.type() == wire::FieldType::kMessage;
      if (f.is_map()) {
        const wire::FieldDef value = f.message().find(2);
        out.key_kind = int(f.message().find(1).type());
        out.kind = int(value.type());
        if (value.type() == wire::FieldType::kMessage) out.sub = of(value.message());
      } else if (sub) {
        out.sub = of(f.message());
      }
      // In the order of schemagen/classes.cc.
      if (f.has_presence() && !f.repeated() && (!sub || !f.oneof().empty()))
        out.set = oneofs.try_emplace(f.oneof().empty() ? f.name() : f.oneof(), fields + slots).first->second, slots = int(oneofs.size());
      type.rows.push_back(out);
    }
    type.name = text_of(message.name());
    type.fields = type.rows.data();
    type.num_fields = fields;
    type.num_slots = fields + slots + 1;
  }
  std::map<std::string_view, std::unique_ptr<Type>> types_;
};

}  // namespace

const weft_message_type* weft_message_type_of(weft_text name) {
  static std::mutex mutex;
  static auto* const types = new Types;
  const std::lock_guard lock(mutex);
  const wire::MessageDef message = wire::Schema::builtin().find(view_of(name));
  return message ? types->of(message) : nullptr;
}

TF_Buffer* weft_message_to_text(weft_text type, weft_text bytes, int form) {
  auto text = form == 2 ? wire::binary_to_json(view_of(type), view_of(bytes)) : wire::binary_to_cpp_text(view_of(type), view_of(bytes));
  if (!text.ok()) return new_buffer("");
  if (form != 1) return new_buffer(*text);
  // Texts have no line ends of their own: they are written with escapes.
  std::string line;
  for (size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c != '\n' && c != ' ') line += c;
    else if (!line.empty() && line.back() != ' ') line += ' ';
    if (c == '"') {
      for (++i; i < text->size(); ++i) {
        line += (*text)[i];
        if ((*text)[i] == '"') break;
        if ((*text)[i] == '\\' && i + 1 < text->size()) line += (*text)[++i];
      }
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return new_buffer(line);
}
TF_Buffer* weft_message_from_text(weft_text type, weft_text text) {
  auto bytes = wire::text_to_binary(view_of(type), view_of(text));
  return bytes.ok() ? new_buffer(*bytes) : nullptr;
}

// TF_ApiDefMap: ApiDefs of a list of ops, and changes to them read from protobuf's text form.
#include <map>

#include "capi/internal.h"
#include "io/op_def.h"
#include "wire/proto.h"
#include "wire/text_format.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::core::cat;
using weft_engine::engine::Engine;
using weft_engine::wire::ProtoReader;
using weft_engine::wire::ProtoWriter;
using weft_engine::wire::WireType;

struct TF_ApiDefMap {
  std::map<std::string, std::string, std::less<>> defs;  // by op
  bool read = false;  // TensorFlow allows no change after the first look
};

namespace {

// Field numbers of ApiDef.
enum : int { kName = 1, kEndpoint = 3, kInArg = 4, kOutArg = 5, kAttr = 6, kDescription = 8, kPrefix = 9, kSuffix = 10, kArgOrder = 11 };

// TensorFlow's api_def files write long texts as `<<END`, lines, `END`; here they become quoted strings.
std::string without_multiline(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t at = text.find("<<");
    const size_t line_end = at == std::string_view::npos ? at : text.find('\n', at);
    if (line_end == std::string_view::npos) break;
    const std::string_view marker = text.substr(at + 2, line_end - at - 2);
    size_t end = text.find(cat("\n", marker), line_end);
    if (marker.empty() || end == std::string_view::npos) break;
    out += text.substr(0, at);
    out += '"';
    const std::string_view body = end > line_end ? text.substr(line_end + 1, end - line_end - 1) : std::string_view();
    for (char c : body) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') out += "\\n";
      else out += c;
    }
    out += '"';
    text.remove_prefix(end + 1 + marker.size());
  }
  return out.append(text);
}

struct Field {
  int number;
  WireType type;
  uint64_t varint;
  std::string bytes;
};

std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> list;
  ProtoReader r(message);
  while (r.next()) list.push_back({r.field(), r.type(), r.varint(), r.string()});
  return list;
}
std::string joined(const std::vector<Field>& fields) {
  ProtoWriter w;
  for (const Field& f : fields) {
    if (f.type == WireType::kVarint) w.varint(f.number, f.varint);
    else w.bytes(f.number, f.bytes);
  }
  return w.take();
}
const Field* find(const std::vector<Field>& fields, int number) {
  for (const Field& f : fields) {
    if (f.number == number) return &f;
  }
  return nullptr;
}
std::string text_of(const std::vector<Field>& fields, int number) {
  const Field* f = find(fields, number);
  return f ? f->bytes : std::string();
}
void replace(std::vector<Field>& fields, Field by) {
  for (Field& f : fields) {
    if (f.number != by.number) continue;
    f = std::move(by);
    return;
  }
  fields.push_back(std::move(by));
}

// Arguments and attributes are merged with those of the same name.
Status merge_named(std::vector<Field>& base, const Field& change, const std::string& op) {
  const auto changes = fields_of(change.bytes);
  const std::string name = text_of(changes, 1);
  for (Field& f : base) {
    if (f.number != change.number) continue;
    auto entry = fields_of(f.bytes);
    if (text_of(entry, 1) != name) continue;
    for (const Field& c : changes) replace(entry, c);
    f.bytes = joined(entry);
    return {};
  }
  return failed_precondition(change.number == kAttr ? "Attribute " : "Argument ", name, " not defined in base api for ", op);
}

Status merge(std::string& def, const std::vector<Field>& changes, const std::string& op) {
  auto base = fields_of(def);
  for (int whole : {int(kEndpoint), int(kArgOrder)}) {  // given at all, these lists replace the old ones
    if (find(changes, whole)) std::erase_if(base, [&](const Field& f) { return f.number == whole; });
  }
  for (const Field& c : changes) {
    if (c.number == kEndpoint || c.number == kArgOrder) base.push_back(c);
    else if (c.number == kInArg || c.number == kOutArg || c.number == kAttr) WEFT_RETURN_IF_ERROR(merge_named(base, c, op));
    else if (c.number != kPrefix && c.number != kSuffix) replace(base, c);
  }
  std::string description = text_of(base, kDescription);
  const std::string before = description;
  if (const auto p = text_of(changes, kPrefix); !p.empty()) description = description.empty() ? p : p + "\n" + description;
  if (const auto p = text_of(changes, kSuffix); !p.empty()) description += description.empty() ? p : "\n" + p;
  if (description != before) replace(base, {kDescription, WireType::kBytes, 0, description});
  def = joined(base);
  return {};
}

}  // namespace

TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list, TF_Status* status) {
  TF_ApiDefMap* map = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op_list);
    if (op_list->length) WEFT_NOT_NULL(op_list->data);
    auto made = std::make_unique<TF_ApiDefMap>();
    ProtoReader r({static_cast<const char*>(op_list->data), op_list->length});
    while (r.next()) {
      if (r.field() != 1) continue;
      auto op = r.message();
      while (op.next()) {
        if (op.field() != 1) continue;
        const std::string name = op.string();
        const auto* spec = Engine::get().registry().find(name);
        ProtoWriter bare;
        bare.bytes(kName, name);
        made->defs[name] = spec ? weft_engine::io::encode_api_def(*spec) : bare.take();
      }
    }
    if (!r.ok()) return invalid_argument("Unparseable OpList");
    map = made.release();
    return {};
  });
  return map;
}
void TF_DeleteApiDefMap(TF_ApiDefMap* map) { delete map; }

void TF_ApiDefMapPut(TF_ApiDefMap* map, const char* text, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(map);
    WEFT_NOT_NULL(text);
    if (map->read) return failed_precondition("TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been called.");
    auto bytes = weft_engine::wire::text_to_binary("tensorflow.ApiDefs", without_multiline({text, length}));
    if (!bytes.ok()) return invalid_argument("Unparseable ApiDefs: ", bytes.status().message());
    ProtoReader r(*bytes);
    while (r.next()) {
      const auto changes = fields_of(r.bytes());
      const std::string op = text_of(changes, kName);
      // Ops outside the map are left out, so that one file can serve several lists.
      if (auto it = map->defs.find(op); it != map->defs.end()) WEFT_RETURN_IF_ERROR(merge(it->second, changes, op));
    }
    return {};
  });
}

TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* map, const char* name, size_t length, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(map);
    WEFT_NOT_NULL(name);
    map->read = true;
    auto it = map->defs.find(std::string_view(name, length));
    if (it != map->defs.end()) out = new_buffer(it->second);  // none is not an error
    return {};
  });
  return out;
}

#include "saved_model/fingerprint.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "io/message_file.h"
#include "kernels/cpu/hash.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/schema.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {
namespace {

using wire::MessageDef;
using wire::ProtoReader;
using wire::ProtoWriter;
using wire::WireType;

using wire::file_exists;

void copy_field(const ProtoReader& r, ProtoWriter& w) {
  switch (r.type()) {
    case WireType::kVarint: w.varint(r.field(), r.varint()); break;
    case WireType::kFixed64: w.fixed64(r.field(), r.fixed64()); break;
    case WireType::kFixed32: w.float32(r.field(), r.float32()); break;
    case WireType::kBytes: w.bytes(r.field(), r.bytes()); break;
  }
}

// The key of a map's entry in a form that sorts as protobuf does: numbers by value, texts by bytes.
std::pair<uint64_t, std::string> key_of(std::string_view entry) {
  std::pair<uint64_t, std::string> key(0, "");
  ProtoReader r(entry);
  while (r.next()) {
    if (r.field() != 1) continue;
    if (r.type() == WireType::kBytes) key.second = r.string();
    else key.first = r.varint();
  }
  return key;
}

// The message as C++'s protobuf writes it when asked to be deterministic: fields by number, maps by key. Python writes the
// same but for maps whose keys are numbers, which it sorts downwards.
Result<std::string> canonical(MessageDef def, std::string_view bytes, int depth) {
  if (depth > 100) return data_loss("a message is nested too deeply");
  std::map<int, std::vector<std::pair<std::pair<uint64_t, std::string>, std::string>>> fields;  // number -> key, field
  ProtoReader r(bytes);
  while (r.next()) {
    const wire::FieldDef f = def ? def.find(r.field()) : wire::FieldDef();
    ProtoWriter w;
    std::pair<uint64_t, std::string> key;
    if (f && f.type() == wire::FieldType::kMessage && r.type() == WireType::kBytes) {
      WEFT_ASSIGN(std::string inner, canonical(f.message(), r.bytes(), depth + 1));
      if (f.is_map()) key = key_of(inner);
      w.bytes(r.field(), inner);
    } else {
      copy_field(r, w);
    }
    fields[r.field()].emplace_back(std::move(key), w.take());
  }
  if (!r.ok()) return data_loss("malformed ", def ? def.name() : "message");
  std::string out;
  for (auto& [number, values] : fields) {
    std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, field] : values) out += field;
  }
  return out;
}

}  // namespace

Result<std::optional<Fingerprint>> read_fingerprint(const std::string& dir) {
  const std::string path = dir + "/fingerprint.pb";
  if (!file_exists(path)) return std::optional<Fingerprint>();
  WEFT_ASSIGN(std::string bytes, io::read_file(path));
  Fingerprint f;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: f.saved_model_checksum = r.varint(); break;
      case 2: f.graph_def_program_hash = r.varint(); break;
      case 3: f.signature_def_hash = r.varint(); break;
      case 4: f.saved_object_graph_hash = r.varint(); break;
      case 5: f.checkpoint_hash = r.varint(); break;
      case 6: {
        ProtoReader v = r.message();
        while (v.next()) {
          if (v.field() == 1) f.producer = v.int32();
        }
        break;
      }
      case 7: f.uuid = r.string(); break;
      default: break;
    }
  }
  if (!r.ok()) return data_loss(path, " is damaged");
  return std::optional<Fingerprint>(std::move(f));
}

Status verify_fingerprint(const std::string& dir, const Fingerprint& f) {
  const auto other = [&](const char* file, uint64_t want, uint64_t got) {
    return data_loss("the fingerprint of ", dir, " was made for another ", file, " (", want, ", not ", got, ")");
  };
  const std::string index = dir + "/variables/variables.index", model = dir + "/saved_model.pb";
  if (f.checkpoint_hash) {
    uint64_t hash = 0;
    if (file_exists(index)) {
      WEFT_ASSIGN(std::string bytes, io::read_file(index));
      hash = kernels::fingerprint64(bytes);
    }
    if (hash != f.checkpoint_hash) return other("variables/variables.index", f.checkpoint_hash, hash);
  }
  if (f.saved_model_checksum && file_exists(model)) {
    WEFT_ASSIGN(std::string bytes, io::read_file(model));
    WEFT_ASSIGN(std::string ordered, canonical(wire::Schema::builtin().find("tensorflow.SavedModel"), bytes, 0));
    const uint64_t hash = kernels::fingerprint64(ordered);
    if (hash != f.saved_model_checksum) return other("saved_model.pb", f.saved_model_checksum, hash);
  }
  return {};
}

Status verify_saved_model(const std::string& dir) {
  WEFT_ASSIGN(const std::optional<Fingerprint> fingerprint, read_fingerprint(dir));
  if (!fingerprint) return not_found(dir, " has no fingerprint.pb to verify");
  WEFT_RETURN_IF_ERROR(verify_fingerprint(dir, *fingerprint));
  const std::string prefix = dir + "/variables/variables";
  return file_exists(prefix + ".index") ? wire::verify_bundle(prefix) : Status();
}

namespace {

// One field of a message inside another, in its canonical form; empty if there is none.
std::string part_of(std::string_view message, int field) {
  ProtoReader r(message);
  while (r.next()) {
    if (r.field() == field) return r.string();
  }
  return {};
}

std::string random_uuid() {
  std::random_device device;
  uint64_t high = uint64_t(device()) << 32 | device(), low = uint64_t(device()) << 32 | device();
  return std::to_string(high) + std::to_string(low);
}

}  // namespace

Status write_fingerprint(const std::string& dir) {
  WEFT_ASSIGN(std::string model, io::read_file(dir + "/saved_model.pb"));
  WEFT_ASSIGN(std::string ordered, canonical(wire::Schema::builtin().find("tensorflow.SavedModel"), model, 0));
  const std::string meta = part_of(ordered, 2), objects = part_of(meta, 7);
  std::string signatures;
  ProtoReader r(meta);
  while (r.next()) {
    if (r.field() == 5) signatures += r.bytes();
  }
  ProtoWriter w, version;
  w.varint(1, kernels::fingerprint64(ordered));
  w.varint(2, kernels::fingerprint64(part_of(meta, 2)));
  w.varint(3, kernels::fingerprint64(signatures));
  w.varint(4, kernels::fingerprint64(objects));
  const std::string index = dir + "/variables/variables.index";
  if (file_exists(index)) {
    WEFT_ASSIGN(std::string bytes, io::read_file(index));
    w.varint(5, kernels::fingerprint64(bytes));
  }
  version.varint(1, 3);
  w.message(6, version);
  w.bytes(7, random_uuid());
  return wire::write_file(dir + "/fingerprint.pb", w.str());
}

}  // namespace weft_engine::saved_model

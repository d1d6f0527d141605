#include "io/message_file.h"

#include "wire/file.h"
#include "wire/message_view.h"
#include "wire/text_format.h"

namespace weft_engine::io {

using core::Result;
using core::Status;

namespace {

bool has_text_name(std::string_view path) {
  for (std::string_view end : {".pbtxt", ".textproto", ".prototxt", ".textpb", ".txtpb", ".txt"})
    if (path.ends_with(end)) return true;
  return false;
}

// A binary message of this type has at least its outermost fields in order, and knows some of them.
bool looks_binary(wire::MessageDef def, std::string_view bytes) {
  wire::ProtoReader r(bytes);
  bool known = bytes.empty();
  while (r.next()) known = known || def.find(r.field());
  return r.ok() && known;
}

}  // namespace

Result<std::string> read_file(const std::string& name) {
  constexpr size_t kLargest = INT32_MAX;  // protobuf's limit for a message
  std::string out;
  WEFT_RETURN_IF_ERROR(wire::read_file(name, out, kLargest));
  return out;
}

Result<std::string> read_message(std::string_view message, const std::string& path) {
  WEFT_ASSIGN(wire::MessageDef def, wire::find_message(message));
  WEFT_ASSIGN(std::string bytes, read_file(path));
  const bool text = has_text_name(path);
  if (!text && looks_binary(def, bytes)) return bytes;
  auto read = wire::text_to_binary(def, bytes);
  if (read.ok()) return read;
  if (!text) return core::data_loss("Can't parse ", path, " as binary proto: it is no ", message, ", nor is it one in text form");
  return core::data_loss("Can't parse ", path, " as text proto: ", read.status().message());
}

}  // namespace weft_engine::io

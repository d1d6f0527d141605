#include "io/message_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/file_system.h"
#include "wire/file.h"
#include "wire/message_view.h"
#include "wire/text_format.h"

namespace weft::io {

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
  WEFT_ASSIGN(core::Place place, core::locate(name));
  if (place.other) return place.other->read(place.path);
  const std::string& path = place.path;
  int64_t size = 0;
  WEFT_ASSIGN(wire::Descriptor file, wire::open_to_read(path, size));
  constexpr size_t kStep = 1 << 16, kLargest = INT32_MAX;  // protobuf's limit for a message
  const auto too_large = [&] { return core::resource_exhausted(path, " is larger than ", kLargest, " bytes, the limit for a message"); };
  if (size > int64_t(kLargest)) return too_large();
  // The size is a guess: files that the system makes up (/proc) have none.
  std::string out(size > 0 ? size_t(size) + 1 : kStep, '\0');
  size_t n = 0;
  while (true) {
    if (n > kLargest) return too_large();
    if (n == out.size()) out.resize(out.size() + std::max(kStep, out.size() / 2));
    const ssize_t got = ::read(file.get(), out.data() + n, out.size() - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return core::io_error(path, errno);
    if (got == 0) break;
    n += size_t(got);
  }
  out.resize(n);
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

}  // namespace weft::io

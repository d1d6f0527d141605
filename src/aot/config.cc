// tfcompile's config files (proto/tf2xla.proto), in text form.
#include "aot/aot.h"
#include "core/cat.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/text_format.h"

namespace weft_engine::aot {
namespace {

using wire::ProtoReader;

std::string tensor_id(ProtoReader r) {
  std::string node;
  int64_t index = 0;
  while (r.next()) {
    if (r.field() == 1) node = r.string();
    if (r.field() == 2) index = r.int64();
  }
  return core::cat(node, ":", index);
}

core::PartialShape shape(ProtoReader r) {
  std::vector<int64_t> dims;
  while (r.next()) {
    if (r.field() == 3 && r.varint()) return {};  // unknown rank
    if (r.field() != 2) continue;
    int64_t size = 0;
    for (ProtoReader d = r.message(); d.next();) {
      if (d.field() == 1) size = d.int64();
    }
    dims.push_back(size);
  }
  return dims;
}

// Feeds have the shape at 2 and the name at 3, fetches the other way round.
std::string port(ProtoReader r, int shape_field, int name_field, Config& c) {
  std::string id, name;
  std::optional<core::PartialShape> dims;
  while (r.next()) {
    if (r.field() == 1) id = tensor_id(r.message());
    if (r.field() == shape_field) dims = shape(r.message());
    if (r.field() == name_field) name = r.string();
  }
  c.names[id] = name;
  if (dims) c.shapes[id] = *dims;
  return id;
}

}  // namespace

Result<Config> read_config(const std::string& path) {
  std::string text;
  WEFT_RETURN_IF_ERROR(wire::read_file(path, text));
  auto bytes = wire::text_to_binary("tensorflow.tf2xla.Config", text);
  if (!bytes.ok()) return core::invalid_argument(path, ": ", bytes.status().message());
  Config c;
  ProtoReader r(*bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: c.function.feeds.push_back(port(r.message(), 2, 3, c)); break;
      case 2: c.function.fetches.push_back(port(r.message(), 3, 2, c)); break;
      default: break;  // variables are found by themselves, and whether they are written
    }
  }
  if (!r.ok()) return core::data_loss(path, " is damaged");
  if (c.function.fetches.empty()) return core::invalid_argument(path, " names no fetch");
  return c;
}

}  // namespace weft_engine::aot

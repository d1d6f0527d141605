#include "api/unwrap.h"
#include "weft/summary.h"

#include <algorithm>

#include "wire/file.h"
#include "wire/proto.h"
#include "wire/record.h"
#include "wire/tensor_proto.h"

namespace weft {
namespace {

std::string plugin_of(wire::ProtoReader metadata) {
  std::string name;
  while (metadata.next()) {
    if (metadata.field() != 1) continue;
    wire::ProtoReader data = metadata.message();
    while (data.next())
      if (data.field() == 1) name = data.string();
  }
  return name;
}

bool read_value(wire::ProtoReader value, const SummaryEvent& common, std::vector<SummaryEvent>& out) {
  SummaryEvent e = common;
  bool known = false;
  while (value.next()) {
    switch (value.field()) {
      case 1: e.tag = value.string(); break;
      case 2:
        e.value = Tensor(value.float32());
        e.plugin = "scalars";
        known = true;
        break;
      case 8: {
        auto t = wire::decode_tensor(value.bytes());
        if (!t.ok()) return false;
        e.value = api::adopt(eager::TensorHandle::make(std::move(t).value(), nullptr));
        known = true;
        break;
      }
      case 9: e.plugin = plugin_of(value.message()); break;
      default: break;
    }
  }
  if (known) out.push_back(std::move(e));
  return value.ok();
}

bool read_event(std::string_view bytes, std::vector<SummaryEvent>& out) {
  wire::ProtoReader r(bytes);
  SummaryEvent e;
  std::string_view summary;
  while (r.next()) {
    switch (r.field()) {
      case 1: e.wall_time = r.float64(); break;
      case 2: e.step = r.int64(); break;
      case 4:
        e.plugin = "graph";
        e.value = Tensor(r.string());
        break;
      case 5: summary = r.bytes(); break;
      default: break;
    }
  }
  if (!r.ok()) return false;
  if (e.value.has_value()) out.push_back(e);
  e.plugin.clear();
  e.value = {};
  wire::ProtoReader values(summary);
  while (values.next())
    if (values.field() == 1 && !read_value(values.message(), e, out)) return false;
  return values.ok();
}

void read_file(const std::string& path, std::vector<SummaryEvent>& out) {
  const auto stream = api::unwrap(wire::ByteStream::open(path, ""));
  wire::RecordReader reader(*stream);
  for (std::string record;;) {
    const uint64_t at = reader.at();
    const auto found = reader.next(record);
    if (!found.ok() && reader.cut_off()) return;
    if (!found.ok()) throw Error(Code::kDataLoss, path + ": " + found.status().message());
    if (!*found) return;
    if (!read_event(record, out)) throw Error(Code::kDataLoss, path + ": the record at " + std::to_string(at) + " is not an event");
  }
}

}  // namespace

std::vector<SummaryEvent> read_events(const std::string& path) {
  std::vector<SummaryEvent> out;
  if (!wire::is_folder(path)) {
    read_file(path, out);
    return out;
  }
  std::vector<std::string> files;
  for (const std::string& name : api::unwrap(wire::children_of(path))) {
    if (name.find("tfevents") != std::string::npos) files.push_back(path + (path.ends_with('/') ? "" : "/") + name);
  }
  std::sort(files.begin(), files.end());
  for (const std::string& f : files) read_file(f, out);
  return out;
}

}  // namespace weft

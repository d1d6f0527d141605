#include <map>

#include "api/model_internal.h"

namespace weft {
namespace {

void quote(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += ' ';
    else out += c;
  }
  out += '"';
}

std::string micros(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", double(ns) / 1000);
  return text;
}

}  // namespace

std::string to_chrome_trace(const TraceEvents& trace) {
  std::map<std::string, int> devices;
  int64_t first = 0;
  for (const auto& e : trace.events) {
    devices.emplace(e.device, int(devices.size()));
    if (!first || e.start_ns < first) first = e.start_ns;
  }
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  bool comma = false;
  const auto next = [&] {
    out += comma ? ",\n" : "\n";
    comma = true;
  };
  for (const auto& [name, id] : devices) {
    next();
    out += core::cat("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":", id, ",\"args\":{\"name\":");
    quote(out, name.empty() ? "device" : name);
    out += "}}";
  }
  for (const auto& e : trace.events) {
    next();
    out += core::cat("{\"ph\":\"X\",\"pid\":", devices[e.device], ",\"tid\":", e.thread, ",\"ts\":", micros(e.start_ns - first),
                     ",\"dur\":", micros(e.end_ns - e.start_ns), ",\"name\":");
    quote(out, e.op);
    out += ",\"args\":{\"node\":";
    quote(out, e.node);
    std::string shapes;
    for (const auto& [dtype, shape] : e.outputs)
      shapes += core::cat(shapes.empty() ? "" : ", ", to_string(dtype), " ", core::PartialShape(shape).to_string());
    out += ",\"outputs\":";
    quote(out, shapes);
    out += "}}";
  }
  return out + "\n]}\n";
}

}  // namespace weft

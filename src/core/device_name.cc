#include "core/device_name.h"

#include <cctype>

namespace weft_engine::core {
namespace {

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = char(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

bool is_word(std::string_view s) {
  if (s.empty() || !std::isalpha(static_cast<unsigned char>(s[0]))) return false;
  for (char c : s) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') return false;
  }
  return true;
}

// "*" leaves the part open; returns false for anything but "*" and a small number.
bool read_number(std::string_view s, std::optional<int>& out) {
  if (s == "*") return true;
  if (s.empty() || s.size() > 8) return false;
  int v = 0;
  for (char c : s) {
    if (c < '0' || c > '9') return false;
    v = v * 10 + (c - '0');
  }
  out = v;
  return true;
}

}  // namespace

Result<DeviceName> DeviceName::parse(std::string_view text) {
  DeviceName name;
  const Status malformed = invalid_argument("Malformed device specification '", text, "'");
  std::string_view rest = text;
  if (rest.empty() || rest == "/") return name;
  if (rest[0] != '/') {  // "CPU:0"
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos || !is_word(rest.substr(0, colon))) return malformed;
    name.type = upper(rest.substr(0, colon));
    if (!read_number(rest.substr(colon + 1), name.id)) return malformed;
    return name;
  }
  while (!rest.empty()) {
    if (rest[0] != '/') return malformed;
    const size_t end = std::min(rest.find('/', 1), rest.size());
    std::string_view part = rest.substr(1, end - 1);
    rest = rest.substr(end);
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) return malformed;
    const std::string_view key = part.substr(0, colon);
    std::string_view value = part.substr(colon + 1);
    if (key == "job") {
      if (value == "*") continue;
      if (!is_word(value)) return malformed;
      name.job = std::string(value);
    } else if (key == "replica") {
      if (!read_number(value, name.replica)) return malformed;
    } else if (key == "task") {
      if (!read_number(value, name.task)) return malformed;
    } else if (key == "device") {
      const size_t second = value.find(':');
      const std::string_view type = value.substr(0, second);
      if (type != "*") {
        if (!is_word(type)) return malformed;
        name.type = upper(type);
      }
      if (second != std::string_view::npos && !read_number(value.substr(second + 1), name.id)) return malformed;
    } else if (const std::string type = upper(key); type == "CPU" || type == "GPU" || type == "TPU") {
      name.type = type;
      if (!read_number(value, name.id)) return malformed;
    } else {
      return malformed;
    }
  }
  return name;
}

bool DeviceName::matches(const DeviceName& full) const {
  return (!job || job == full.job) && (!replica || replica == full.replica) && (!task || task == full.task) && (!type || type == full.type) &&
         (!id || id == full.id);
}

DeviceName DeviceName::completed_by(const DeviceName& d) const {
  DeviceName n = *this;
  if (!n.job) n.job = d.job;
  if (!n.replica) n.replica = d.replica;
  if (!n.task) n.task = d.task;
  if (!n.type) n.type = d.type;
  if (!n.id) n.id = d.id;
  return n;
}

std::string DeviceName::to_string() const {
  std::string out;
  if (job) out += cat("/job:", *job);
  if (replica) out += cat("/replica:", *replica);
  if (task) out += cat("/task:", *task);
  if (type) out += cat("/device:", *type, ":", id ? cat(*id) : "*");
  return out;
}

}  // namespace weft_engine::core

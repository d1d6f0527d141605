#include "cli/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::cli {
namespace {

size_t columns(std::string_view s) {  // characters of UTF-8, not bytes
  return size_t(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string utf8(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    bool good = n > 0 && i + n <= s.size();
    for (size_t k = 1; good && k < n; ++k) good = (static_cast<unsigned char>(s[i + k]) & 0xC0) == 0x80;
    // Three bytes may not spell a surrogate or what fits in two, four not what fits in three or is beyond Unicode.
    if (good && n > 2) {
      const auto d = static_cast<unsigned char>(s[i + 1]);
      good = !(c == 0xE0 && d < 0xA0) && !(c == 0xED && d >= 0xA0) && !(c == 0xF0 && d < 0x90) && !(c == 0xF4 && d >= 0x90);
    }
    out += good ? std::string(s.substr(i, n)) : "?";
    i += good ? n : 1;
  }
  return out;
}

std::string human_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  int u = 0;
  while (std::fabs(bytes) >= 1000 && u < 4) bytes /= 1000, ++u;
  char text[32];
  std::snprintf(text, sizeof text, u == 0 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
  return text;
}

std::string human_time(double s) {
  char text[32];
  if (s < 1e-6) std::snprintf(text, sizeof text, "%.0f ns", s * 1e9);
  else if (s < 1e-3) std::snprintf(text, sizeof text, "%.2f us", s * 1e6);
  else if (s < 1) std::snprintf(text, sizeof text, "%.2f ms", s * 1e3);
  else std::snprintf(text, sizeof text, "%.2f s", s);
  return text;
}

std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<size_t> width;
  std::vector<bool> right;
  std::vector<std::string> titles;
  for (std::string h : header) {
    right.push_back(h.ends_with(">"));
    if (right.back()) h.pop_back();
    width.push_back(columns(h));
    titles.push_back(std::move(h));
  }
  for (const auto& r : rows) {
    for (size_t i = 0; i < r.size() && i < width.size(); ++i) width[i] = std::max(width[i], columns(r[i]));
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& r) {
    std::string l = indent;
    for (size_t i = 0; i < r.size() && i < width.size(); ++i) {
      const std::string pad(width[i] - columns(r[i]), ' ');
      if (i) l += "  ";
      l += right[i] ? pad + r[i] : r[i] + pad;
    }
    while (!l.empty() && l.back() == ' ') l.pop_back();
    out += l + "\n";
  };
  if (std::any_of(titles.begin(), titles.end(), [](const auto& t) { return !t.empty(); })) line(titles);
  for (const auto& r : rows) line(r);
  return out;
}

Json& Json::open(char c) {
  before();
  out_ += c;
  first_.push_back(true);
  return *this;
}

Json& Json::close(char c) {
  const bool empty = first_.back();
  first_.pop_back();
  if (!empty) out_ += "\n" + std::string(2 * first_.size(), ' ');
  out_ += c;
  if (first_.empty()) out_ += '\n';
  return *this;
}

void Json::before() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (first_.empty()) return;
  if (!first_.back()) out_ += ',';
  first_.back() = false;
  out_ += "\n" + std::string(2 * first_.size(), ' ');
}

Json& Json::raw(std::string_view text) {
  before();
  out_ += text;
  return *this;
}

namespace {

std::string json_text(std::string_view text) {
  std::string q = "\"";
  for (const char c : utf8(text)) {
    if (c == '"' || c == '\\') {
      q += '\\';
      q += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char u[8];
      std::snprintf(u, sizeof u, "\\u%04x", c);
      q += u;
    } else {
      q += c;
    }
  }
  return q + "\"";
}

}  // namespace

Json& Json::key(std::string_view k) {
  before();
  out_ += json_text(k) + ": ";
  after_key_ = true;
  return *this;
}

Json& Json::value(std::string_view text) { return raw(json_text(text)); }

Json& Json::value(double v) {
  if (!std::isfinite(v)) return null();
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return raw(text);
}

Json& Json::shape(const PartialShape& s) {
  if (!s.known_rank) return null();
  std::string text = "[";
  for (size_t i = 0; i < s.dims.size(); ++i) text += (i ? ", " : "") + std::to_string(s.dims[i]);
  return raw(text + "]");
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : utf8(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
    }
  }
  return out;
}

}  // namespace weft::cli

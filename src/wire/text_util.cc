#include "wire/text_util.h"

#include <charconv>
#include <cmath>

namespace weft_engine::wire {
namespace {

// Reads one code point; -1 for bytes that are no UTF-8. Always moves on.
int32_t next_code(std::string_view s, size_t& at) {
  const auto lead = uint8_t(s[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || s.size() - at < size_t(more)) return -1;
  uint32_t code = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    const auto b = uint8_t(s[at + size_t(i)]);
    if ((b & 0xc0) != 0x80) return -1;
    code = code << 6 | (b & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return -1;
  at += size_t(more);
  return int32_t(code);
}

void append_hex4(std::string& out, uint32_t v) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[v >> shift & 15]);
}

}  // namespace

bool is_utf8(std::string_view s) {
  for (size_t at = 0; at < s.size();)
    if (next_code(s, at) < 0) return false;
  return true;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out.push_back(char(code));
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint8_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out.push_back(char(kLead[more] | code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out.push_back(char(0x80 | (code >> (6 * i) & 0x3f)));
}

void append_double_text(std::string& out, double v) {
  if (std::isnan(v)) {
    out += "nan";
    return;
  }
  if (std::isinf(v)) {
    out += v < 0 ? "-inf" : "inf";
    return;
  }
  char buf[64];
  const auto end = std::to_chars(buf, buf + sizeof buf, v, std::chars_format::scientific).ptr;
  std::string_view s(buf, size_t(end - buf));
  if (s.starts_with('-')) {
    out.push_back('-');
    s.remove_prefix(1);
  }
  const size_t e = s.find('e');
  std::string digits(s.substr(0, 1));
  if (e > 2) digits += s.substr(2, e - 2);
  int exponent = 0;
  std::from_chars(s.data() + e + (s[e + 1] == '+' ? 2 : 1), s.data() + s.size(), exponent);
  constexpr int kLargestPlain = 16, kSmallestPlain = -4;
  if (exponent >= kLargestPlain || exponent < kSmallestPlain) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += s.substr(e);
  } else if (exponent < 0) {
    out.append("0.").append(size_t(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = size_t(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    out.append(digits, 0, whole).append(".");
    if (digits.size() > whole) out.append(digits, whole);
    else out.push_back('0');
  }
}

void append_float_text(std::string& out, float v) {
  if (!std::isfinite(v)) return append_double_text(out, double(v));
  // Six digits where they suffice, up to nine.
  for (int precision = 6; precision <= 9; ++precision) {
    char buf[64];
    const auto end = std::to_chars(buf, buf + sizeof buf, double(v), std::chars_format::general, precision).ptr;
    double back = 0;
    std::from_chars(buf, end, back);
    if (precision == 9 || float(back) == v) return append_double_text(out, back);
  }
}

void append_escaped(std::string& out, std::string_view s) {
  for (char c : s) {
    const auto b = uint8_t(c);
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (b >= 32 && b < 127) {
          out.push_back(c);
        } else {
          out.push_back('\\');
          for (int shift = 6; shift >= 0; shift -= 3) out.push_back(char('0' + (b >> shift & 7)));
        }
    }
  }
}

void append_base64(std::string& out, std::string_view s) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < s.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (i + k < s.size() ? uint8_t(s[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out.push_back(i + k <= s.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=');
  }
}

void append_json_string(std::string& out, std::string_view s) {
  out.push_back('"');
  for (size_t at = 0; at < s.size();) {
    const int32_t code = next_code(s, at);
    switch (code) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (code >= 32 && code < 127) out.push_back(char(code));
        else if (code < 0) append_hex4(out, 0xfffd);  // not UTF-8: the replacement character
        else if (code < 0x10000) append_hex4(out, uint32_t(code));
        else {
          append_hex4(out, 0xd800 + ((uint32_t(code) - 0x10000) >> 10));
          append_hex4(out, 0xdc00 + ((uint32_t(code) - 0x10000) & 0x3ff));
        }
    }
  }
  out.push_back('"');
}

}  // namespace weft_engine::wire

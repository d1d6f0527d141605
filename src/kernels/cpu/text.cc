#include "kernels/cpu/text.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace weft_engine::kernels {

int64_t utf8_length(std::string_view s) {
  int64_t n = 0;
  for (char c : s) n += !is_utf8_trail(c);
  return n;
}

DecodedChar next_utf8(std::string_view s, size_t at) {
  const auto first = static_cast<uint8_t>(s[at]);
  if (first < 0x80) return {first, 1, false};
  // What the second byte may be depends on the first: no overlong forms, no surrogates, none above 10FFFF.
  int more = 0;
  uint8_t low = 0x80, high = 0xBF;
  char32_t value = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    more = 1, value = first & 0x1F;
  } else if (first >= 0xE0 && first <= 0xEF) {
    more = 2, value = first & 0x0F;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    more = 3, value = first & 0x07;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return {0xFFFD, 1, true};
  }
  for (int i = 1; i <= more; ++i) {
    const uint8_t b = at + size_t(i) < s.size() ? static_cast<uint8_t>(s[at + size_t(i)]) : 0;
    if (b < low || b > high) return {0xFFFD, i, true};
    value = value << 6 | (b & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return {value, more + 1, false};
}

void append_utf8(std::string& out, char32_t c) {
  auto put = [&](char32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

}  // namespace

std::string base64_encode(std::string_view s, bool pad) {
  std::string out;
  out.reserve((s.size() + 2) / 3 * 4);
  for (size_t i = 0; i < s.size(); i += 3) {
    const size_t n = std::min<size_t>(3, s.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<uint8_t>(s[i + k]) : 0);
    for (size_t k = 0; k <= n; ++k) out.push_back(kBase64[bits >> (18 - 6 * k) & 63]);
    if (pad) out.append(3 - n, '=');
  }
  return out;
}

core::Result<std::string> base64_decode(std::string_view s) {
  // Padding counts only where it completes the last group of four.
  if (s.size() % 4 == 0 && s.ends_with('=')) s.remove_suffix(s.ends_with("==") ? 2 : 1);
  std::string out;
  out.reserve(s.size() / 4 * 3 + 3);
  for (size_t i = 0; i < s.size(); i += 4) {
    const size_t n = std::min<size_t>(4, s.size() - i);
    if (n == 1) return core::invalid_argument("Base64 string length cannot be 1 modulo 4.");
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int v = k < n ? base64_value(s[i + k]) : 0;
      if (v < 0) return core::invalid_argument("Invalid character found in base64.");
      bits = bits << 6 | static_cast<uint32_t>(v);
    }
    for (size_t k = 0; k + 1 < n; ++k) out.push_back(static_cast<char>(bits >> (16 - 8 * k)));
  }
  return out;
}

std::string_view strip(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

namespace {

template <class T>
bool parse_integer(std::string_view s, T& v) {
  s = strip(s);
  if (s.starts_with('+')) {
    s.remove_prefix(1);
    if (s.starts_with('-')) return false;
  }
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  return error == std::errc() && end == s.data() + s.size() && !s.empty();
}

// from_chars leaves the value alone when it does not fit: tell too large from too small by the place of
// the first digit that is not zero.
template <class T>
T beyond_range(std::string_view s, bool hex) {
  int64_t place = 0, exponent = 0;
  bool point = false, seen = false;
  size_t i = 0;
  for (; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '.') {
      point = true;
    } else if (hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E') {
      ++i;
      break;
    } else {
      seen |= c != '0';
      if (seen && !point) ++place;
      if (!seen && point) --place;
    }
  }
  const bool negative = i < s.size() && s[i] == '-';
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  for (; i < s.size() && exponent < 1'000'000'000'000; ++i) exponent = exponent * 10 + (s[i] - '0');
  place = place * (hex ? 4 : 1) + (negative ? -exponent : exponent);
  return place > 0 ? std::numeric_limits<T>::infinity() : T(0);
}

template <class T>
bool parse_floating(std::string_view s, T& v) {
  s = strip(s);
  bool negative = false;
  if (s.starts_with('+') || s.starts_with('-')) {
    negative = s.front() == '-';
    s.remove_prefix(1);
  }
  if (s.empty() || s.front() == '-' || s.front() == '+') return false;
  const bool hex = s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
  if (hex) {
    s.remove_prefix(2);
    if (s.front() == '-') return false;
  }
  T value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, hex ? std::chars_format::hex : std::chars_format::general);
  if (end != s.data() + s.size()) return false;
  if (error == std::errc::result_out_of_range) value = beyond_range<T>(s, hex);
  else if (error != std::errc()) return false;
  v = negative ? -value : value;
  return true;
}

template <class T>
void append_round_trip(std::string& out, T v, int digits, int more_digits) {
  char text[40];
  int n = std::snprintf(text, sizeof text, "%.*g", digits, double(v));
  T back = 0;
  std::from_chars(text + (text[0] == '-'), text + n, back);
  if (std::isfinite(v) && back != std::fabs(v)) n = std::snprintf(text, sizeof text, "%.*g", more_digits, double(v));
  out.append(std::isnan(v) ? "nan" : std::string_view(text, size_t(n)));
}

}  // namespace

bool parse_number(std::string_view s, int32_t& v) { return parse_integer(s, v); }
bool parse_number(std::string_view s, int64_t& v) { return parse_integer(s, v); }
bool parse_number(std::string_view s, uint32_t& v) { return parse_integer(s, v); }
bool parse_number(std::string_view s, uint64_t& v) { return parse_integer(s, v); }
bool parse_number(std::string_view s, float& v) { return parse_floating(s, v); }
bool parse_number(std::string_view s, double& v) { return parse_floating(s, v); }

void append_shortest(std::string& out, float v) { append_round_trip(out, v, 6, 9); }
void append_shortest(std::string& out, double v) { append_round_trip(out, v, 15, 17); }

std::string c_escape(std::string_view s) {
  std::string out;
  for (char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default: {
        const auto b = static_cast<uint8_t>(c);
        if (b >= 0x20 && b != 0x7F) {
          out.push_back(c);
        } else {
          out.push_back('\\');
          for (int shift = 6; shift >= 0; shift -= 3) out.push_back(static_cast<char>('0' + (b >> shift & 7)));
        }
      }
    }
  }
  return out;
}

}  // namespace weft_engine::kernels

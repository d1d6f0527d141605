// Text: UTF-8, base64 and numbers in strings, with TensorFlow's idea of what is well formed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::kernels {

inline bool is_utf8_trail(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Bytes that start a character, whether or not the whole is well formed.
int64_t utf8_length(std::string_view s);

// One character of a string that may be broken: a broken part counts as far as it could have become a
// character (WHATWG's "maximal subpart"), as ICU does.
struct DecodedChar {
  char32_t value = 0xFFFD;
  int bytes = 0;
  bool bad = false;
};
DecodedChar next_utf8(std::string_view s, size_t at);
void append_utf8(std::string& out, char32_t c);

// The web-safe alphabet (RFC 4648, section 5).
std::string base64_encode(std::string_view s, bool pad);
core::Result<std::string> base64_decode(std::string_view s);

std::string_view strip(std::string_view s);

// The whole string must be the number, white space around it aside. False if it is not, or does not fit;
// floats too large become infinities.
bool parse_number(std::string_view s, int32_t& v);
bool parse_number(std::string_view s, int64_t& v);
bool parse_number(std::string_view s, uint32_t& v);
bool parse_number(std::string_view s, uint64_t& v);
bool parse_number(std::string_view s, float& v);
bool parse_number(std::string_view s, double& v);

// The shortest of six and nine (fifteen and seventeen) digits that reads back as the same number; how
// TensorFlow prints floats.
void append_shortest(std::string& out, float v);
void append_shortest(std::string& out, double v);

// C escapes for what cannot be printed; bytes of UTF-8 stay.
std::string c_escape(std::string_view s);

}  // namespace weft_engine::kernels

// Pieces of text that the printers and the reader share: numbers, escapes, UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft_engine::wire {

bool is_utf8(std::string_view s);
// Appends a code point below 0x110000.
void append_utf8(std::string& out, uint32_t code);

// The shortest digits that read back as the same number, laid out as Python does: 1.0, 1e-05, inf, nan.
void append_double_text(std::string& out, double v);
void append_float_text(std::string& out, float v);

// The inside of a quoted string of the text format: octal escapes outside ASCII.
void append_escaped(std::string& out, std::string_view s);

void append_base64(std::string& out, std::string_view s);
// A JSON string with its quotes; the input must be UTF-8, the output is ASCII.
void append_json_string(std::string& out, std::string_view s);

}  // namespace weft_engine::wire

#include "wire/text_tokenizer.h"

#include "core/cat.h"
#include "wire/text_util.h"

namespace weft_engine::wire {
namespace {

constexpr int kTab = 8;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
uint32_t digit_value(char c) { return uint32_t(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10); }

constexpr std::string_view kEscapes = "abfnrtv\\?'\"", kEscaped = "\a\b\f\n\r\t\v\\?'\"";
constexpr char kWideEscape[] = "Expected eight hex digits up to 10ffff for \\U escape sequence";

// Reads up to `most` digits at `at`.
uint32_t digits(std::string_view s, size_t& at, int most, bool (*is)(char), uint32_t base) {
  uint32_t v = 0;
  for (; most > 0 && at < s.size() && is(s[at]); --most) v = v * base + digit_value(s[at++]);
  return v;
}

}  // namespace

bool TextTokenizer::fail(std::string why) {
  error_ = std::move(why);
  return false;
}

void TextTokenizer::step() {
  const char c = text_[at_++];
  if (c == '\n') {
    ++line_;
    column_ = 0;
  } else if (c == '\t') {
    column_ += kTab - column_ % kTab;
  } else {
    ++column_;
  }
}

void TextTokenizer::skip_space() {
  while (!end()) {
    if (is_space(peek())) {
      step();
    } else if (peek() == '#') {
      while (!end() && peek() != '\n') step();
    } else {
      return;
    }
  }
}

bool TextTokenizer::next() {
  skip_space();
  current_ = {Kind::kEnd, {}, line_, column_};
  if (end()) return true;
  const size_t start = at_;
  const char c = peek();
  bool good = true;
  if (is_letter(c)) {
    current_.kind = Kind::kIdentifier;
    while (is_letter(peek()) || is_digit(peek())) step();
  } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
    good = number();
  } else if (c == '"' || c == '\'') {
    current_.kind = Kind::kString;
    good = string(c);
  } else if (static_cast<unsigned char>(c) < 32) {
    good = fail("Invalid control characters encountered in text.");
  } else if (static_cast<unsigned char>(c) >= 128) {
    good = fail(core::cat("Interpreting non ascii codepoint ", int(static_cast<unsigned char>(c)), "."));
  } else {
    current_.kind = Kind::kSymbol;
    step();
  }
  current_.text = text_.substr(start, at_ - start);
  return good;
}

bool TextTokenizer::number() {
  current_.kind = Kind::kInteger;
  if (peek() == '0' && (peek(1) | 32) == 'x') {
    step();
    step();
    if (!is_hex(peek())) return fail("\"0x\" must be followed by hex digits.");
    while (is_hex(peek())) step();
  } else if (peek() == '0' && is_digit(peek(1))) {
    while (is_octal(peek())) step();
    if (is_digit(peek())) return fail("Numbers starting with leading zero must be in octal.");
  } else {
    while (is_digit(peek())) step();
    if (peek() == '.') {
      current_.kind = Kind::kFloat;
      step();
      while (is_digit(peek())) step();
    }
    if ((peek() | 32) == 'e') {
      current_.kind = Kind::kFloat;
      step();
      if (peek() == '-' || peek() == '+') step();
      if (!is_digit(peek())) return fail("\"e\" must be followed by exponent.");
      while (is_digit(peek())) step();
    }
    if ((peek() | 32) == 'f') {
      current_.kind = Kind::kFloat;
      step();
    }
  }
  if (is_letter(peek())) return fail("Need space between number and identifier.");
  if (peek() != '.') return true;
  return fail(current_.kind == Kind::kFloat ? "Already saw decimal point or exponent; can't have another one."
                                            : "Hex and octal numbers must be integers.");
}

bool TextTokenizer::string(char quote) {
  step();
  while (true) {
    if (end()) return fail("Unexpected end of string.");
    const char c = peek();
    if (c == '\0') return fail("Invalid control characters encountered in text.");
    if (c == '\n') return fail("Multiline strings are not allowed. Did you miss a \"?.");
    step();
    if (c == quote) return true;
    if (c == '\\' && !escape()) return false;
  }
}

bool TextTokenizer::hex_digits(int count) {
  for (; count > 0; --count) {
    if (!is_hex(peek())) return false;
    step();
  }
  return true;
}

// What is behind a backslash; values are made by append_string.
bool TextTokenizer::escape() {
  const char c = peek();
  if (kEscapes.find(c) != kEscapes.npos || is_octal(c)) {
    step();
    return true;
  }
  if (c == 'x' || c == 'X') {
    step();
    return hex_digits(1) || fail("Expected hex digits for escape sequence.");
  }
  if (c == 'u') {
    step();
    return hex_digits(4) || fail("Expected four hex digits for \\u escape sequence.");
  }
  if (c == 'U') {
    step();
    return hex_digits(8) || fail(kWideEscape);
  }
  return fail("Invalid escape sequence in string literal.");
}

bool TextTokenizer::append_string(std::string& out) {
  const std::string_view s = current_.text.substr(1, current_.text.size() - 2);
  for (size_t at = 0; at < s.size();) {
    if (s[at] != '\\') {
      out.push_back(s[at++]);
      continue;
    }
    const char c = s[++at];  // checked when the token was made
    if (const size_t k = kEscapes.find(c); k != kEscapes.npos) {
      out.push_back(kEscaped[k]);
      ++at;
    } else if (is_octal(c)) {
      out.push_back(char(digits(s, at, 3, is_octal, 8)));
    } else if (c == 'x' || c == 'X') {
      out.push_back(char(digits(s, ++at, 2, is_hex, 16)));
    } else {
      uint32_t code = digits(s, ++at, c == 'u' ? 4 : 8, is_hex, 16);
      if (code >= 0xd800 && code < 0xdc00 && s.substr(at, 2) == "\\u") {  // the second half of a pair
        size_t behind = at + 2;
        const uint32_t low = digits(s, behind, 4, is_hex, 16);
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          at = behind;
        }
      }
      if (code > 0x10ffff) return fail(kWideEscape);
      append_utf8(out, code);
    }
  }
  return true;
}

}  // namespace weft_engine::wire

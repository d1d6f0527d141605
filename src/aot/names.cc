#include <algorithm>
#include <array>

#include "aot/aot.h"

namespace weft_engine::aot {
namespace {

// Of C++20, C11 and what the generated class itself uses.
constexpr std::array kReserved = {
    "alignas",   "alignof",  "and",      "and_eq",   "asm",          "auto",       "bitand",       "bitor",         "bool",
    "break",     "case",     "catch",    "char",     "char16_t",     "char32_t",   "char8_t",      "class",         "co_await",
    "co_return", "co_yield", "compl",    "concept",  "const",        "const_cast", "consteval",    "constexpr",     "constinit",
    "continue",  "decltype", "default",  "delete",   "do",           "double",     "dynamic_cast", "else",          "enum",
    "explicit",  "export",   "extern",   "false",    "float",        "for",        "friend",       "goto",          "if",
    "inline",    "int",      "long",     "mutable",  "namespace",    "new",        "noexcept",     "not",           "not_eq",
    "nullptr",   "operator", "or",       "or_eq",    "private",      "protected",  "public",       "register",      "reinterpret_cast",
    "requires",  "restrict", "return",   "short",    "signed",       "sizeof",     "static",       "static_assert", "static_cast",
    "struct",    "switch",   "template", "this",     "thread_local", "throw",      "true",         "try",           "typedef",
    "typeid",    "typename", "union",    "unsigned", "using",        "virtual",    "void",         "volatile",      "wchar_t",
    "while",     "xor",      "xor_eq",   "run",      "resize",       "bytes",      "error",        "memory",        "std",
    "main",      "reset",    "ready",    "state",    "set_pool"};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || digit(name[0])) return false;
  for (char c : name) {
    if (!letter(c) && !digit(c) && c != '_') return false;
  }
  return std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
}

std::string identifier(std::string_view name, std::vector<std::string>& taken) {
  std::string id;
  for (unsigned char c : name) {
    if (letter(char(c)) || digit(char(c))) {
      id += char(c);
    } else if (c < 0x80) {
      if (!id.empty() && id.back() != '_') id += '_';
    } else {
      // Other alphabets byte by byte, so that two names stay two.
      static const char* const kHex = "0123456789abcdef";
      id += 'u';
      id += kHex[c >> 4];
      id += kHex[c & 15];
    }
  }
  while (!id.empty() && id.back() == '_') id.pop_back();
  if (id.empty()) id = "value";
  if (digit(id[0])) id.insert(0, "n");
  if (!is_identifier(id)) id += "_value";
  std::string unique = id;
  for (int n = 2; std::find(taken.begin(), taken.end(), unique) != taken.end(); ++n) unique = id + "_" + std::to_string(n);
  taken.push_back(unique);
  return unique;
}

}  // namespace weft_engine::aot

#include "core/cat.h"

#include <charconv>
#include <cstdio>

namespace weft_engine::core {

void append_int(std::string& out, long long v) {
  char buf[24];
  auto end = std::to_chars(buf, buf + sizeof buf, v).ptr;
  out.append(buf, end);
}

void append_uint(std::string& out, unsigned long long v) {
  char buf[24];
  auto end = std::to_chars(buf, buf + sizeof buf, v).ptr;
  out.append(buf, end);
}

void append_double(std::string& out, double v) {
  char buf[40];
  out.append(buf, static_cast<size_t>(std::snprintf(buf, sizeof buf, "%g", v)));
}

std::string cat_words(const char* kinds, const uintptr_t* words) {
  std::string out;
  for (; *kinds; ++kinds) {
    const uintptr_t w = *words++;
    switch (*kinds) {
      case 's': append(out, reinterpret_cast<const char*>(w)); break;
      case 'S': out += *reinterpret_cast<const std::string*>(w); break;
      case 'b': append(out, bool(w)); break;
      case 'c': append(out, char(w)); break;
      case 'i': append_int(out, static_cast<long long>(w)); break;
      case 'u': append_uint(out, w); break;
      default: reinterpret_cast<void (*)(std::string&, const void*)>(*words++)(out, reinterpret_cast<const void*>(w));
    }
  }
  return out;
}

}  // namespace weft_engine::core

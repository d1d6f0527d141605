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

}  // namespace weft_engine::core

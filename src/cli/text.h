// Texts for people and for programs: tables, JSON, sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/saved_model.h"

namespace weft::cli {

std::string human_bytes(double bytes);   // "407.1 kB"
std::string human_time(double seconds);  // "1.25 ms"

// Columns padded to their widest cell; a column whose header ends in '>' is set to the right.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows, const std::string& indent = "");

// Writes JSON piece by piece: keys and values, commas and indentation by itself.
class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(std::string_view k);
  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(const std::string& text) { return value(std::string_view(text)); }
  Json& value(int64_t v) { return raw(std::to_string(v)); }
  Json& value(int v) { return raw(std::to_string(v)); }
  Json& value(uint64_t v) { return raw(std::to_string(v)); }
  Json& value(bool v) { return raw(v ? "true" : "false"); }
  Json& value(double v);
  Json& null() { return raw("null"); }
  Json& shape(const PartialShape& s);  // [-1, 3]; null for an unknown rank
  const std::string& str() const { return out_; }

 private:
  Json& open(char c);
  Json& close(char c);
  Json& raw(std::string_view text);
  void before();
  std::string out_;
  std::vector<bool> first_;
  bool after_key_ = false;
};

// Bytes that are no UTF-8 (serialized messages in attributes) become question marks.
std::string utf8(std::string_view s);

// XML and SVG: the five characters that must not stand in text.
std::string xml(std::string_view text);

}  // namespace weft::cli

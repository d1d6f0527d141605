// What weft_schemagen read from proto/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "wire/schema_rows.h"

namespace schemagen {

using weft_engine::wire::FieldFlags;
using weft_engine::wire::FieldType;

struct Field {
  std::string name, type, oneof, scope;
  int number = 0;  // 0: only the name is reserved
  int flags = 0;
  int packed = -1;
  FieldType kind{};  // when all files are read; type is the full name then
};
struct Message {
  std::string name;
  bool map_entry = false;
  std::vector<Field> fields;
};
struct Value {
  std::string name;
  int number;
};
struct Enum {
  std::string name;
  bool closed;
  std::vector<Value> values;
};

struct File {
  std::string name, package;  // name without .proto
  std::vector<std::string> imports, messages, enums;  // full names, inner messages after the outer one
};
struct Model {
  std::map<std::string, Message> messages;
  std::map<std::string, Enum> enums;
  std::vector<File> files;
};

// Headers with a class for each message, as TensorFlow's C++ programs include them. False, and a line of text, if they cannot be written.
bool write_classes(const Model& model, const std::string& folder);

}  // namespace schemagen

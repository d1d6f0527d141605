// Message types known only at run time: from a FileDescriptorSet, or the few of tf.Example that are built
// in; and the text form of such messages.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft::wire {

// FieldDescriptorProto.Type
enum class FieldType : int {
  kDouble = 1, kFloat = 2, kInt64 = 3, kUint64 = 4, kInt32 = 5, kFixed64 = 6, kFixed32 = 7, kBool = 8, kString = 9,
  kGroup = 10, kMessage = 11, kBytes = 12, kUint32 = 13, kEnum = 14, kSfixed32 = 15, kSfixed64 = 16, kSint32 = 17, kSint64 = 18,
};

struct FieldInfo {
  std::string name;
  int number = 0;
  FieldType type = FieldType::kInt32;
  bool repeated = false, packed = false;
  std::string type_name;      // of a message or enum, without a leading dot
  std::string default_value;  // as text; empty for none
};

struct MessageInfo {
  std::string name;
  std::vector<FieldInfo> fields;
  const FieldInfo* find(std::string_view field) const;
};

class DescriptorPool {
 public:
  // tensorflow.Example and what belongs to it.
  static DescriptorPool builtin();
  // From a serialized FileDescriptorSet.
  static core::Result<DescriptorPool> parse(std::string_view file_descriptor_set);
  const MessageInfo* find(std::string_view message) const;
  const std::map<std::string, int, std::less<>>* find_enum(std::string_view name) const;

  // The wire form of a message given in protobuf's text format.
  core::Result<std::string> encode_text(const MessageInfo& message, std::string_view text) const;

 private:
  bool add_file(std::string_view bytes);
  bool add_message(std::string_view bytes, const std::string& scope, bool packed_by_default, int depth);
  bool add_enum(std::string_view bytes, const std::string& scope);
  std::map<std::string, MessageInfo, std::less<>> messages_;
  std::map<std::string, std::map<std::string, int, std::less<>>, std::less<>> enums_;
};

}  // namespace weft::wire

// Messages as text: protobuf's text format (.pbtxt) and its JSON mapping. The binary form is the one that the engine
// works on; text is turned into it when it comes in, and made from it for people.
//
//   WEFT_ASSIGN(std::string bytes, text_to_binary("tensorflow.GraphDef", "node { name: 'a' op: 'NoOp' }"));
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"
#include "wire/schema.h"

namespace weft_engine::wire {

// Takes all that protobuf's readers take. The bytes come out as protobuf writes them: fields by number, zeros of
// proto3 left out, entries of maps by key. InvalidArgument tells the place as line:column.
core::Result<std::string> text_to_binary(MessageDef message, std::string_view text);
core::Result<std::string> text_to_binary(std::string_view message, std::string_view text);

// The text that TensorFlow's Python writes into .pbtxt files: ASCII, 1.0 for a whole float, entries of maps by key
// and without zeros. Fields that the schema does not know stand behind the others under their numbers, as in C++.
// DataLoss if the bytes are no such message.
core::Result<std::string> binary_to_text(MessageDef message, std::string_view bytes);
core::Result<std::string> binary_to_text(std::string_view message, std::string_view bytes);

// protobuf's JSON mapping, indented by two: lowerCamelCase names, 64-bit numbers as strings, bytes in base64. What
// an Any of an unknown type holds is given as base64; unknown fields have no form in JSON and are left out.
core::Result<std::string> binary_to_json(MessageDef message, std::string_view bytes);
core::Result<std::string> binary_to_json(std::string_view message, std::string_view bytes);

// The schema of the built-in message, or InvalidArgument.
core::Result<MessageDef> find_message(std::string_view name);

}  // namespace weft_engine::wire

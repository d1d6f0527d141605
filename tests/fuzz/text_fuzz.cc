// Hostile messages in text and binary form. The first byte of an input says what the rest is, the second which message:
//   0  a text
//   1  bytes
//   2  a FileDescriptorSet; all of its messages then read a text and bytes
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/message_view.h"
#include "wire/text_format.h"

using namespace weft_engine::wire;  // NOLINT

namespace {

constexpr std::string_view kMessages[] = {"GraphDef",      "SavedModel",      "ConfigProto",    "ServerDef",        "AttrValue",
                                          "TensorProto",   "StructuredValue", "GraphDebugInfo", "SavedObjectGraph", "ApiDefs",
                                          "CollectionDef", "CheckpointState", "SequenceExample"};

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void check_bytes(MessageDef def, std::string_view bytes) {
  const auto text = binary_to_text(def, bytes), json = binary_to_json(def, bytes);
  require(text.ok() == json.ok());
  if (!text.ok()) return;
  // Text with fields that are not known does not read back; what does is the same message.
  if (const auto back = text_to_binary(def, *text); back.ok()) {
    const auto again = binary_to_text(def, *back);
    require(again.ok() && *again == *text);
  }
}

void check_text(MessageDef def, std::string_view text) {
  const auto bytes = text_to_binary(def, text);
  if (!bytes.ok()) return;
  const auto printed = binary_to_text(def, *bytes);
  if (!printed.ok()) return;  // strings that are no UTF-8 pass in text alone, as in protobuf
  const auto back = text_to_binary(def, *printed);
  require(back.ok() && *back == *bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const MessageDef def = Schema::builtin().find(std::string("tensorflow.").append(kMessages[data[1] % std::size(kMessages)]));
  require(bool(def));
  if (data[0] % 3 == 0) {
    check_text(def, rest);
  } else if (data[0] % 3 == 1) {
    check_bytes(def, rest);
  } else if (auto schema = Schema::parse(rest); schema.ok()) {
    for (int i = 0; i < int((*schema)->messages().size()) && i < 16; ++i) {
      check_text({schema->get(), i}, "a: 1 b { c: 'x' } d: [1, 2] e: NAME");
      check_bytes({schema->get(), i}, rest);
    }
  }
  return 0;
}

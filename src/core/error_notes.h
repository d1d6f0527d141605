// Notes (Status::payloads) on errors that a front end words in its own way, or that a caller has to tell from others. The message stays for people.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::core {

inline constexpr char kNoteNoGradient[] = "weft/no_gradient";              // the op that has no gradient
inline constexpr char kNoteGradientDisabled[] = "weft/gradient_disabled";  // the message, without the node
inline constexpr char kNoteGradientShape[] = "weft/gradient_shape";        // the message, without the node
inline constexpr char kNoteOutOfScope[] = "weft/out_of_scope";  // lines: tensor, type, shape, "inside" (of this function) or "elsewhere"
inline constexpr char kNoteNameTaken[] = "weft/name_taken";  // the function that another definition stands for

// The error with its own message as the note.
inline Status with_note(const Status& s, const char* key) { return s.with_payload(key, s.message()); }

// Null where it has none of that name.
inline const std::string* find_note(const Status& s, std::string_view key) {
  for (const auto& [name, value] : s.payloads()) {
    if (name == key) return &value;
  }
  return nullptr;
}

// The error as it came out of a node: named in the origin and, as TensorFlow does, at the end of the message.
inline Status at_node(const Status& s, const std::string& node) {
  if (s.ok()) return s;
  Status::Origin origin = s.origin();
  if (origin.node.empty()) origin.node = node;
  return s.with_suffix(cat("\n\t [[{{node ", node, "}}]]")).with_origin(std::move(origin));
}

}  // namespace weft_engine::core
